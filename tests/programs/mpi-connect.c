/*
 * mpi-connect [accept|connect] - tasks that publish a port, and tasks that look it up and connect.
 * Without an argument the even ranks accept and the odd ones connect.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static const char service[] = "tprun-mpi-connect";

static void meet(int accepts, MPI_Comm mine, MPI_Comm *other)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int rank;
    MPI_Comm_rank(mine, &rank);
    if (!accepts) {
        if (rank == 0)
            MPI_Lookup_name(service, MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, mine, other);
        return;
    }
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(service, MPI_INFO_NULL, port);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, mine, other);
    if (rank == 0) {
        MPI_Unpublish_name(service, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
}

int main(int argc, char *argv[])
{
    MPI_Comm mine, other, all;
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int accepts = argc > 1 ? !strcmp(argv[1], "accept") : rank % 2 == 0;
    MPI_Comm_split(MPI_COMM_WORLD, accepts, rank, &mine);
    meet(accepts, mine, &other);
    MPI_Intercomm_merge(other, !accepts, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    printf("%s %d of %d met: the sum is %s\n", accepts ? "acceptor" : "connector", rank, size,
           sum == size * (size - 1) / 2 ? "right" : "wrong");
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
    MPI_Comm_free(&mine);
    MPI_Finalize();
    return sum != size * (size - 1) / 2;
}
