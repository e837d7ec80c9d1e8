/*
 * mpi_library - which MPI a program is linked with, and which PMI that will speak.
 *
 * What is known of libraries' names is one table in mpi_library.c. MPIs that open their PMI library
 * themselves (Open MPI), or have it built in (MPICH), are known by their own name.
 */
#ifndef LAUNCHER_LINKAGE_MPI_LIBRARY_H
#define LAUNCHER_LINKAGE_MPI_LIBRARY_H

#include "base/buf.h"
#include "launcher/linkage/mpi_family.h"
#include "launcher/linkage/shared_libraries.h"

struct mpi_library {
    const char *mpi; /* "MPICH"; NULL: none that is known */
    enum mpi_family family;
    const struct library *mpi_library;
    const char *how;                   /* "PMI-1", "Slurm's own PMI"; NULL: no PMI that is known */
    const struct library *pmi_library; /* NULL: it is built in, or opened at run time */
    unsigned speaks; /* set of enum spec_pmi, any of which will do; 0: none that tprun may know */
};

/* All is borrowed, names for ever and libraries from the linkage. */
struct mpi_library mpi_library_of(const struct shared_libraries *linkage);

/* By this name of a library an MPI is known. All that tells more of it is what it needs itself:
 * shared_libraries_read() need not go on. */
bool mpi_library_names_mpi(const char *name);

/* False for a use.mpi that only says that it is some MPI. */
bool mpi_library_is_known(const char *mpi);

/* Why these two programs cannot be parts of one, and what to write instead; caller frees. */
char *mpi_library_mixed(const char *mpich, const char *open_mpi);
/* Why one program cannot run on these two hosts; NULL: which they are is not known. Caller
 * frees. */
char *mpi_library_differs(const char *program, const char *mpich, const char *open_mpi);

/* Append what becomes of that where `offered` of what is `served` (sets of enum spec_pmi) is
 * offered to the tasks: "this tprun does not serve it" and the like; true when they will find each
 * other. Only where there is a use->how. */
bool mpi_library_say(const struct mpi_library *use, unsigned offered, unsigned served,
                     struct buf *out);

#endif
