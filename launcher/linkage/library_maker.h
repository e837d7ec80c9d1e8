/*
 * library_maker - whose MPI a library is that has a name which several MPIs share, such as
 * libmpi_abi.so.1.
 *
 * It is told by the names of functions that the library is linked by: MPICH and all that is derived
 * from it has functions that begin with MPIR_, Open MPI has ompi_. Nothing is executed.
 */
#ifndef LAUNCHER_LINKAGE_LIBRARY_MAKER_H
#define LAUNCHER_LINKAGE_LIBRARY_MAKER_H

#include <stdbool.h>

#include "launcher/linkage/elf_file.h"

#define LIBRARY_MPI_ABI "libmpi_abi.so.1" /* of the MPI ABI, MPI 5.0 chapter 20 */

enum library_maker { LIBRARY_MAKER_UNKNOWN, LIBRARY_MAKER_MPICH, LIBRARY_MAKER_OPEN_MPI };

bool library_is_mpi_abi(const char *name);

/* The library at this path, as elf_file_read() has it. */
enum library_maker library_maker_of(const char *path, const struct elf_info *elf);

#endif
