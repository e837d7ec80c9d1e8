/*
 * mpi-lookup NAME - looks for the port of a name, says whether there is one, and goes on to its end.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char *argv[])
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = MPI_Lookup_name(argv[argc - 1], MPI_INFO_NULL, port);
    puts(rc ? "no port" : port);
    rc = MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return rc != 0;
}
