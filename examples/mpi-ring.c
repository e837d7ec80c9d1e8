/*
 * mpi-ring - every task sends its rank to its right neighbour and says what came from the left.
 *
 *     mpicc.mpich -o mpi-ring mpi-ring.c
 *     tprun -n 8 ./mpi-ring
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char *argv[])
{
    MPI_Init(&argc, &argv);
    int rank, size, len, from;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &len);

    int left = (rank + size - 1) % size;
    int right = (rank + 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &from, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    printf("rank %d of %d on %s: %d is on my left%s\n", rank, size, host, from,
           from == left ? "" : ", which is WRONG");
    MPI_Finalize();
    return from != left;
}
