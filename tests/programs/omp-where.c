/* omp-where - a line an OpenMP thread: its number, how many there are, and where it may run. */
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static void print_thread(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set))
        return;
    printf("%d/%d:", omp_get_thread_num(), omp_get_num_threads());
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            printf(" %d", cpu);
    printf("\n");
}

int main(void)
{
#pragma omp parallel
#pragma omp critical
    print_thread();
    return 0;
}
