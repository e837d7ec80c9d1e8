/*
 * mpi-stage STAGE RANK - an MPI program whose RANK stays at a stage, to be killed there.
 *   before    before MPI_Init, which the others wait in
 *   init      it is about to call MPI_Init, and goes on; everybody stays after it
 *   finalize  after MPI_Finalize; the others end
 *   leave     before MPI_Init it exits with 0
 * At its stage the rank says the stage's name.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *stage;
static int chosen;

static void stay(void)
{
    for (unsigned left = 600; left;)
        left = sleep(left);
    _exit(0);
}

static int is_at(const char *name)
{
    int here = chosen && !strcmp(stage, name);
    if (here) {
        puts(name);
        fflush(stdout);
    }
    return here;
}

int main(int argc, char *argv[])
{
    const char *rank = getenv("PMIX_RANK") ?: getenv("PMI_RANK");
    if (argc < 3 || !rank)
        return 2;
    stage = argv[1];
    chosen = atoi(rank) == atoi(argv[2]);
    if (is_at("before"))
        stay();
    if (is_at("leave"))
        return 0;
    is_at("init");
    MPI_Init(&argc, &argv);
    if (!strcmp(stage, "init"))
        stay();
    MPI_Finalize();
    if (is_at("finalize"))
        stay();
    return 0;
}
