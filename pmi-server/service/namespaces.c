/*
 * Bonds: jobs that are connected.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "pmi-server/service/internal.h"

struct bond {
    struct bond *next;
    const struct job *one, *other;
    unsigned times;
};

/* Where it is, or would be. */
static struct bond **namespaces_find(struct pmi_service *service, const struct job *one,
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
    struct bond **at = namespaces_find(service, one, other);
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
    struct bond **at = namespaces_find(service, one, other);
    if (*at && --(*at)->times == 0)
        cut(at);
}

bool namespaces_tied(const struct pmi_service *service, const struct job *one,
                     const struct job *other)
{
    return *namespaces_find((struct pmi_service *)(uintptr_t)service, one, other) != NULL;
}

void namespaces_remove(struct pmi_service *service, const struct job *job)
{
    struct bond **at = &service->bonds;
    while (*at)
        if ((*at)->one == job || (*at)->other == job)
            cut(at);
        else
            at = &(*at)->next;
}

/* ---- what nodes are told of them ---- */

static struct job *next_job(const struct pmi_service *service, struct pack *in)
{
    char *name = pack_get_text(in);
    struct job *job = pmi_service_job(service, name);
    free(name);
    return job && job->description.len ? job : NULL;
}

static enum reply_status describe_all(struct pmi_service *service, uint32_t node, struct pack *in,
                                      struct buf *rest)
{
    enum reply_status status = REPLY_OK;
    uint32_t count = pack_count(in, 4);
    for (uint32_t i = 0; i < count && !in->bad; i++) {
        struct job *job = next_job(service, in);
        if (!job)
            status = REPLY_NOT_FOUND;
        else if (job->description.len > SERVICE_BYTES_MAX - rest->len)
            status = REPLY_FULL;
        if (status != REPLY_OK)
            continue;
        buf_add(rest, buf_bytes(&job->description), job->description.len);
        idset_add(job->told, node);
    }
    return status;
}

int pmi_service_describe(struct pmi_service *service, const struct requester *asked,
                         struct message_up *talk)
{
    struct buf rest = BUF_INIT;
    enum reply_status status = describe_all(service, asked->node, &talk->rest, &rest);
    int rc = pack_ends(&talk->rest) ? 0 : -1;
    if (rc == 0)
        pmi_service_answer(service, asked, status, status == REPLY_OK ? &rest : NULL);
    buf_free(&rest);
    return rc;
}

void pmi_service_describe_removed(struct pmi_service *service, const struct job *job)
{
    struct buf rest = BUF_INIT;
    pack_put_text(&rest, job->name);
    IDSET_FOREACH(node, job->told)
    pmi_service_order(service, node, ORDER_REMOVED, &rest);
    buf_free(&rest);
}
