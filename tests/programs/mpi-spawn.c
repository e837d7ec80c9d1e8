/* mpi-spawn N - spawns N tasks of itself; parents and children add up their ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int sum_is_right(MPI_Comm other, int high)
{
    int rank, size, sum;
    MPI_Comm all;
    MPI_Intercomm_merge(other, high, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    return sum == size * (size - 1) / 2;
}

int main(int argc, char *argv[])
{
    MPI_Comm other;
    int rank, size, others, right;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&other);
    int child = other != MPI_COMM_NULL;
    if (!child)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, argc > 1 ? atoi(argv[1]) : 1, MPI_INFO_NULL, 0,
                       MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    MPI_Comm_remote_size(other, &others);
    right = sum_is_right(other, child);
    printf("%s %d of %d: %d on the other side, the sum is %s\n", child ? "child" : "parent", rank,
           size, others, right ? "right" : "wrong");
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return !right;
}
