/* The host of openpmix on this node. It is made for the first group whose programs may speak PMIx. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "launcher/agent/pmix_host_private.h"
#include "launcher/agent/topology_file.h"

#define PMIX_PATIENCE 2.0 /* s for openpmix to end, after which it is left as it is */

/* ---- its turns ---- */

void pmix_set_deadline(struct pmix_room *room)
{
    double rest = pmix_server_deadline(room->host);
    ev_timer_stop(room->agent->loop, &room->deadline);
    if (rest < 0)
        return;
    ev_timer_set(&room->deadline, rest, 0);
    ev_timer_start(room->agent->loop, &room->deadline);
}

void pmix_run(struct pmix_room *room)
{
    if (!room->host)
        return;
    pmix_server_run(room->host);
    pmix_set_deadline(room);
}

static void on_wake(struct ev_loop *loop, ev_async *watcher, int events)
{
    (void)loop;
    (void)events;
    pmix_run(watcher->data);
}

static void pmix_host_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    pmix_run(timer->data);
}

/* ---- what the service tells it ---- */

void pmix_broken(struct group *group, const struct error *err)
{
    exit_report_ended(group->report, NULL, "pmi", W_EXITCODE(1, 0), error_text(err));
}

/* Nobody asks it before there is a host, nor after. */
void pmix_told(struct agent *agent, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (frame->node != uplink_node(agent->uplink)) {
        downlink_send_node(agent->downlink, frame->node, frame);
        return;
    }
    if (tasks_told(agent, frame))
        return;
    if (agent->pmix && agent->pmix->host &&
        pmix_server_told(agent->pmix->host, frame->bytes, frame->len, &err) < 0 && agent->groups)
        pmix_broken(agent->groups, &err);
    if (agent->pmix && agent->pmix->host)
        pmix_set_deadline(agent->pmix);
    error_clear(&err);
}

/* ---- life ---- */

static void pmix_room_free(struct pmix_room *room)
{
    struct agent *agent = room->agent;
    ev_ref(agent->loop);
    ev_async_stop(agent->loop, &room->wake);
    ev_timer_stop(agent->loop, &room->deadline);
    topo_free_machine(room->machine);
    free(room);
    agent->pmix = NULL;
}

/* The machine's topology has been discovered, but for a few ways to get here. */
static void pmix_room_begin(struct agent *agent, const char *directory)
{
    struct pmix_room *room = agent->pmix = mem_alloc(sizeof(*room));
    room->agent = agent;
    room->machine = agent->machine ? agent->machine : topo_load_machine(NULL);
    agent->machine = NULL;
    ev_async_init(&room->wake, on_wake);
    room->wake.data = room;
    ev_async_start(agent->loop, &room->wake);
    ev_unref(agent->loop);
    ev_timer_init(&room->deadline, pmix_host_on_deadline, 0, 0);
    room->deadline.data = room;
    room->config = (struct pmix_server_config){.program = strrchr(directory, '/') + 1,
                                               .hostname = agent->host,
                                               .node = uplink_node(agent->uplink),
                                               .tmpdir = directory,
                                               .topology = room->machine,
                                               .quiet = !agent->boot.verbose};
    topology_file_settle(agent);
    room->start = pmix_server_begin(&room->config, &pmix_ops, room);
}

void pmix_ahead(struct agent *agent)
{
    const char *directory = scratch_directory_name(agent->config->scratch, NULL);
    if (directory && !agent->pmix)
        pmix_room_begin(agent, directory);
}

/* The host is there, or it cannot be. */
int pmix_finish(struct group *group, struct error *err)
{
    struct agent *agent = group->agent;
    const char *directory = scratch_directory_name(agent->config->scratch, err);
    if (!directory)
        return -1;
    if (!agent->pmix)
        pmix_room_begin(agent, directory);
    topology_file_ahead(group);
    struct pmix_room *room = agent->pmix;
    if (room->host)
        return 0;
    room->host = pmix_server_finish(room->start, err);
    room->start = NULL;
    if (room->host)
        return 0;
    pmix_room_free(room);
    return -1;
}

bool pmix_end(struct agent *agent)
{
    return !agent->pmix || !agent->pmix->tools || tool_proxy_end(agent->pmix->tools);
}

double pmix_patience(const struct agent *agent)
{
    return agent->pmix && agent->pmix->tools ? TOOL_END_PATIENCE : 0;
}

void pmix_close(struct agent *agent)
{
    struct pmix_room *room = agent->pmix;
    if (room && room->start)
        room->host = pmix_server_finish(room->start, NULL);
    if (room) {
        tool_proxy_free(room->tools);
        room->tools = NULL;
        retained_jobs_free(&room->parted);
        pmix_server_free(room->host, PMIX_PATIENCE);
        pmix_room_free(room);
    }
    scratch_directory_remove(agent->config->scratch);
}

void pmix_settle_input(struct agent *agent)
{
    if (agent->pmix && agent->pmix->host)
        pmix_server_settle_input(agent->pmix->host);
}

/* What the host of openpmix asks of the agent. */

static void host_wake(void *arg)
{
    struct pmix_room *room = arg;
    ev_async_send(room->agent->loop, &room->wake);
}

/* NULL: it has ended here. */
static struct group *group_of(const struct pmix_job *job)
{
    return ((const struct pmix_place *)pmix_namespace_data(job))->group;
}

static void host_exchange(void *arg, struct pmix_job *job, uint64_t id, uint32_t nnodes,
                          const void *bytes, size_t len)
{
    struct group *group = group_of(job);
    (void)arg;
    if (group)
        pmi_socket_exchange(group, nnodes ? id | EXCHANGE_PART | EXCHANGE_AGAIN : id, nnodes, bytes,
                            len);
}

static void host_post(void *arg, struct pmix_job *job, uint32_t node, const void *bytes, size_t len)
{
    const struct pmix_place *place = pmix_namespace_data(job);
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
    struct frame frame = {
        .type = FRAME_SERVICE, .node = uplink_node(agent->uplink), .bytes = bytes, .len = len};
    uplink_send(agent->uplink, &frame);
}

static int host_make_directory(void *arg)
{
    return scratch_directory_make(((struct pmix_room *)arg)->agent->config->scratch);
}

static void host_abort(void *arg, struct pmix_job *job, uint32_t rank, int status,
                       const char *message)
{
    struct group *group = group_of(job);
    (void)arg;
    if (group)
        exit_report_ended_rank(group->report, group->launch->first_rank + rank, "abort",
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

static void pmix_host_settled(void *arg, struct pmix_job *job, uint32_t local_rank)
{
    struct task *task = task_of(job, local_rank);
    (void)arg;
    if (task)
        task_termination_settled(task);
}

static void host_log(void *arg, struct pmix_job *job, uint32_t rank, bool error, const char *text)
{
    struct group *group = group_of(job);
    (void)arg;
    for (uint32_t i = 0; group && i < group->ntasks; i++)
        if (group->tasks[i].what->rank == rank)
            task_streams_say(&group->tasks[i], error, text);
}

static void host_stuck(void *arg, struct pmix_job *job, uint32_t missing, uint32_t waiting)
{
    struct group *group = group_of(job);
    (void)arg;
    if (group)
        pmi_socket_stuck(group, "PMIx fence", missing, waiting);
}

static void host_spawn(void *arg, struct pmix_job *job, uint32_t rank, uint64_t token,
                       const struct spawn_request *spawn)
{
    struct group *group = group_of(job);
    (void)arg;
    if (group)
        spawn_and_names_spawn_pmix(group, rank, token, spawn);
    else
        pmix_namespace_spawned(job, token, SPAWN_FAILED, NULL);
}

static bool host_input(void *arg, struct pmix_job *job, uint32_t rank, const void *bytes,
                       size_t len, bool end)
{
    struct group *group = group_of(job);
    (void)arg;
    for (uint32_t i = 0; group && i < group->ntasks; i++)
        if (group->tasks[i].what->rank == rank)
            return task_streams_push(&group->tasks[i], bytes, len, end);
    return false;
}

static bool host_input_lags(void *arg)
{
    return task_streams_lag(((struct pmix_room *)arg)->agent);
}

static void host_tool_came(void *arg, uint32_t number)
{
    struct pmix_room *room = arg;
    if (room->tools)
        tool_proxy_came(room->tools, number);
}

static void host_control(void *arg, struct pmix_job *job, const struct pmix_control *control)
{
    struct group *group = group_of(job);
    (void)arg;
    if (group)
        task_signals_control(group, control);
}

const struct pmix_server_ops pmix_ops = {
    .wake = host_wake,
    .exchange = host_exchange,
    .post = host_post,
    .ask = host_ask,
    .make_directory = host_make_directory,
    .abort = host_abort,
    .settled = pmix_host_settled,
    .log = host_log,
    .stuck = host_stuck,
    .spawn = host_spawn,
    .input = host_input,
    .input_lags = host_input_lags,
    .tool_came = host_tool_came,
    .control = host_control,
};
