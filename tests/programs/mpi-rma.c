/* One-sided: every task puts its rank into everybody's memory, and they count on rank 0's. */
#include <mpi.h>
#include <stdio.h>

static int puts_are_wrong(int rank, int size)
{
    long *memory, mine = 1000 + rank;
    int wrong = 0;
    MPI_Win win;
    MPI_Win_allocate((MPI_Aint)sizeof(long) * size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    MPI_Win_fence(0, win);
    for (int to = 0; to < size; to++)
        MPI_Put(&mine, 1, MPI_LONG, to, rank, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    for (int from = 0; from < size; from++)
        wrong += memory[from] != 1000 + from;
    MPI_Win_free(&win);
    return wrong;
}

static int count_is_wrong(int size)
{
    enum { EACH = 10 };
    long *memory, one = 1, before = 0, sum = 0;
    MPI_Win win;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < EACH; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&sum, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
    return sum != (long)EACH * size;
}

int main(int argc, char *argv[])
{
    int rank, size, wrong, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    wrong = puts_are_wrong(rank, size) + count_is_wrong(size);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("puts of %d tasks are %s\n", size, all ? "wrong" : "right");
    MPI_Finalize();
    return all != 0;
}
