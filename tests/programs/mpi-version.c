/* mpi-version - each task says its rank, and the first line of what its MPI library calls itself. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char *argv[])
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, size, len;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(text, &len);
    text[strcspn(text, "\n,")] = '\0';
    printf("%d of %d: %s\n", rank, size, text);
    MPI_Finalize();
    return 0;
}
