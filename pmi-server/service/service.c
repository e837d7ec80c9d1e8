#include "pmi-server/service/service.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/namespace_info.h"
#include "pmi-server/service/internal.h"

/* ---- jobs ---- */

static struct job *find_job(struct job *job, const char *name)
{
    while (job && strcmp(job->name, name) != 0)
        job = job->next;
    return job;
}

struct job *hub_job(const struct hub *hub, const char *name)
{
    return find_job(hub->jobs, name);
}

struct job *hub_late_job(const struct hub *hub, const char *name)
{
    return find_job(hub->late, name);
}

uint32_t hub_node(const struct job *job, uint32_t rank)
{
    return rank < job->map->ntasks ? job->node[taskmap_node(job->map, rank)] : UINT32_MAX;
}

void hub_add_nodes(struct idset *nodes, const struct job *job)
{
    for (uint32_t i = 0; i < job->map->nnodes; i++)
        idset_add(nodes, job->node[i]);
}

void hub_add(struct hub *hub, const struct hub_job *from)
{
    struct job *job = mem_alloc(sizeof(*job));
    job->name = mem_copy_text(from->name);
    job->map = taskmap_copy(from->map);
    job->node = mem_array(from->map->nnodes, sizeof(*job->node));
    memcpy(job->node, from->node, from->map->nnodes * sizeof(*job->node));
    job->told = idset_new();
    job->ended = idset_new();
    if (from->hosts)
        describe_put(&job->description, from);
    const struct job *spawner = from->spawner ? hub_job(hub, from->spawner) : NULL;
    job->next = hub->jobs;
    hub->jobs = job;
    if (spawner)
        bonds_tie(hub, spawner, job);
}

static void job_free(struct job *job)
{
    buf_free(&job->description);
    idset_free(job->told);
    idset_free(job->ended);
    taskmap_free(job->map);
    free(job->node);
    free(job->name);
    free(job);
}

void hub_settle_late(struct hub *hub)
{
    for (struct job **at = &hub->late, *job; (job = *at);) {
        if (hub_gather_knows(hub, job)) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        job_free(job);
    }
}

void hub_remove(struct hub *hub, const char *name)
{
    struct job **at = &hub->jobs;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    struct job *job = *at;
    if (!job)
        return;
    *at = job->next;
    naming_over(hub, name);
    bool late = hub_gather_removed(hub, job);
    hub_fetch_removed(hub, job);
    hub_describe_removed(hub, job);
    hub_query_removed(hub, job);
    bonds_remove(hub, job);
    if (late) {
        job->next = hub->late;
        hub->late = job;
    } else {
        job_free(job);
    }
}

void hub_ended(struct hub *hub, const char *name, uint32_t rank)
{
    struct job *job = hub_job(hub, name);
    if (!job || rank >= job->map->ntasks)
        return;
    idset_add(job->ended, rank);
    naming_ended(hub, job->name, rank);
    hub_gather_ended(hub, job, rank);
}

/* ---- what is said to hosts ---- */

static void tell(struct hub *hub, uint32_t node, struct buf *head, const struct buf *rest)
{
    if (rest)
        buf_add(head, buf_bytes(rest), rest->len);
    hub->ops->tell(hub->arg, node, buf_bytes(head), head->len);
    buf_free(head);
}

void hub_answer(struct hub *hub, const struct asked *asked, enum hub_status status,
                const struct buf *rest)
{
    struct buf head = BUF_INIT;
    if (!asked->token)
        return;
    talk_put_down(&head, ORDER_ANSWER, asked->token, status);
    tell(hub, asked->node, &head, rest);
}

void hub_order(struct hub *hub, uint32_t node, enum hub_order kind, const struct buf *rest)
{
    struct buf head = BUF_INIT;
    talk_put_down(&head, kind, 0, HUB_OK);
    tell(hub, node, &head, rest);
}

/* ---- what hosts say ---- */

/* Each room that keeps questions looks for it. */
static int forget(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    lookups_forget(hub, asked);
    hub_gather_forget(hub, asked);
    hub_fetch_forget(hub, asked);
    hub_query_forget(hub, asked);
    return packet_ends(&talk->rest) ? 0 : -1;
}

/* -1: malformed. */
static int (*const take[HUB_NKINDS])(struct hub *hub, const struct asked *asked,
                                     struct talk_up *talk) = {
    [HUB_FORGET] = forget,         [HUB_PUBLISH] = naming_publish,
    [HUB_LOOKUP] = lookups_take,   [HUB_UNPUBLISH] = naming_unpublish,
    [HUB_FINALIZED] = naming_left, [HUB_GATHER] = hub_gather,
    [HUB_DESCRIBE] = hub_describe, [HUB_MODEX] = hub_fetch,
    [HUB_FOUND] = hub_found,       [HUB_QUERY] = hub_query,
    [HUB_TASKS] = hub_tasks,       [HUB_PULL] = streams_pull,
    [HUB_UNPULL] = streams_unpull, [HUB_TAKEN] = streams_taken,
    [HUB_PUSH] = push_asked,       [HUB_PUSHED] = push_done,
    [HUB_NOTIFY] = events_take,    [HUB_DIED] = deaths_take,
    [HUB_CONTROL] = control_take,
};

int hub_take(struct hub *hub, uint32_t node, const void *bytes, size_t len, struct error *err)
{
    struct talk_up talk;
    int rc = talk_read_up(&talk, bytes, len);
    if (rc == 0) {
        struct asked asked = {node, talk.token};
        rc = take[talk.kind](hub, &asked, &talk);
        free(talk.from.job);
    }
    return rc < 0 ? error_set(err, "a malformed message of the PMIx host of node %" PRIu32, node)
                  : 0;
}

/* ---- life ---- */

struct hub *hub_new(const struct hub_ops *ops, void *arg)
{
    struct hub *hub = mem_alloc(sizeof(*hub));
    hub->ops = ops;
    hub->arg = arg;
    return hub;
}

void hub_free(struct hub *hub)
{
    if (!hub)
        return;
    lookups_free(hub);
    hub_names_free(hub->names.first);
    hub_gather_free(hub);
    hub_settle_late(hub);
    hub_fetch_free(hub);
    hub_queries_free(hub);
    while (hub->jobs) {
        struct job *next = hub->jobs->next;
        bonds_remove(hub, hub->jobs);
        job_free(hub->jobs);
        hub->jobs = next;
    }
    streams_free(hub);
    pushes_free(hub);
    free(hub);
}
