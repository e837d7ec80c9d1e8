/* Tasks that did not start, by reason. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "launcher/agent/task_start.h"

void task_start_fail(struct task_start *start, const struct task *task, int status, char *text)
{
    start->stop = true;
    start_failures_add(&start->failures, task_rank(task), status, text);
}

/* Of one node: with several, the manager hears of all families. */
static void start_failures_check_mpis(struct task_start *start)
{
    const struct group *group = start->group;
    const struct spec_part *parts = group->launch->spec->parts;
    const char *programs[MPI_FAMILIES] = {NULL};
    for (uint32_t i = 0; i < group->ntasks; i++) {
        uint32_t app = group->tasks[i].what->app;
        programs[start->parts[app].family] = parts[app].argv[0];
    }
    if (!programs[MPI_FAMILY_MPICH] || !programs[MPI_FAMILY_OPEN_MPI])
        return;
    for (uint32_t i = 0; i < group->ntasks; i++)
        task_start_fail(
            start, &group->tasks[i], W_EXITCODE(1, 0),
            mpi_library_mixed(programs[MPI_FAMILY_MPICH], programs[MPI_FAMILY_OPEN_MPI]));
}

void start_failures_check(struct task_start *start)
{
    const struct group *group = start->group;
    for (uint32_t i = 0; i < group->ntasks; i++) {
        const struct part_setup *part = &start->parts[group->tasks[i].what->app];
        if (part->refused)
            task_start_fail(start, &group->tasks[i], W_EXITCODE(part->refused, 0),
                            mem_copy_text(part->refusal));
    }
    if (!start->failures.count && group->launch->nnodes == 1 && group->launch->spec->nparts > 1)
        start_failures_check_mpis(start);
}
