#include "pmi-server/service/service.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/namespace_info.h"
#include "pmi-server/service/internal.h"

/* ---- jobs ---- */

static struct job *service_find_job(struct job *job, const char *name)
{
    while (job && strcmp(job->name, name) != 0)
        job = job->next;
    return job;
}

struct job *pmi_service_job(const struct pmi_service *service, const char *name)
{
    return service_find_job(service->jobs, name);
}

struct job *pmi_service_late_job(const struct pmi_service *service, const char *name)
{
    return service_find_job(service->late, name);
}

uint32_t pmi_service_node(const struct job *job, uint32_t rank)
{
    return rank < job->map->ntasks ? job->node[taskmap_node(job->map, rank)] : UINT32_MAX;
}

void pmi_service_add_nodes(struct idset *nodes, const struct job *job)
{
    for (uint32_t i = 0; i < job->map->nnodes; i++)
        idset_add(nodes, job->node[i]);
}

void pmi_service_add(struct pmi_service *service, const struct namespace_facts *from)
{
    struct job *job = mem_alloc(sizeof(*job));
    job->name = mem_copy_text(from->name);
    job->map = taskmap_copy(from->map);
    job->node = mem_array(from->map->nnodes, sizeof(*job->node));
    memcpy(job->node, from->node, from->map->nnodes * sizeof(*job->node));
    job->told = idset_new();
    job->ended = idset_new();
    if (from->hosts)
        namespace_info_put(&job->description, from);
    const struct job *spawner = from->spawner ? pmi_service_job(service, from->spawner) : NULL;
    job->next = service->jobs;
    service->jobs = job;
    if (spawner)
        namespaces_tie(service, spawner, job);
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

void pmi_service_settle_late(struct pmi_service *service)
{
    for (struct job **at = &service->late, *job; (job = *at);) {
        if (pmi_service_gather_knows(service, job)) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        job_free(job);
    }
}

void pmi_service_remove(struct pmi_service *service, const char *name)
{
    struct job **at = &service->jobs;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    struct job *job = *at;
    if (!job)
        return;
    *at = job->next;
    naming_over(service, name);
    bool late = pmi_service_gather_removed(service, job);
    pmi_service_fetch_removed(service, job);
    pmi_service_describe_removed(service, job);
    pmi_service_query_removed(service, job);
    namespaces_remove(service, job);
    if (late) {
        job->next = service->late;
        service->late = job;
    } else {
        job_free(job);
    }
}

void pmi_service_ended(struct pmi_service *service, const char *name, uint32_t rank)
{
    struct job *job = pmi_service_job(service, name);
    if (!job || rank >= job->map->ntasks)
        return;
    idset_add(job->ended, rank);
    naming_ended(service, job->name, rank);
    pmi_service_gather_ended(service, job, rank);
}

/* ---- what is said to hosts ---- */

static void service_tell(struct pmi_service *service, uint32_t node, struct buf *head,
                         const struct buf *rest)
{
    if (rest)
        buf_add(head, buf_bytes(rest), rest->len);
    service->ops->tell(service->arg, node, buf_bytes(head), head->len);
    buf_free(head);
}

void pmi_service_answer(struct pmi_service *service, const struct requester *asked,
                        enum reply_status status, const struct buf *rest)
{
    struct buf head = BUF_INIT;
    if (!asked->token)
        return;
    message_put_down(&head, ORDER_ANSWER, asked->token, status);
    service_tell(service, asked->node, &head, rest);
}

void pmi_service_order(struct pmi_service *service, uint32_t node, enum order_kind kind,
                       const struct buf *rest)
{
    struct buf head = BUF_INIT;
    message_put_down(&head, kind, 0, REPLY_OK);
    service_tell(service, node, &head, rest);
}

/* ---- what hosts say ---- */

/* Each room that keeps questions looks for it. */
static int forget(struct pmi_service *service, const struct requester *asked,
                  struct message_up *talk)
{
    lookups_forget(service, asked);
    pmi_service_gather_forget(service, asked);
    pmi_service_fetch_forget(service, asked);
    pmi_service_query_forget(service, asked);
    return pack_ends(&talk->rest) ? 0 : -1;
}

/* -1: malformed. */
static int (*const take[REQUEST_NKINDS])(struct pmi_service *service, const struct requester *asked,
                                         struct message_up *talk) = {
    [REQUEST_FORGET] = forget,
    [REQUEST_PUBLISH] = naming_publish,
    [REQUEST_LOOKUP] = lookups_take,
    [REQUEST_UNPUBLISH] = naming_unpublish,
    [REQUEST_FINALIZED] = naming_left,
    [REQUEST_GATHER] = pmi_service_gather,
    [REQUEST_DESCRIBE] = pmi_service_describe,
    [REQUEST_MODEX] = pmi_service_fetch,
    [REQUEST_FOUND] = pmi_service_found,
    [REQUEST_QUERY] = pmi_service_query,
    [REQUEST_TASKS] = pmi_service_tasks,
    [REQUEST_PULL] = streams_pull,
    [REQUEST_UNPULL] = streams_unpull,
    [REQUEST_TAKEN] = streams_taken,
    [REQUEST_PUSH] = push_asked,
    [REQUEST_PUSHED] = push_done,
    [REQUEST_NOTIFY] = events_take,
    [REQUEST_DIED] = deaths_take,
    [REQUEST_CONTROL] = control_take,
};

int pmi_service_take(struct pmi_service *service, uint32_t node, const void *bytes, size_t len,
                     struct error *err)
{
    struct message_up talk;
    int rc = message_read_up(&talk, bytes, len);
    if (rc == 0) {
        struct requester asked = {node, talk.token};
        rc = take[talk.kind](service, &asked, &talk);
        free(talk.from.job);
    }
    return rc < 0 ? error_set(err, "a malformed message of the PMIx host of node %" PRIu32, node)
                  : 0;
}

/* ---- life ---- */

struct pmi_service *pmi_service_new(const struct pmi_service_ops *ops, void *arg)
{
    struct pmi_service *service = mem_alloc(sizeof(*service));
    service->ops = ops;
    service->arg = arg;
    return service;
}

void pmi_service_free(struct pmi_service *service)
{
    if (!service)
        return;
    lookups_free(service);
    pmi_service_names_free(service->names.first);
    pmi_service_gather_free(service);
    pmi_service_settle_late(service);
    pmi_service_fetch_free(service);
    pmi_service_queries_free(service);
    while (service->jobs) {
        struct job *next = service->jobs->next;
        namespaces_remove(service, service->jobs);
        job_free(service->jobs);
        service->jobs = next;
    }
    streams_free(service);
    pushes_free(service);
    free(service);
}
