/*
 * mpi-fail HOW RANK [CODE] - one rank of an MPI program fails while the others wait for it.
 *   abort  MPI_Abort with CODE (7)    segv  a segmentation fault
 *   exit   exit(9) without Finalize   quit  exit(0) without Finalize
 *   kill   SIGKILL to itself          wait  says so, and waits to be ended
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fail(const char *how, int code)
{
    if (!strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, code);
    signal(SIGSEGV, SIG_DFL);
    if (!strcmp(how, "segv"))
        raise(SIGSEGV);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "wait")) {
        puts("waiting");
        fflush(stdout);
        for (;;)
            pause();
    }
    _Exit(strcmp(how, "exit") == 0 ? 9 : 0);
}

int main(int argc, char *argv[])
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == atoi(argv[2]))
        fail(argv[1], argc > 3 ? atoi(argv[3]) : 7);
    MPI_Barrier(MPI_COMM_WORLD); /* never completes */
    MPI_Finalize();
    return 0;
}
