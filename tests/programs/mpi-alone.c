/* Wants a launcher that it was not started by: prints the size of the universe, and publishes a name
 * that it finds again. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char *argv[])
{
    char port[MPI_MAX_PORT_NAME] = "";
    int *universe, found, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &found);
    MPI_Publish_name("alone", MPI_INFO_NULL, "here");
    MPI_Lookup_name("alone", MPI_INFO_NULL, port);
    printf("%d of mine, %s, the name is %s\n", size, found ? "a universe" : "no universe", port);
    MPI_Finalize();
    return 0;
}
