/*
 * linkage - the libraries that a program needs, and where this machine's dynamic loader would find
 * them (ld.so(8)): RPATH, LD_LIBRARY_PATH, RUNPATH, the loader's cache, the default directories.
 *
 * Nothing is executed, and what is read is bounded: LINKAGE_MAX libraries at most. What a program
 * opens itself, at run time, is not known. Not followed: glibc-hwcaps directories, $PLATFORM, and
 * $LIB where a directory is told by it.
 */
#ifndef LAUNCHER_PROGRAM_LINKAGE_H
#define LAUNCHER_PROGRAM_LINKAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "launcher/program/library_maker.h"

#define LINKAGE_MAX 1024

enum linkage_kind {
    LINKAGE_DYNAMIC,
    LINKAGE_STATIC, /* without libraries */
    LINKAGE_SCRIPT  /* text that `loader` reads */
};

struct library {
    char *name;  /* as it is asked for */
    char *path;  /* where it is; NULL: nowhere */
    char *fault; /* why what is there is of no use: "an ELF file whose ..."; or NULL */
    size_t by;   /* index of the library that needs it; LINKAGE_MAX: the program does */
    enum library_maker maker; /* of the library of the MPI ABI, see mpi_abi.h */
};

struct linkage {
    enum linkage_kind kind;
    char *path;
    char *loader;              /* the dynamic loader, or a script's interpreter; NULL: none */
    bool loader_absent;        /* there is no such file */
    bool foreign;              /* it is for another machine */
    bool closed;               /* see closed.h */
    struct library *libraries; /* breadth first, as the loader goes */
    size_t count;
    bool cut; /* there are more */
};

struct linkage_source {       /* all borrowed */
    const char *path;         /* of the program: absolute, or relative to the directory */
    const char *directory;    /* where it is started: absolute */
    const char *library_path; /* LD_LIBRARY_PATH; NULL: not set */
    const char *cache;        /* NULL: /etc/ld.so.cache */
    /* What the first library of a name that this holds for needs is the last that is read. NULL: it
     * holds for none. */
    bool (*last)(const char *name);
    bool preloaded; /* the environment has other libraries loaded: LD_PRELOAD, LD_AUDIT */
    /* The library of the MPI ABI that stands before those of LD_LIBRARY_PATH; NULL:
     * none was chosen. */
    const char *mpi_abi;
};

/* NULL with a sentence that begins with the path when it cannot be read or is a damaged ELF file. A
 * file that is neither ELF nor "#!" is one that a shell would be given. */
struct linkage *linkage_read(const struct linkage_source *source, struct error *err);
void linkage_free(struct linkage *linkage);

/* Libraries that are not there, or of no use. */
size_t linkage_missing(const struct linkage *linkage);
bool library_missing(const struct library *library);

#endif
