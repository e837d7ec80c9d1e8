/*
 * mpi-connect [accept|connect|both [ROUNDS]] - tasks that publish a port, and tasks that look it up
 * until it is there, and connect. "both" (the default): the even ranks accept, the odd ones connect.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void find(const char *service, char *port)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 1000 && MPI_Lookup_name(service, MPI_INFO_NULL, port); i++)
        usleep(20000);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void meet(int accepts, const char *service, MPI_Comm mine, MPI_Comm *other)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int rank;
    MPI_Comm_rank(mine, &rank);
    if (!accepts) {
        if (rank == 0)
            find(service, port);
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

/* What both then compute is wrong? */
static int met(int accepts, int round, MPI_Comm mine)
{
    MPI_Comm other, all;
    char service[64];
    int rank, size, sum;
    snprintf(service, sizeof(service), "tprun-mpi-connect-%d", round);
    meet(accepts, service, mine, &other);
    MPI_Intercomm_merge(other, !accepts, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    printf("%s %d of %d met: the sum is %s\n", accepts ? "acceptor" : "connector", rank, size,
           sum == size * (size - 1) / 2 ? "right" : "wrong");
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
    return sum != size * (size - 1) / 2;
}

int main(int argc, char *argv[])
{
    MPI_Comm mine;
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int accepts = argc > 1 && strcmp(argv[1], "both") ? !strcmp(argv[1], "accept") : rank % 2 == 0;
    MPI_Comm_split(MPI_COMM_WORLD, accepts, rank, &mine);
    for (int round = 0; round < (argc > 2 ? atoi(argv[2]) : 1); round++)
        wrong |= met(accepts, round, mine);
    MPI_Comm_free(&mine);
    MPI_Finalize();
    return wrong;
}
