/* The jobs that openpmix's host has here, one for each group whose programs may speak PMIx. */
#include <stdlib.h>

#include "base/mem.h"
#include "launcher/agent/pmix_host_private.h"
#include "launcher/agent/topology_file.h"
#include "launcher/protocol/namespace_apps.h"

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
    struct namespace_app *apps = namespace_apps_of_spec(launch->spec, launch->sizes);
    struct pmix_namespace_config config = {.name = name,
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
                                           .topology = topology_file_text(group),
                                           .oversubscribed = launch_is_crowded(launch),
                                           .goes_on =
                                               launch->spec->on_failure == SPEC_FAILURE_CONTINUE};
    struct pmix_place *place = retained_job_new(group);
    struct pmix_job *job = pmix_namespace_new(group->agent->pmix->host, &config, place, err);
    place->job = job;
    if (!job)
        retained_jobs_free(&place);
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
    if (pmix_finish(group, err) < 0)
        return -1;
    group->pmix = make_job(group, err);
    if (!group->pmix || let_tools(agent, launch, err) < 0)
        return -1;
    if (group->pmix_missing_told)
        pmix_namespace_missing(group->pmix, group->pmix_missing, group->pmix_missing_from);
    pmix_posts_deliver(group);
    return 0;
}

const char *pmix_memory(struct group *group)
{
    return group->pmix ? scratch_directory_make_memory(group->agent->config->scratch, NULL) : NULL;
}

void pmix_free(struct group *group)
{
    pmix_posts_free(group);
    if (group->pmix)
        retained_job_part(&group->agent->pmix->parted, pmix_namespace_data(group->pmix));
    group->pmix = NULL;
}

char *const *pmix_variables(const struct task *task, unsigned offered)
{
    static char *const nothing[] = {NULL};
    return task->group->pmix && (offered & SPEC_PMI_X)
               ? pmix_namespace_environment(task->group->pmix, task->what->local_rank)
               : nothing;
}

int pmix_exchanged(struct group *group, uint64_t id, const void *bytes, size_t len,
                   struct error *err)
{
    return group->pmix ? pmix_namespace_exchanged(
                             group->pmix, id & ~(EXCHANGE_PART | EXCHANGE_AGAIN), bytes, len, err)
                       : 0;
}

bool pmix_ended(const struct task *task)
{
    struct group *group = task->group;
    bool doubtful = group->pmix && pmix_namespace_ended(group->pmix, task->what->local_rank);
    if (group->pmix)
        pmix_set_deadline(group->agent->pmix);
    return doubtful;
}

enum pmi_state pmix_state(const struct task *task)
{
    return task->group->pmix ? pmix_namespace_state(task->group->pmix, task->what->local_rank)
                             : PMI_SILENT;
}

/* openpmix has an abort from a task before the task hears that it may exit. */
void pmix_drain(struct group *group)
{
    if (group->pmix)
        pmix_run(group->agent->pmix);
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
        pmix_namespace_missing(group->pmix, rank, from);
}

void pmix_gone(struct task *task)
{
    uint64_t from;
    struct group *group = task->group;
    if (group->pmix && !task->mourned &&
        pmix_namespace_gone(group->pmix, task->what->local_rank, &from) &&
        is_news(group, task->what->rank, from) && group->launch->nnodes > 1)
        pmi_socket_tell_missing(group, task->what->rank, from, FRAME_MISSING_PMIX);
}

void pmix_died(const struct task *task, bool goes_on)
{
    if (task->group->pmix)
        pmix_namespace_died(task->group->pmix, task->what->local_rank, task->status, goes_on);
}

/* What hosts of openpmix on different nodes post to each other, by way of the agents between them. */

struct pmix_post { /* that came before the group was started here */
    struct pmix_post *next;
    uint32_t from;
    struct buf bytes;
};

static void deliver(struct group *group, uint32_t from, const void *bytes, size_t len)
{
    struct error err = ERROR_INIT;
    if (group->pmix && pmix_namespace_posted(group->pmix, from, bytes, len, &err) < 0)
        pmix_broken(group, &err);
    if (group->pmix)
        pmix_set_deadline(group->agent->pmix);
    error_clear(&err);
}

static void pmix_job_hold(struct group *group, const struct frame *frame)
{
    struct pmix_post **last = &group->posts;
    while (*last)
        last = &(*last)->next;
    *last = mem_alloc(sizeof(**last));
    (*last)->from = frame->rank;
    buf_add(&(*last)->bytes, frame->bytes, frame->len);
}

static void each_post(struct group *group, void (*use)(struct group *, struct pmix_post *))
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
    struct pmix_place *place =
        agent->pmix ? retained_job_find(agent->pmix->parted, frame->group) : NULL;
    if (!place)
        return;
    pmix_namespace_posted(place->job, frame->rank, frame->bytes, frame->len, NULL);
    pmix_set_deadline(agent->pmix);
}

void pmix_take(struct agent *agent, const struct frame *frame)
{
    struct group *group =
        frame->node == uplink_node(agent->uplink) ? group_find(agent, frame->group) : NULL;
    if (group && group->phase == GROUP_WAITING)
        pmix_job_hold(group, frame);
    else if (group)
        deliver(group, frame->rank, frame->bytes, frame->len);
    else if (downlink_has(agent->downlink, frame->node))
        downlink_send_node(agent->downlink, frame->node, frame);
    else if (frame->node != uplink_node(agent->uplink))
        uplink_send(agent->uplink, frame);
    else
        deliver_parted(agent, frame);
}

void pmix_posts_deliver(struct group *group)
{
    each_post(group, deliver_held);
}

void pmix_posts_free(struct group *group)
{
    each_post(group, NULL);
}
