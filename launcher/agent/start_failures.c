/* Tasks that did not start, by reason. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "launcher/agent/task_start.h"

void start_failures_add(struct task_start *start, const struct task *task, int status, char *text)
{
    uint32_t rank = task_rank(task);
    start->stop = true;
    for (size_t i = 0; i < start->nfailures; i++) {
        if (strcmp(start->failures[i].text, text) == 0) {
            idset_add(start->failures[i].ranks, rank);
            free(text);
            return;
        }
    }
    start->failures = mem_resize(start->failures, start->nfailures + 1, sizeof(*start->failures));
    start->failures[start->nfailures] = (struct task_start_failure){text, status, idset_new()};
    idset_add(start->failures[start->nfailures++].ranks, rank);
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
        start_failures_add(
            start, &group->tasks[i], W_EXITCODE(1, 0),
            mpi_library_mixed(programs[MPI_FAMILY_MPICH], programs[MPI_FAMILY_OPEN_MPI]));
}

void start_failures_check(struct task_start *start)
{
    const struct group *group = start->group;
    for (uint32_t i = 0; i < group->ntasks; i++) {
        const struct part_setup *part = &start->parts[group->tasks[i].what->app];
        if (part->refused)
            start_failures_add(start, &group->tasks[i], W_EXITCODE(part->refused, 0),
                               mem_copy_text(part->refusal));
    }
    if (!start->nfailures && group->launch->nnodes == 1 && group->launch->spec->nparts > 1)
        start_failures_check_mpis(start);
}

json_t *start_failures_take(struct task_start *start)
{
    json_t *failed = start->nfailures ? json_array() : NULL;
    for (size_t i = 0; i < start->nfailures; i++) {
        struct task_start_failure *failure = &start->failures[i];
        char *ranks = idset_encode(failure->ranks);
        json_array_append_new(
            failed, json_pack("[i, o, s]", failure->status, frame_text(failure->text), ranks));
        exit_report_add(start->group, failure->status, false, failure->ranks);
        idset_free(failure->ranks);
        free(failure->text);
        free(ranks);
    }
    free(start->failures);
    start->failures = NULL;
    start->nfailures = 0;
    return failed;
}

json_t *start_failures_report(struct task_start *start)
{
    struct group *group = start->group;
    for (size_t i = 0; i < start->nfailures && !group->launch->spawned; i++)
        exit_report_ended(group, start->failures[i].ranks, "start", start->failures[i].status,
                          start->failures[i].text);
    json_t *failed = start_failures_take(start);
    if (group->launch->spawned)
        return failed;
    json_decref(failed);
    return NULL;
}
