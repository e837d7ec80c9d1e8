/*
 * shared_libraries - the libraries that a program needs, and where this machine's dynamic loader
 * would find them (ld.so(8)): RPATH, LD_LIBRARY_PATH, RUNPATH, the loader's cache, the default
 * directories.
 *
 * Nothing is executed, and what is read is bounded: SHARED_LIBRARIES_MAX libraries at most. What a
 * program opens itself, at run time, is not known. Not followed: glibc-hwcaps directories,
 * $PLATFORM, and $LIB where a directory is told by it.
 *
 * A program is closed when nothing of it can lead to another library, as one for PMIx that it opens
 * or that a program it starts is linked with. All of this holds then:
 *
 *     it needs no libraries but those of the C library and of compilers, and the usual loader
 *     it imports nothing that opens a library, starts a program or reads variables
 *     "PMIX" occurs nowhere in it
 *
 * What cannot be told is no: a static program, a large one. System calls of a program's own are not
 * looked for: the bytes of such an instruction occur by chance in others.
 */
#ifndef LAUNCHER_LINKAGE_SHARED_LIBRARIES_H
#define LAUNCHER_LINKAGE_SHARED_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "launcher/linkage/mpi_family.h"

#define SHARED_LIBRARIES_MAX 1024
#define SHARED_LIBRARIES_MAX_CLOSED (1u << 20) /* bytes of a program that may be closed */

enum shared_libraries_kind {
    SHARED_LIBRARIES_DYNAMIC,
    SHARED_LIBRARIES_STATIC, /* without libraries */
    SHARED_LIBRARIES_SCRIPT  /* text that `loader` reads */
};

struct library {
    char *name;  /* as it is asked for */
    char *path;  /* where it is; NULL: nowhere */
    char *fault; /* why what is there is of no use: "an ELF file whose ..."; or NULL */
    size_t by;   /* index of the library that needs it; SHARED_LIBRARIES_MAX: the program does */
    enum mpi_family family; /* of the library of the MPI ABI, see mpi_abi.h */
};

struct shared_libraries {
    enum shared_libraries_kind kind;
    char *path;
    char *loader;              /* the dynamic loader, or a script's interpreter; NULL: none */
    bool loader_absent;        /* there is no such file */
    bool foreign;              /* it is for another machine */
    bool closed;               /* nothing leads out of it */
    struct library *libraries; /* breadth first, as the loader goes */
    size_t count;
    bool cut; /* there are more */
};

struct shared_libraries_source { /* all borrowed */
    const char *path;            /* of the program: absolute, or relative to the directory */
    const char *directory;       /* where it is started: absolute */
    const char *library_path;    /* LD_LIBRARY_PATH; NULL: not set */
    const char *cache;           /* NULL: /etc/ld.so.cache */
    /* What the first library of a name that this holds for needs is the last that is read, and nothing
     * is of a closed program that needs the C library alone. NULL: all are read. */
    bool (*last)(const char *name);
    bool preloaded; /* the environment has other libraries loaded: LD_PRELOAD, LD_AUDIT */
    /* The library of the MPI ABI that stands before those of LD_LIBRARY_PATH; NULL:
     * none was chosen. */
    const char *mpi_abi;
};

/* NULL with a sentence that begins with the path when it cannot be read or is a damaged ELF file. A
 * file that is neither ELF nor "#!" is one that a shell would be given. */
struct shared_libraries *shared_libraries_read(const struct shared_libraries_source *source,
                                               struct error *err);
void shared_libraries_free(struct shared_libraries *linkage);

/* Libraries that are not there, or of no use. */
size_t shared_libraries_missing(const struct shared_libraries *linkage);
bool library_missing(const struct library *library);

#endif
