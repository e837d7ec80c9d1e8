/* The program's namespaces. */
#include "pmi-server/service/namespaces.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/protocol/namespace_info.h"

/* ---- which there are ---- */

struct job *namespaces_find(const struct pmi_service *service, const char *name)
{
    struct job *job = service->jobs;
    while (job && strcmp(job->name, name) != 0)
        job = job->next;
    return job;
}

void namespaces_add(struct pmi_service *service, const struct namespace_facts *from)
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
    const struct job *spawner = from->spawner ? namespaces_find(service, from->spawner) : NULL;
    job->next = service->jobs;
    service->jobs = job;
    if (spawner)
        namespaces_tie(service, spawner, job);
}

void namespaces_free_job(struct job *job)
{
    buf_free(&job->description);
    idset_free(job->told);
    idset_free(job->ended);
    taskmap_free(job->map);
    free(job->node);
    free(job->name);
    free(job);
}

struct job *namespaces_take(struct pmi_service *service, const char *name)
{
    struct job **at = &service->jobs, *job;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    if ((job = *at))
        *at = job->next;
    return job;
}

void namespaces_task_ended(struct pmi_service *service, struct job *job, uint32_t rank)
{
    idset_add(job->ended, rank);
    for (const struct service_feature *feature = service->features; feature->name; feature++)
        if (feature->task_ended)
            feature->task_ended(service, job, rank);
}

uint32_t namespaces_node(const struct job *job, uint32_t rank)
{
    return rank < job->map->ntasks ? job->node[taskmap_node(job->map, rank)] : UINT32_MAX;
}

void namespaces_add_nodes(struct idset *nodes, const struct job *job)
{
    for (uint32_t i = 0; i < job->map->nnodes; i++)
        idset_add(nodes, job->node[i]);
}

/* ---- which are connected ---- */

struct bond {
    struct bond *next;
    const struct job *one, *other;
    unsigned times;
};

/* Where it is, or would be. */
static struct bond **find_bond(struct pmi_service *service, const struct job *one,
                               const struct job *other)
{
    struct bond **at = &service->bonds;
    while (*at && !((*at)->one == one && (*at)->other == other) &&
           !((*at)->one == other && (*at)->other == one))
        at = &(*at)->next;
    return at;
}

void namespaces_tie(struct pmi_service *service, const struct job *one, const struct job *other)
{
    struct bond **at = find_bond(service, one, other);
    if (one == other)
        return;
    if (!*at) {
        *at = mem_alloc(sizeof(**at));
        (*at)->one = one;
        (*at)->other = other;
    }
    (*at)->times++;
}

static void cut(struct bond **at)
{
    struct bond *bond = *at;
    *at = bond->next;
    free(bond);
}

void namespaces_untie(struct pmi_service *service, const struct job *one, const struct job *other)
{
    struct bond **at = find_bond(service, one, other);
    if (*at && --(*at)->times == 0)
        cut(at);
}

bool namespaces_tied(const struct pmi_service *service, const struct job *one,
                     const struct job *other)
{
    return *find_bond((struct pmi_service *)(uintptr_t)service, one, other) != NULL;
}

void namespaces_untie_all(struct pmi_service *service, const struct job *job)
{
    struct bond **at = &service->bonds;
    while (*at)
        if ((*at)->one == job || (*at)->other == job)
            cut(at);
        else
            at = &(*at)->next;
}

/* ---- what nodes are told of them ---- */

int namespaces_take_describe(struct pmi_service *service, const struct requester *asked,
                             struct message_up *talk)
{
    struct pack *in = &talk->rest;
    struct buf rest = BUF_INIT;
    enum reply_status status = REPLY_OK;
    uint32_t count = pack_count(in, 4);
    for (uint32_t i = 0; i < count && !in->bad; i++) {
        char *name = pack_get_text(in);
        struct job *job = namespaces_find(service, name);
        free(name);
        if (!job || !job->description.len)
            status = REPLY_NOT_FOUND;
        else if (job->description.len > SERVICE_BYTES_MAX - rest.len)
            status = REPLY_FULL;
        if (status != REPLY_OK)
            continue;
        buf_add(&rest, buf_bytes(&job->description), job->description.len);
        idset_add(job->told, asked->node);
    }
    int rc = pack_ends(in) ? 0 : -1;
    if (rc == 0)
        outbox_reply(service, asked, status, status == REPLY_OK ? &rest : NULL);
    buf_free(&rest);
    return rc;
}

void namespaces_tell_removed(struct pmi_service *service, const struct job *job)
{
    struct buf rest = BUF_INIT;
    pack_put_text(&rest, job->name);
    outbox_order_all(service, job->told, ORDER_REMOVED, &rest);
    buf_free(&rest);
}
