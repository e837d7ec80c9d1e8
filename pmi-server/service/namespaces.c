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
static struct bond **find(struct hub *hub, const struct job *one, const struct job *other)
{
    struct bond **at = &hub->bonds;
    while (*at && !((*at)->one == one && (*at)->other == other) &&
           !((*at)->one == other && (*at)->other == one))
        at = &(*at)->next;
    return at;
}

void bonds_tie(struct hub *hub, const struct job *one, const struct job *other)
{
    struct bond **at = find(hub, one, other);
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

void bonds_untie(struct hub *hub, const struct job *one, const struct job *other)
{
    struct bond **at = find(hub, one, other);
    if (*at && --(*at)->times == 0)
        cut(at);
}

bool bonds_tied(const struct hub *hub, const struct job *one, const struct job *other)
{
    return *find((struct hub *)(uintptr_t)hub, one, other) != NULL;
}

void bonds_remove(struct hub *hub, const struct job *job)
{
    struct bond **at = &hub->bonds;
    while (*at)
        if ((*at)->one == job || (*at)->other == job)
            cut(at);
        else
            at = &(*at)->next;
}

/* ---- what nodes are told of them ---- */

static struct job *next_job(const struct hub *hub, struct packet *in)
{
    char *name = packet_text(in);
    struct job *job = hub_job(hub, name);
    free(name);
    return job && job->description.len ? job : NULL;
}

static enum hub_status describe_all(struct hub *hub, uint32_t node, struct packet *in,
                                    struct buf *rest)
{
    enum hub_status status = HUB_OK;
    uint32_t count = packet_count(in, 4);
    for (uint32_t i = 0; i < count && !in->bad; i++) {
        struct job *job = next_job(hub, in);
        if (!job)
            status = HUB_NOT_FOUND;
        else if (job->description.len > HUB_BYTES_MAX - rest->len)
            status = HUB_FULL;
        if (status != HUB_OK)
            continue;
        buf_add(rest, buf_bytes(&job->description), job->description.len);
        idset_add(job->told, node);
    }
    return status;
}

int hub_describe(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct buf rest = BUF_INIT;
    enum hub_status status = describe_all(hub, asked->node, &talk->rest, &rest);
    int rc = packet_ends(&talk->rest) ? 0 : -1;
    if (rc == 0)
        hub_answer(hub, asked, status, status == HUB_OK ? &rest : NULL);
    buf_free(&rest);
    return rc;
}

void hub_describe_removed(struct hub *hub, const struct job *job)
{
    struct buf rest = BUF_INIT;
    packet_put_text(&rest, job->name);
    IDSET_FOREACH(node, job->told)
    hub_order(hub, node, ORDER_REMOVED, &rest);
    buf_free(&rest);
}
