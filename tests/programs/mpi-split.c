/* Who is on this node? Each rank says who MPI_COMM_TYPE_SHARED puts with it, having read their ranks
 * in the memory that they share. */
#include <mpi.h>
#include <stdio.h>

static void print_peers(int rank, MPI_Comm node)
{
    char line[4096], host[MPI_MAX_PROCESSOR_NAME];
    int size, unit, *mine, *peer, len;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Comm_size(node, &size);
    MPI_Get_processor_name(host, &len);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_fence(0, win);
    *mine = rank;
    MPI_Win_fence(0, win);
    len = snprintf(line, sizeof(line), "rank %d on %s:", rank, host);
    for (int i = 0; i < size && len < (int)sizeof(line); i++) {
        MPI_Win_shared_query(win, i, &bytes, &unit, &peer);
        len += snprintf(line + len, sizeof(line) - (size_t)len, " %d", *peer);
    }
    puts(line);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char *argv[])
{
    int rank;
    MPI_Comm node;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    print_peers(rank, node);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
