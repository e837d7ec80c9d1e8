/* Which part of an MPMD program is this? */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char *argv[])
{
    int *number, found;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
    printf("%d\n", found ? *number : -1);
    MPI_Finalize();
    return 0;
}
