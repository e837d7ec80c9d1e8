/*
 * mpi-ring - every task sends its rank to its right neighbour and says what came from the left.
 *
 *     mpicc.mpich -o mpi-ring mpi-ring.c
 *     tprun -n 8 ./mpi-ring
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* MPICH 4.0 over UCX and TCP may hang in MPI_Finalize: a task whose peer has left already connects
 * to it again in order to take leave, and the peer, waiting for the launcher's last barrier, does
 * not answer (mended in MPICH 4.2, pull request 6596). So let all be connected, and none be
 * listening while the first leave. */
static void settle(int size)
{
    int *words = calloc((size_t)size * 2, sizeof(*words));
    for (int round = 0; words && round < 2; round++)
        MPI_Alltoall(words, 1, MPI_INT, words + size, 1, MPI_INT, MPI_COMM_WORLD);
    free(words);
    usleep(300000);
}

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
    settle(size);
    MPI_Finalize();
    return from != left;
}
