/*
 * Pushes: what tools have tasks read. One is done when all hosts that have some of these tasks say so.
 */
#include <stdlib.h>

#include "affinity/resource/idset.h"
#include "base/mem.h"
#include "pmi-server/hub/inside.h"

struct push {
    struct push *next;
    uint64_t number;
    struct asked asked;
    struct idset *nodes; /* whose hosts have yet to say something */
    enum hub_status status;
};

/* ---- asked ---- */

static unsigned count_of(const struct hub *hub, uint32_t node)
{
    unsigned count = 0;
    for (const struct push *push = hub->pushes; push; push = push->next)
        count += push->asked.node == node;
    return count;
}

static void add_nodes(struct idset *nodes, const struct job *job, uint32_t rank)
{
    for (uint32_t i = 0; rank == HUB_ALL && i < job->map->nnodes; i++)
        idset_add(nodes, job->node[i]);
    if (rank != HUB_ALL)
        idset_add(nodes, hub_node(job, rank));
}

/* Where they are; `status` when there is something wrong. */
static struct idset *read_nodes(const struct hub *hub, struct packet *in, enum hub_status *status)
{
    struct idset *nodes = idset_new();
    size_t len;
    uint32_t nprocs = packet_count(in, 8);
    for (uint32_t i = 0; i < nprocs; i++) {
        struct hub_proc proc = talk_proc(in);
        const struct job *job = hub_job(hub, proc.job);
        if (!job)
            *status = HUB_NOT_FOUND;
        else if (proc.rank != HUB_ALL && hub_node(job, proc.rank) == UINT32_MAX)
            *status = HUB_BAD;
        else
            add_nodes(nodes, job, proc.rank);
        free(proc.job);
    }
    packet_u8(in);
    packet_bytes(in, &len);
    if (len > HUB_PUSH_MAX)
        in->bad = true;
    return nodes;
}

static void send(struct hub *hub, struct idset *nodes, const void *bytes, size_t len)
{
    struct push *push = hub->pushes;
    struct buf rest = BUF_INIT;
    packet_put_u64(&rest, push->number);
    buf_add(&rest, bytes, len);
    IDSET_FOREACH(node, nodes)
    hub_order(hub, node, ORDER_PUSH, &rest);
    buf_free(&rest);
}

int push_asked(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    enum hub_status status = HUB_OK;
    const void *bytes = talk->rest.at;
    size_t len = talk->rest.left;
    struct idset *nodes = read_nodes(hub, &talk->rest, &status);
    bool good = packet_ends(&talk->rest);
    if (status == HUB_OK && count_of(hub, asked->node) == HUB_PUSHES)
        status = HUB_NOT_PERMITTED;
    if (status == HUB_OK && idset_empty(nodes))
        status = HUB_BAD;
    if (good && status == HUB_OK) {
        struct push *push = mem_alloc(sizeof(*push));
        *push = (struct push){hub->pushes, ++hub->npushes, *asked, idset_copy(nodes), HUB_OK};
        hub->pushes = push;
        send(hub, nodes, bytes, len);
    } else if (good) {
        hub_answer(hub, asked, status, NULL);
    }
    idset_free(nodes);
    return good ? 0 : -1;
}

/* ---- done ---- */

static void push_free(struct push *push)
{
    idset_free(push->nodes);
    free(push);
}

int push_done(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    uint64_t number = packet_u64(&talk->rest);
    uint8_t status = packet_u8(&talk->rest);
    struct push **at = &hub->pushes, *push;
    if (!packet_ends(&talk->rest) || status >= HUB_NSTATUS)
        return -1;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    if (!(push = *at) || !idset_has(push->nodes, asked->node))
        return -1;
    idset_remove(push->nodes, asked->node);
    if (status != HUB_OK)
        push->status = status;
    if (!idset_empty(push->nodes))
        return 0;
    *at = push->next;
    hub_answer(hub, &push->asked, push->status, NULL);
    push_free(push);
    return 0;
}

void pushes_free(struct hub *hub)
{
    while (hub->pushes) {
        struct push *next = hub->pushes->next;
        push_free(hub->pushes);
        hub->pushes = next;
    }
}
