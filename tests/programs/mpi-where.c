/* A line for each OpenMP thread of each rank: rank, host, thread/threads, and its processors, as
 * `where` writes them. */
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static void cpus_text(char *text, size_t room)
{
    cpu_set_t set;
    size_t len = 0;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    for (int i = 0; i < CPU_SETSIZE && len < room; i++) {
        int first = i;
        if (!CPU_ISSET(i, &set))
            continue;
        while (i + 1 < CPU_SETSIZE && CPU_ISSET(i + 1, &set))
            i++;
        len += (size_t)snprintf(text + len, room - len, first == i ? "%s%d" : "%s%d-%d",
                                len ? "," : "", first, i);
    }
}

int main(int argc, char *argv[])
{
    int level, rank, len;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(host, &len);
#pragma omp parallel
    {
        char cpus[4096] = "?";
        cpus_text(cpus, sizeof(cpus));
#pragma omp critical
        printf("%d %s %d/%d %s\n", rank, host, omp_get_thread_num(), omp_get_num_threads(), cpus);
    }
    MPI_Finalize();
    return 0;
}
