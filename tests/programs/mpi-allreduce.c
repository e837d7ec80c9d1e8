/* The sum of all ranks, many times over and with messages of many sizes; fails if one is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST = 65536 };

static int wrong(int size, int count)
{
    static long mine[MOST], sum[MOST];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < count; i++)
        mine[i] = rank + i;
    MPI_Allreduce(mine, sum, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        if (sum[i] != (long)size * (size - 1) / 2 + (long)size * i)
            return 1;
    return 0;
}

/* See examples/mpi-ring.c. */
static void settle(void)
{
    static long in[MOST], out[MOST];
    for (int i = 0; i < 2; i++)
        MPI_Alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD);
    usleep(300000);
}

int main(int argc, char *argv[])
{
    MPI_Init(&argc, &argv);
    int rank, size, bad = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int count = 1; count <= MOST; count *= 16)
        bad += wrong(size, count);
    if (rank == 0)
        printf("sums over %d tasks are %s\n", size, bad ? "wrong" : "right");
    settle();
    MPI_Finalize();
    return bad != 0;
}
