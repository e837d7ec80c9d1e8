/* The jobs that openpmix's host has here, one for each group whose programs may speak PMIx. */
#include "launcher/agent/pmix_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/exchange/exchange.h"
#include "pmi-server/pmix/direct_modex_request.h"
#include "pmi-server/pmix/fence.h"
#include "pmi-server/pmix/namespace.h"
#include "pmi-server/pmix/spawn.h"
#include "pmi-server/pmix/task_death.h"
#include "pmi-server/pmix/task_exit.h"

#define RETAINED_MAX 16 /* a program may spawn without end */

struct held_post { /* that came before the group was started here */
    struct held_post *next;
    uint32_t from;
    struct buf bytes;
};

struct group_pmix_job {
    struct group_pmix_job_config config; /* without a group: it has ended here, and owner is NULL */
    struct group_pmix_job *next;         /* while it is retained */
    struct pmix_job *server_job;         /* NULL: not open */
    uint32_t group, node, nnodes, *tree_node; /* as in struct launch */
    struct held_post *held;
    bool missing_known; /* some rank enters no fence from this number on */
    uint32_t missing;
    uint64_t missing_from;
};

char *pmix_job_name(const struct launch *launch, uint32_t group)
{
    return launch_namespace(launch->instance_id, launch->program, group);
}

static void pmix_job_used(const struct group_pmix_job *job)
{
    pmix_host_used(job->config.host);
}

/* ---- messages from other nodes ---- */

static void pmix_job_hold(struct group_pmix_job *job, const struct frame *frame)
{
    struct held_post **last = &job->held;
    while (*last)
        last = &(*last)->next;
    *last = mem_alloc(sizeof(**last));
    (*last)->from = frame->rank;
    buf_add(&(*last)->bytes, frame->bytes, frame->len);
}

/* To the server, where it is open; a job whose group has ended here has nobody to blame. */
static void deliver(struct group_pmix_job *job, uint32_t from, const void *bytes, size_t len)
{
    struct error err = ERROR_INIT;
    if (!job->server_job)
        return;
    if (pmix_namespace_posted(job->server_job, from, bytes, len, &err) < 0 && job->config.owner)
        job->config.ops->failed(job->config.owner, &err);
    pmix_job_used(job);
    error_clear(&err);
}

void pmix_job_on_post(struct group_pmix_job *job, bool hold, const struct frame *frame)
{
    if (hold)
        pmix_job_hold(job, frame);
    else
        deliver(job, frame->rank, frame->bytes, frame->len);
}

static void let_go_held(struct group_pmix_job *job, bool wanted)
{
    struct held_post *next;
    for (struct held_post *post = job->held; post; post = next) {
        next = post->next;
        if (wanted)
            deliver(job, post->from, buf_bytes(&post->bytes), post->bytes.len);
        buf_free(&post->bytes);
        free(post);
    }
    job->held = NULL;
}

/* ---- opened ---- */

/* Each group has a directory of its own, which the tasks' libraries write to. */
static struct pmix_job *open_namespace(struct group_pmix_job *job, struct error *err)
{
    const struct launch *launch = job->config.launch;
    const struct spec_part *part = &launch->spec->parts[0];
    struct agent_pmix_host *host = job->config.host;
    char *name = pmix_job_name(launch, launch->group);
    char *spawner = launch->spawned ? pmix_job_name(launch, launch->spawner) : NULL;
    char *directory = mem_format("%s/%u", pmix_host_directory(host), launch->group);
    struct pmix_local *locals = mem_array(launch->nlocal, sizeof(*locals));
    for (uint32_t i = 0; i < launch->nlocal; i++) {
        const struct launch_task *task = &launch->tasks[i];
        locals[i] = (struct pmix_local){task->rank, task->app, launch->cpus[task->binding]};
    }
    struct namespace_app *apps = launch_namespace_apps(launch->spec, launch->sizes);
    struct pmix_namespace_config config = {
        .name = name,
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
        .topology = topology_file_text(pmix_host_topology_file(host), launch),
        .oversubscribed = launch_is_crowded(launch),
        .goes_on = launch->spec->on_failure == SPEC_FAILURE_CONTINUE};
    struct pmix_job *opened = pmix_namespace_new(pmix_host_server(host), &config, job, err);
    free(apps);
    free(locals);
    free(directory);
    free(spawner);
    free(name);
    return opened;
}

int pmix_job_open(struct group_pmix_job *job, unsigned offered, struct error *err)
{
    const struct launch *launch = job->config.launch;
    if (!(offered & SPEC_PMI_X || launch->spec->tools) || !launch->nlocal)
        return 0;
    scratch_directory_make_memory(pmix_host_scratch(job->config.host), NULL); /* as it starts */
    if (pmix_host_open(job->config.host, launch, err) < 0)
        return -1;
    job->server_job = open_namespace(job, err);
    if (!job->server_job || pmix_host_let_tools(job->config.host, launch, err) < 0)
        return -1;
    if (job->missing_known)
        pmix_namespace_missing(job->server_job, job->missing, job->missing_from);
    let_go_held(job, true);
    return 0;
}

bool pmix_job_is_open(const struct group_pmix_job *job)
{
    return job->server_job;
}

const char *pmix_job_memory(struct group_pmix_job *job)
{
    return job->server_job
               ? scratch_directory_make_memory(pmix_host_scratch(job->config.host), NULL)
               : NULL;
}

char *const *pmix_job_variables(struct group_pmix_job *job, uint32_t local_rank, unsigned offered)
{
    static char *const nothing[] = {NULL};
    return job->server_job && (offered & SPEC_PMI_X)
               ? pmix_namespace_environment(job->server_job, local_rank)
               : nothing;
}

int pmix_job_exchanged(struct group_pmix_job *job, uint64_t id, const void *bytes, size_t len,
                       struct error *err)
{
    return job->server_job
               ? pmix_namespace_exchanged(job->server_job, id & ~(EXCHANGE_PART | EXCHANGE_AGAIN),
                                          bytes, len, err)
               : 0;
}

void pmix_job_spawned(struct group_pmix_job *job, uint64_t token, enum spawn_fate fate,
                      const char *name)
{
    if (job->server_job)
        pmix_namespace_spawned(job->server_job, token, fate, name);
}

/* ---- the end of a task ---- */

bool pmix_job_ended(struct group_pmix_job *job, uint32_t local_rank)
{
    if (!job->server_job)
        return false;
    bool unsettled = pmix_namespace_ended(job->server_job, local_rank);
    pmix_job_used(job);
    return unsettled;
}

enum pmi_state pmix_job_state(const struct group_pmix_job *job, uint32_t local_rank)
{
    return job->server_job ? pmix_namespace_state(job->server_job, local_rank) : PMI_SILENT;
}

/* openpmix has an abort from a task before the task hears that it may exit. */
void pmix_job_drain(struct group_pmix_job *job)
{
    if (job->server_job)
        pmix_host_run(job->config.host);
}

void pmix_job_died(struct group_pmix_job *job, uint32_t local_rank, int status, bool goes_on)
{
    if (job->server_job)
        pmix_namespace_died(job->server_job, local_rank, status, goes_on);
}

static bool report_missing_rank(struct group_pmix_job *job, uint32_t rank, uint64_t from)
{
    if (job->missing_known && from >= job->missing_from)
        return false;
    job->missing_known = true;
    job->missing = rank;
    job->missing_from = from;
    return true;
}

void pmix_job_missing(struct group_pmix_job *job, uint32_t rank, uint64_t from)
{
    if (report_missing_rank(job, rank, from) && job->server_job)
        pmix_namespace_missing(job->server_job, rank, from);
}

void pmix_job_gone(struct group_pmix_job *job, uint32_t local_rank, uint32_t rank)
{
    uint64_t from;
    if (job->server_job && pmix_namespace_gone(job->server_job, local_rank, &from) &&
        report_missing_rank(job, rank, from) && job->nnodes > 1)
        group_fence_report_missing(job->config.fence, rank, from, FRAME_MISSING_PMIX);
}

/* ---- what openpmix's host asks for a job ---- */

/* NULL: its group has ended here. */
static const struct group_pmix_job_config *group_of(const struct pmix_job *server_job)
{
    const struct group_pmix_job *job = pmix_namespace_data(server_job);
    return job->config.owner ? &job->config : NULL;
}

static void job_exchange(void *arg, struct pmix_job *server_job, uint64_t id, uint32_t nnodes,
                         const void *bytes, size_t len)
{
    const struct group_pmix_job_config *group = group_of(server_job);
    (void)arg;
    if (group)
        group_fence_enter(group->fence, nnodes ? id | EXCHANGE_PART | EXCHANGE_AGAIN : id, nnodes,
                          bytes, len);
}

static void job_post(void *arg, struct pmix_job *server_job, uint32_t node, const void *bytes,
                     size_t len)
{
    const struct group_pmix_job *job = pmix_namespace_data(server_job);
    (void)arg;
    if (node >= job->nnodes)
        return;
    struct frame frame = {.type = FRAME_POST,
                          .node = job->tree_node[node],
                          .rank = job->node,
                          .group = job->group,
                          .bytes = bytes,
                          .len = len};
    job->config.post(job->config.sender, &frame);
}

static void job_abort(void *arg, struct pmix_job *server_job, uint32_t rank, int status,
                      const char *message)
{
    const struct group_pmix_job_config *group = group_of(server_job);
    (void)arg;
    if (group)
        group->ops->abort(group->owner, rank, status, message);
}

static void job_settled(void *arg, struct pmix_job *server_job, uint32_t local_rank)
{
    const struct group_pmix_job_config *group = group_of(server_job);
    (void)arg;
    if (group)
        group->task_ops->settled(group->group, local_rank);
}

static void job_log(void *arg, struct pmix_job *server_job, uint32_t rank, bool error,
                    const char *text)
{
    const struct group_pmix_job_config *group = group_of(server_job);
    (void)arg;
    if (group)
        group->task_ops->log(group->group, rank, error, text);
}

static void job_stuck(void *arg, struct pmix_job *server_job, uint32_t missing, uint32_t waiting)
{
    const struct group_pmix_job_config *group = group_of(server_job);
    (void)arg;
    if (group)
        group->ops->stuck(group->owner, missing, waiting);
}

static void job_spawn(void *arg, struct pmix_job *server_job, uint32_t rank, uint64_t token,
                      const struct spawn_request *spawn)
{
    const struct group_pmix_job_config *group = group_of(server_job);
    (void)arg;
    if (group)
        group->ops->spawn(group->owner, rank, token, spawn);
    else
        pmix_namespace_spawned(server_job, token, SPAWN_FAILED, NULL);
}

static bool job_input(void *arg, struct pmix_job *server_job, uint32_t rank, const void *bytes,
                      size_t len, bool end)
{
    const struct group_pmix_job_config *group = group_of(server_job);
    (void)arg;
    return group && group->task_ops->input(group->group, rank, bytes, len, end);
}

static void job_control(void *arg, struct pmix_job *server_job, const struct pmix_control *control)
{
    const struct group_pmix_job_config *group = group_of(server_job);
    (void)arg;
    if (group)
        group->task_ops->control(group->group, control);
}

const struct pmix_server_ops pmix_job_server_ops = {
    .exchange = job_exchange,
    .post = job_post,
    .abort = job_abort,
    .settled = job_settled,
    .log = job_log,
    .stuck = job_stuck,
    .spawn = job_spawn,
    .input = job_input,
    .control = job_control,
};

/* ---- life ---- */

struct group_pmix_job *pmix_job_new(const struct group_pmix_job_config *config)
{
    const struct launch *launch = config->launch;
    struct group_pmix_job *job = mem_alloc(sizeof(*job));
    *job = (struct group_pmix_job){
        .config = *config, .group = launch->group, .node = launch->node, .nnodes = launch->nnodes};
    job->tree_node = mem_array(launch->nnodes, sizeof(*job->tree_node));
    memcpy(job->tree_node, launch->tree_node, launch->nnodes * sizeof(*job->tree_node));
    return job;
}

void pmix_job_free(struct group_pmix_job *job)
{
    if (!job)
        return;
    let_go_held(job, false);
    if (job->server_job)
        pmix_namespace_free(job->server_job);
    free(job->tree_node);
    free(job);
}

void pmix_job_retain(struct group_pmix_job **retained, struct group_pmix_job *job)
{
    if (!job->server_job || job->nnodes == 1) {
        pmix_job_free(job);
        return;
    }
    let_go_held(job, false);
    job->config.owner = NULL;
    job->config.launch = NULL;
    job->config.fence = NULL;
    job->next = *retained;
    *retained = job;
    for (unsigned count = 0; job; job = job->next)
        if (++count == RETAINED_MAX)
            pmix_job_free_retained(&job->next);
}

struct group_pmix_job *pmix_job_find_retained(struct group_pmix_job *retained, uint32_t group)
{
    while (retained && retained->group != group)
        retained = retained->next;
    return retained;
}

void pmix_job_free_retained(struct group_pmix_job **retained)
{
    struct group_pmix_job *next;
    for (struct group_pmix_job *job = *retained; job; job = next) {
        next = job->next;
        pmix_job_free(job);
    }
    *retained = NULL;
}
