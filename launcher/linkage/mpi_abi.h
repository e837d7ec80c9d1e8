/*
 * mpi_abi - the libraries of the MPI ABI (MPI 5.0, chapter 20) that this machine has, and the one
 * that tasks load.
 *
 * A program that was compiled for this ABI needs libmpi_abi.so.1, and every MPI has one. --mpi says
 * whose the tasks of a program load:
 *
 *     NAME  mpich, openmpi, ...: one that is installed here. It is looked for in the directories of
 *           LD_LIBRARY_PATH, in lib and lib64 beside those of PATH, in those where the dynamic
 *           loader finds libraries by itself, and in some where distributions put MPIs. The first
 *           one that is found counts.
 *     PATH  a directory that holds libmpi_abi.so.1, or whose lib or lib64 does; or the library
 *
 * Each node looks for it by itself. The library has the name libmpi_abi.so.1 in itself (DT_SONAME),
 * whatever its file is called: Debian has libmpi_abi_mpich.so.1.0.0 and libmpi_abi_openmpi.so.1.0.0
 * side by side.
 *
 * LD_LIBRARY_PATH is what makes tasks load it. It is looked through before the RUNPATH of a program
 * and before the loader's own directories, but after an RPATH: programs with one that leads to
 * another libmpi_abi.so.1 are refused. Unlike LD_PRELOAD it loads nothing into programs that need
 * no MPI, such as a script's shell.
 */
#ifndef LAUNCHER_LINKAGE_MPI_ABI_H
#define LAUNCHER_LINKAGE_MPI_ABI_H

#include "launcher/linkage/shared_libraries.h"

struct mpi_abi {
    char *path;
    const char *mpi; /* "MPICH", as in mpi_library.h */
    char *word;      /* "mpich"; NULL: an unknown MPI's, or one before it has that word */
};

struct mpi_abi_list {
    struct mpi_abi *list;
    size_t count;
};

/* What is installed here, in the order in which it is looked for. `environment` is the tasks'. */
void mpi_abi_list_read(struct mpi_abi_list *list, char *const *environment);
/* Adds the library at this path. One that is listed already is left out, and so is a file that is
 * not such a library. */
void mpi_abi_list_add(struct mpi_abi_list *list, const char *path);
void mpi_abi_list_clear(struct mpi_abi_list *list);

/* Both paths lead to one file. */
bool mpi_abi_is_same(const char *path, const char *other);

/* The file that a choice means on this machine; caller frees. NULL with a sentence. */
char *mpi_abi_find(const char *choice, char *const *environment, struct error *err);

/* A program of this linkage is of the MPI ABI. One that is not runs without a --mpi of
 * TPRUN_OPTIONS (spec.mpi_is_default) that is not there or not meant for it. */
bool mpi_abi_is_for(const struct shared_libraries *linkage);

/* Whether a program, whose linkage was read with source.mpi_abi as `path`, would load it, or may
 * start one that does. -1 with a sentence: it is linked with another MPI, statically, or cannot
 * start programs (shared_libraries.h), or an RPATH leads elsewhere. Where it is `lenient`, as one
 * of several programs, it need not have an MPI. */
int mpi_abi_accepts(const struct shared_libraries *linkage, const char *path, bool lenient,
                    struct error *err);

/* LD_LIBRARY_PATH for tasks that load the library at `path`: `before` is what it was, or NULL.
 * `directory` is one that tprun may put a link into, and is made where it is not there. Caller
 * frees; NULL with a sentence, also where LD_LIBRARY_PATH cannot hold a path (":" and ";" cut
 * it). */
char *mpi_abi_library_path(const char *path, const char *directory, const char *before,
                           struct error *err);

#endif
