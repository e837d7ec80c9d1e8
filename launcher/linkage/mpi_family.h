/*
 * mpi_family - MPICH's family or Open MPI's: which of them a library is of whose name several MPIs
 * share, such as libmpi_abi.so.1.
 *
 * The names of the library's functions tell: those of MPICH and of all that is derived from it
 * begin with MPIR_, those of Open MPI with ompi_. Nothing is executed.
 */
#ifndef LAUNCHER_LINKAGE_MPI_FAMILY_H
#define LAUNCHER_LINKAGE_MPI_FAMILY_H

#include <stdbool.h>

#include "launcher/linkage/elf_file.h"

#define LIBRARY_MPI_ABI "libmpi_abi.so.1" /* of the MPI ABI, MPI 5.0 chapter 20 */

/* MPIs of two families never find each other. */
enum mpi_family { MPI_FAMILY_UNKNOWN, MPI_FAMILY_MPICH, MPI_FAMILY_OPEN_MPI, MPI_FAMILIES };

bool library_is_mpi_abi(const char *name);

/* The library at this path, as elf_file_read() has it. */
enum mpi_family mpi_family_of(const char *path, const struct elf_info *elf);

#endif
