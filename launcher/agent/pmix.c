/* The host of openpmix on this node, and what its jobs, one for each group, have to do with other
 * nodes. It is made for the first group whose programs may speak PMIx. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "launcher/agent/place.h"
#include "launcher/program/apps.h"
#include "launcher/agent/tools.h"
#include "pmi-server/pmix/host.h"

#define PMIX_PATIENCE 2.0 /* s for openpmix to end, after which it is left as it is */

struct pmix_room {
    struct agent *agent;
    struct pmix_host_start *start; /* NULL: it is over */
    struct pmix_host *host;        /* NULL: not yet */
    struct pmix_host_config config;
    struct pmix_place *parted; /* the latest first */
    struct tools *tools;       /* NULL: none may come */
    struct hwloc_topology *machine;
    ev_async wake;
    ev_timer deadline; /* of what waits for other nodes */
};

struct pmix_post { /* that came before the group was started here */
    struct pmix_post *next;
    uint32_t from;
    struct buf bytes;
};

/* ---- what the host asks for ---- */

static void set_deadline(struct pmix_room *room)
{
    double rest = pmix_host_deadline(room->host);
    ev_timer_stop(room->agent->loop, &room->deadline);
    if (rest < 0)
        return;
    ev_timer_set(&room->deadline, rest, 0);
    ev_timer_start(room->agent->loop, &room->deadline);
}

static void run(struct pmix_room *room)
{
    if (!room->host)
        return;
    pmix_host_run(room->host);
    set_deadline(room);
}

static void on_wake(struct ev_loop *loop, ev_async *watcher, int events)
{
    (void)loop;
    (void)events;
    run(watcher->data);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    run(timer->data);
}

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
        rendezvous_exchange(group, nnodes ? id | EXCHANGE_PART : id, nnodes, bytes, len);
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

static const struct pmix_host_ops host_ops = {
    .wake = host_wake,
    .exchange = host_exchange,
    .post = host_post,
    .ask = host_ask,
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

void pmix_settle_input(struct agent *agent)
{
    if (agent->pmix && agent->pmix->host)
        pmix_host_settle_input(agent->pmix->host);
}

/* ---- posts ---- */

static void broken(struct group *group, const struct error *err)
{
    struct idset *none = idset_new();
    report_ended(group, none, "pmi", W_EXITCODE(1, 0), error_text(err));
    idset_free(none);
}

static void deliver(struct group *group, uint32_t from, const void *bytes, size_t len)
{
    struct error err = ERROR_INIT;
    if (group->pmix && pmix_job_posted(group->pmix, from, bytes, len, &err) < 0)
        broken(group, &err);
    if (group->pmix)
        set_deadline(group->agent->pmix);
    error_clear(&err);
}

static void hold(struct group *group, const struct frame *frame)
{
    struct pmix_post **last = &group->posts;
    while (*last)
        last = &(*last)->next;
    *last = mem_alloc(sizeof(**last));
    (*last)->from = frame->rank;
    buf_add(&(*last)->bytes, frame->bytes, frame->len);
}

static void free_posts(struct group *group, void (*use)(struct group *, struct pmix_post *))
{
    struct pmix_post *next;
    for (struct pmix_post *post = group->posts; post; post = next) {
        next = post->next;
        if (use)
            use(group, post);
        buf_free(&post->bytes);
        free(post);
    }
    group->posts = NULL;
}

static void deliver_held(struct group *group, struct pmix_post *post)
{
    deliver(group, post->from, buf_bytes(&post->bytes), post->bytes.len);
}

static void deliver_parted(struct agent *agent, const struct frame *frame)
{
    struct pmix_place *place = agent->pmix ? place_find(agent->pmix->parted, frame->group) : NULL;
    if (!place)
        return;
    pmix_job_posted(place->job, frame->rank, frame->bytes, frame->len, NULL);
    set_deadline(agent->pmix);
}

void pmix_take(struct agent *agent, const struct frame *frame)
{
    struct group *group = frame->node == agent->node ? group_find(agent, frame->group) : NULL;
    if (group && group->phase == GROUP_WAITING)
        hold(group, frame);
    else if (group)
        deliver(group, frame->rank, frame->bytes, frame->len);
    else if (agent->below && idset_has(agent->below, frame->node))
        tree_send_node(agent->tree, frame->node, frame);
    else if (frame->node != agent->node)
        report_send(agent, frame);
    else
        deliver_parted(agent, frame);
}

/* ---- the hub ---- */

/* Nobody asks it before there is a host, nor after. */
void pmix_told(struct agent *agent, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (frame->node != agent->node) {
        if (agent->tree)
            tree_send_node(agent->tree, frame->node, frame);
        return;
    }
    if (tasks_told(agent, frame))
        return;
    if (agent->pmix && agent->pmix->host &&
        pmix_host_told(agent->pmix->host, frame->bytes, frame->len, &err) < 0 && agent->groups)
        broken(agent->groups, &err);
    if (agent->pmix && agent->pmix->host)
        set_deadline(agent->pmix);
    error_clear(&err);
}

/* ---- the host ---- */

static void room_free(struct pmix_room *room)
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
static void room_begin(struct agent *agent, const char *directory)
{
    struct pmix_room *room = agent->pmix = mem_alloc(sizeof(*room));
    room->agent = agent;
    room->machine = agent->machine ? agent->machine : topo_load_machine(NULL);
    agent->machine = NULL;
    ev_async_init(&room->wake, on_wake);
    room->wake.data = room;
    ev_async_start(agent->loop, &room->wake);
    ev_unref(agent->loop);
    ev_timer_init(&room->deadline, on_deadline, 0, 0);
    room->deadline.data = room;
    room->config = (struct pmix_host_config){.program = strrchr(directory, '/') + 1,
                                             .hostname = agent->host,
                                             .node = agent->node,
                                             .tmpdir = directory,
                                             .topology = room->machine};
    room->start = pmix_host_begin(&room->config, &host_ops, room);
}

void pmix_ahead(struct agent *agent)
{
    const char *directory = scratch_name(agent->config->scratch, NULL);
    if (directory && !agent->pmix)
        room_begin(agent, directory);
}

/* The host is there, or it cannot be. */
static int room_finish(struct agent *agent, struct error *err)
{
    const char *directory = scratch_name(agent->config->scratch, err);
    if (!directory)
        return -1;
    if (!agent->pmix)
        room_begin(agent, directory);
    struct pmix_room *room = agent->pmix;
    if (room->host)
        return 0;
    room->host = pmix_host_finish(room->start, err);
    room->start = NULL;
    if (room->host)
        return 0;
    room_free(room);
    return -1;
}

void pmix_close(struct agent *agent)
{
    struct pmix_room *room = agent->pmix;
    if (room && room->start)
        room->host = pmix_host_finish(room->start, NULL);
    if (room) {
        tools_free(room->tools);
        room->tools = NULL;
        places_free(&room->parted);
        pmix_host_free(room->host, PMIX_PATIENCE);
        room_free(room);
    }
    scratch_remove(agent->config->scratch);
}

/* ---- jobs ---- */

char *pmix_name(const struct launch *launch, uint32_t group)
{
    return launch_namespace(launch->instance_id, launch->program, group);
}

static struct pmix_local *make_locals(const struct launch *launch)
{
    struct pmix_local *locals = mem_array(launch->nlocal, sizeof(*locals));
    for (uint32_t i = 0; i < launch->nlocal; i++) {
        const struct launch_task *task = &launch->tasks[i];
        locals[i] = (struct pmix_local){task->rank, task->app, launch->cpus[task->binding]};
    }
    return locals;
}

/* Each group has a directory of its own, which the tasks' libraries write to. */
static struct pmix_job *make_job(struct group *group, struct error *err)
{
    const struct launch *launch = group->launch;
    const struct spec_part *part = &launch->spec->parts[0];
    char *name = pmix_name(launch, group->number);
    char *spawner = launch->spawned ? pmix_name(launch, launch->spawner) : NULL;
    char *directory = mem_format("%s/%u", group->agent->pmix->config.tmpdir, group->number);
    struct pmix_local *locals = make_locals(launch);
    struct hub_app *apps = apps_of_spec(launch->spec, launch->sizes);
    struct pmix_job_config config = {.name = name,
                                     .spawner = spawner,
                                     .spawner_rank = launch->spawner_rank,
                                     .universe_size = -1,
                                     .map = launch->map,
                                     .hosts = (const char *const *)launch->hosts,
                                     .node = launch->node,
                                     .locals = locals,
                                     .nlocals = launch->nlocal,
                                     .apps = apps,
                                     .napps = (uint32_t)launch->spec->nparts,
                                     .map_by = part->map,
                                     .rank_by = part->order,
                                     .bind_to = part->bind,
                                     .tmpdir = directory,
                                     .oversubscribed = part->oversubscribe,
                                     .goes_on = launch->spec->on_failure == SPEC_FAILURE_CONTINUE};
    struct pmix_place *place = place_new(group);
    struct pmix_job *job = pmix_job_new(group->agent->pmix->host, &config, place, err);
    place->job = job;
    if (!job)
        places_free(&place);
    free(apps);
    free(locals);
    free(directory);
    free(spawner);
    free(name);
    return job;
}

/* ---- opened and closed ---- */

static int let_tools(struct agent *agent, const struct launch *launch, struct error *err)
{
    struct pmix_room *room = agent->pmix;
    if (launch->spec->tools && !room->tools)
        room->tools = pmix_tools(agent, room->host, &room->config, launch, err);
    return launch->spec->tools && !room->tools ? -1 : 0;
}

int pmix_open(struct group *group, unsigned offered, struct error *err)
{
    struct agent *agent = group->agent;
    const struct launch *launch = group->launch;
    if (!(offered & SPEC_PMI_X || launch->spec->tools) || !launch->nlocal)
        return 0;
    if (room_finish(agent, err) < 0)
        return -1;
    group->pmix = make_job(group, err);
    if (!group->pmix || let_tools(agent, launch, err) < 0)
        return -1;
    if (group->pmix_missing_told)
        pmix_job_missing(group->pmix, group->pmix_missing, group->pmix_missing_from);
    free_posts(group, deliver_held);
    return 0;
}

const char *pmix_memory(struct group *group)
{
    return group->pmix ? scratch_make_memory(group->agent->config->scratch, NULL) : NULL;
}

void pmix_free(struct group *group)
{
    free_posts(group, NULL);
    if (group->pmix)
        place_part(&group->agent->pmix->parted, pmix_job_data(group->pmix));
    group->pmix = NULL;
}

char *const *pmix_variables(const struct task *task, unsigned offered)
{
    static char *const nothing[] = {NULL};
    return task->group->pmix && (offered & SPEC_PMI_X)
               ? pmix_job_environment(task->group->pmix, task->what->local_rank)
               : nothing;
}

int pmix_exchanged(struct group *group, uint64_t id, const void *bytes, size_t len,
                   struct error *err)
{
    return group->pmix ? pmix_job_exchanged(group->pmix, id & ~EXCHANGE_PART, bytes, len, err) : 0;
}

bool pmix_ended(const struct task *task)
{
    struct group *group = task->group;
    bool doubtful = group->pmix && pmix_job_ended(group->pmix, task->what->local_rank);
    if (group->pmix)
        set_deadline(group->agent->pmix);
    return doubtful;
}

enum pmi_state pmix_state(const struct task *task)
{
    return task->group->pmix ? pmix_job_state(task->group->pmix, task->what->local_rank)
                             : PMI_SILENT;
}

/* openpmix has an abort from a task before the task hears that it may exit. */
void pmix_drain(struct group *group)
{
    if (group->pmix)
        run(group->agent->pmix);
}

/* ---- who is missing ---- */

static bool is_news(struct group *group, uint32_t rank, uint64_t from)
{
    if (group->pmix_missing_told && from >= group->pmix_missing_from)
        return false;
    group->pmix_missing_told = true;
    group->pmix_missing = rank;
    group->pmix_missing_from = from;
    return true;
}

void pmix_missing(struct group *group, uint32_t rank, uint64_t from)
{
    if (is_news(group, rank, from) && group->pmix)
        pmix_job_missing(group->pmix, rank, from);
}

void pmix_gone(struct task *task)
{
    uint64_t from;
    struct group *group = task->group;
    if (group->pmix && !task->mourned &&
        pmix_job_gone(group->pmix, task->what->local_rank, &from) &&
        is_news(group, task->what->rank, from) && group->launch->nnodes > 1)
        rendezvous_tell_missing(group, task->what->rank, from, FRAME_MISSING_PMIX);
}

void pmix_died(const struct task *task, bool goes_on)
{
    if (task->group->pmix)
        pmix_job_died(task->group->pmix, task->what->local_rank, task->status, goes_on);
}
