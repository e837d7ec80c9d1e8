/* What the host of openpmix asks of the agent. */
#include <sys/wait.h>

#include "launcher/agent/pmix_room.h"

static void host_wake(void *arg)
{
    struct pmix_room *room = arg;
    ev_async_send(room->agent->loop, &room->wake);
}

/* NULL: it has ended here. */
static struct group *group_of(const struct pmix_job *job)
{
    return ((const struct pmix_place *)pmix_job_data(job))->group;
}

static void host_exchange(void *arg, struct pmix_job *job, uint64_t id, uint32_t nnodes,
                          const void *bytes, size_t len)
{
    struct group *group = group_of(job);
    (void)arg;
    if (group)
        rendezvous_exchange(group, nnodes ? id | EXCHANGE_PART | EXCHANGE_AGAIN : id, nnodes, bytes,
                            len);
}

static void host_post(void *arg, struct pmix_job *job, uint32_t node, const void *bytes, size_t len)
{
    const struct pmix_place *place = pmix_job_data(job);
    (void)arg;
    if (node >= place->nnodes)
        return;
    struct frame frame = {.type = FRAME_POST,
                          .node = place->tree_node[node],
                          .rank = place->node,
                          .group = place->number,
                          .bytes = bytes,
                          .len = len};
    pmix_take(place->agent, &frame);
}

static void host_ask(void *arg, const void *bytes, size_t len)
{
    struct agent *agent = ((struct pmix_room *)arg)->agent;
    struct frame frame = {.type = FRAME_HUB, .node = agent->node, .bytes = bytes, .len = len};
    report_send(agent, &frame);
}

static int host_make_directory(void *arg)
{
    return scratch_make(((struct pmix_room *)arg)->agent->config->scratch);
}

static void host_abort(void *arg, struct pmix_job *job, uint32_t rank, int status,
                       const char *message)
{
    struct group *group = group_of(job);
    (void)arg;
    if (group)
        report_ended_rank(group, group->launch->first_rank + rank, "abort",
                          W_EXITCODE(status & 0xff, 0), message);
}

static struct task *task_of(const struct pmix_job *job, uint32_t local_rank)
{
    struct group *group = group_of(job);
    for (uint32_t i = 0; group && i < group->ntasks; i++)
        if (group->tasks[i].what->local_rank == local_rank)
            return &group->tasks[i];
    return NULL;
}

static void host_settled(void *arg, struct pmix_job *job, uint32_t local_rank)
{
    struct task *task = task_of(job, local_rank);
    (void)arg;
    if (task)
        ending_settled(task);
}

static void host_log(void *arg, struct pmix_job *job, uint32_t rank, bool error, const char *text)
{
    struct group *group = group_of(job);
    (void)arg;
    for (uint32_t i = 0; group && i < group->ntasks; i++)
        if (group->tasks[i].what->rank == rank)
            streams_say(&group->tasks[i], error, text);
}

static void host_stuck(void *arg, struct pmix_job *job, uint32_t missing, uint32_t waiting)
{
    struct group *group = group_of(job);
    (void)arg;
    if (group)
        rendezvous_stuck(group, "PMIx fence", missing, waiting);
}

static void host_spawn(void *arg, struct pmix_job *job, uint32_t rank, uint64_t token,
                       const struct pmi_spawn *spawn)
{
    struct group *group = group_of(job);
    (void)arg;
    if (group)
        asking_spawn_pmix(group, rank, token, spawn);
    else
        pmix_job_spawned(job, token, SPAWN_FAILED, NULL);
}

static bool host_input(void *arg, struct pmix_job *job, uint32_t rank, const void *bytes,
                       size_t len, bool end)
{
    struct group *group = group_of(job);
    (void)arg;
    for (uint32_t i = 0; group && i < group->ntasks; i++)
        if (group->tasks[i].what->rank == rank)
            return streams_push(&group->tasks[i], bytes, len, end);
    return false;
}

static bool host_input_lags(void *arg)
{
    return streams_lag(((struct pmix_room *)arg)->agent);
}

static void host_tool_came(void *arg, uint32_t number)
{
    struct pmix_room *room = arg;
    if (room->tools)
        tools_came(room->tools, number);
}

static void host_control(void *arg, struct pmix_job *job, const struct pmix_control *control)
{
    struct group *group = group_of(job);
    (void)arg;
    if (group)
        signals_control(group, control);
}

const struct pmix_host_ops pmix_ops = {
    .wake = host_wake,
    .exchange = host_exchange,
    .post = host_post,
    .ask = host_ask,
    .make_directory = host_make_directory,
    .abort = host_abort,
    .settled = host_settled,
    .log = host_log,
    .stuck = host_stuck,
    .spawn = host_spawn,
    .input = host_input,
    .input_lags = host_input_lags,
    .tool_came = host_tool_came,
    .control = host_control,
};
