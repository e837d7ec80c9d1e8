/* What PMI servers, openpmix and the fence ask of a group and its tasks. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "launcher/agent/local_group_private.h"

/* ---- of all of them ---- */

static void group_fence_enter_round(void *owner, uint64_t id, uint32_t nnodes, const void *bytes,
                                    size_t len)
{
    struct local_group *group = owner;
    group_fence_enter(group->fence, id, nnodes, bytes, len);
}

static void group_on_abort(void *owner, uint32_t rank, int status, const char *message)
{
    struct local_group *group = owner;
    exit_report_ended_rank(group->report, group->launch->first_rank + rank, "abort",
                           W_EXITCODE(status & 0xff, 0), message);
}

static void report_stuck(struct local_group *group, const char *what, uint32_t missing,
                         uint32_t waiting)
{
    uint32_t first = group->launch->first_rank;
    if (group_is_ending(group))
        return;
    char *text = mem_format("ended without entering the %s that rank %u waits in: every rank has "
                            "to call MPI_Init, or none",
                            what, first + waiting);
    exit_report_ended_rank(group->report, first + missing, "pmi", W_EXITCODE(1, 0), text);
    free(text);
}

static struct task *task_by_rank(struct local_group *group, uint32_t rank)
{
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (group->tasks[i].what->rank == rank)
            return &group->tasks[i];
    return NULL;
}

/* ---- the fence ---- */

_Static_assert(PMIX_SERVER_ROUND > PMI_GROUP_HASH, "rounds of PMI and of PMIx are told apart");

/* What no single task is to blame for. */
static void group_fence_failed(void *owner, const struct error *err)
{
    struct local_group *group = owner;
    if (!group_is_ending(group))
        exit_report_ended(group->report, NULL, "pmi", W_EXITCODE(1, 0), error_text(err));
}

static void group_fence_done(void *owner, uint64_t id, const void *bytes, size_t len)
{
    struct local_group *group = owner;
    struct error err = ERROR_INIT;
    int rc = id & PMIX_SERVER_ROUND ? pmix_job_exchanged(group->pmix, id, bytes, len, &err)
             : group->pmi           ? pmi_sockets_exchanged(group->pmi, id, bytes, len, &err)
                                    : 0;
    if (rc < 0)
        group_fence_failed(group, &err);
    error_clear(&err);
}

const struct group_fence_ops group_fence_ops = {group_fence_done, group_fence_failed};

/* ---- PMI-1 and PMI-2 ---- */

static void group_pmi_broken(void *owner, uint32_t rank, const struct error *err)
{
    struct local_group *group = owner;
    exit_report_ended_rank(group->report, group->launch->first_rank + rank, "pmi", W_EXITCODE(1, 0),
                           error_text(err));
}

static void group_pmi_limited(void *owner, uint32_t rank, const char *what)
{
    struct local_group *group = owner;
    uplink_note(group->services->uplink, "rank %u on %s: PMI: %s", group->launch->first_rank + rank,
                group->services->host, what);
}

static void group_pmi_stuck(void *owner, uint32_t missing, uint32_t waiting)
{
    report_stuck(owner, "PMI barrier", missing, waiting);
}

static void group_pmi_missing(void *owner, uint32_t rank, uint64_t from, uint16_t flags)
{
    struct local_group *group = owner;
    group_fence_report_missing(group->fence, rank, from, flags);
}

static void group_pmi_name(void *owner, struct pmi_request *request, enum pmi_name name,
                           const char *service, const char *port)
{
    struct local_group *group = owner;
    spawn_and_names_on_name(group->requests, request, name, service, port);
}

static void group_pmi_spawn(void *owner, struct pmi_request *request,
                            const struct spawn_request *spawn)
{
    struct local_group *group = owner;
    spawn_and_names_on_spawn(group->requests, request, spawn);
}

static void group_pmi_value(void *owner, struct pmi_request *request, const char *key)
{
    struct local_group *group = owner;
    spawn_and_names_on_value(group->requests, request, key);
}

const struct pmi_sockets_ops group_pmi_ops = {.exchange = group_fence_enter_round,
                                              .abort = group_on_abort,
                                              .broken = group_pmi_broken,
                                              .limited = group_pmi_limited,
                                              .stuck = group_pmi_stuck,
                                              .missing = group_pmi_missing,
                                              .name = group_pmi_name,
                                              .spawn = group_pmi_spawn,
                                              .value = group_pmi_value};

/* ---- PMIx ---- */

static void group_pmix_settled(void *owner, uint32_t local_rank)
{
    struct local_group *group = owner;
    for (uint32_t i = 0; i < group->ntasks; i++) {
        if (group->tasks[i].what->local_rank == local_rank) {
            task_settled(&group->tasks[i]);
            return;
        }
    }
}

static void group_pmix_log(void *owner, uint32_t rank, bool error, const char *text)
{
    struct task *task = task_by_rank(owner, rank);
    if (task)
        task_output_say(task->output, error, text);
}

static void group_pmix_stuck(void *owner, uint32_t missing, uint32_t waiting)
{
    report_stuck(owner, "PMIx fence", missing, waiting);
}

static void group_pmix_spawn(void *owner, uint32_t rank, uint64_t token,
                             const struct spawn_request *spawn)
{
    struct local_group *group = owner;
    spawn_and_names_on_pmix_spawn(group->requests, rank, token, spawn);
}

static bool group_pmix_input(void *owner, uint32_t rank, const void *bytes, size_t len, bool end)
{
    struct local_group *group = owner;
    struct task *task = task_by_rank(group, rank);
    if (!task || group->launch->spec->input != SPEC_INPUT_TOOLS || !task_stdin_is_open(task->input))
        return false;
    task_stdin_write(task->input, bytes, len, end);
    return true;
}

static void group_pmix_control(void *owner, const struct pmix_control *control)
{
    group_control(owner, control);
}

static void group_pmix_failed(void *owner, const struct error *err)
{
    local_group_pmix_failed(owner, err);
}

const struct group_pmix_job_ops group_pmix_ops = {.abort = group_on_abort,
                                                  .settled = group_pmix_settled,
                                                  .log = group_pmix_log,
                                                  .stuck = group_pmix_stuck,
                                                  .spawn = group_pmix_spawn,
                                                  .input = group_pmix_input,
                                                  .control = group_pmix_control,
                                                  .failed = group_pmix_failed};
