/*
 * library_search - the places where a dynamic loader looks for one library, in its order. Private
 * to linkage.
 */
#ifndef LAUNCHER_LINKAGE_LIBRARY_SEARCH_H
#define LAUNCHER_LINKAGE_LIBRARY_SEARCH_H

#include "launcher/linkage/elf_file.h"
#include "launcher/linkage/loader_cache.h"

/* A file that has been loaded, and may say where what it needs is. */
struct loaded {
    struct elf_info elf;
    char *origin;               /* its directory */
    const struct loaded *asker; /* who needed it; NULL: it is the program */
};

struct library_search {
    const struct loaded *program;
    const char *directory;    /* of the process: what is relative is relative to it */
    const char *library_path; /* LD_LIBRARY_PATH, or NULL */
    const char *mpi_abi;      /* the library of the MPI ABI that stands before it, or NULL */
    char *loader_directory;   /* real place of the loader: trusted; NULL: not known */
    struct loader_cache cache;
};

/* What was found: a path, and the file as it says it is. */
struct library_found {
    char *path;  /* NULL: nothing */
    char *fault; /* the file there is damaged: a part of a sentence; NULL: it is good */
    struct elf_info elf;
};

/* A library of the wrong class or machine is passed by, as the loader does. */
void library_search(const struct library_search *search, const struct loaded *asker,
                    const char *name, struct library_found *found);

#endif
