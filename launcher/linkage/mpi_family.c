/* Whose library of the MPI ABI a file is, by the names that it is linked by. */
#include "launcher/linkage/mpi_family.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"

#define MAX_NAMES (8u << 20) /* bytes; MPICH 5 has 40 KiB of them */

bool library_is_mpi_abi(const char *name)
{
    return strcmp(name, LIBRARY_MPI_ABI) == 0;
}

enum mpi_family mpi_family_of(const char *path, const struct elf_info *elf)
{
    static const char mpich[] = "\0MPIR_",
                      open_mpi[] = "\0ompi_"; /* each name has a NUL before it */
    enum mpi_family family = MPI_FAMILY_UNKNOWN;
    struct buf names = BUF_INIT;
    size_t size = (size_t)elf->names.size;
    if (!size || elf->names.size > MAX_NAMES)
        return family;
    int fd = elf_file_open(path);
    ssize_t n = fd < 0 ? -1 : pread(fd, buf_reserve(&names, size), size, (off_t)elf->names.offset);
    if (fd >= 0)
        close(fd);
    buf_added(&names, n > 0 ? (size_t)n : 0);
    if (memmem(buf_bytes(&names), names.len, open_mpi, sizeof(open_mpi) - 1))
        family = MPI_FAMILY_OPEN_MPI;
    else if (memmem(buf_bytes(&names), names.len, mpich, sizeof(mpich) - 1))
        family = MPI_FAMILY_MPICH;
    buf_free(&names);
    return family;
}
