/* Rounds of a group's exchange, carried up and down the tree. */
#include "launcher/agent/group_fence.h"

#include <stdlib.h>

#include "base/mem.h"
#include "pmi-server/exchange/exchange.h"

struct group_fence {
    struct uplink *uplink;
    struct downlink *downlink;
    uint32_t group;
    const struct idset *nodes;
    struct exchange *exchange;
    const struct group_fence_ops *ops;
    void *owner;
};

/* ---- what is sent: the number of the round, then the bytes ---- */

_Static_assert(EXCHANGE_MAX + 12 <= FRAME_MAX, "with the number, and that of nodes in a part");

static void pack_round(struct buf *payload, struct frame *frame, const struct group_fence *fence,
                       uint64_t id, const void *bytes, size_t len)
{
    unsigned char head[8];
    frame_put_u64(head, id);
    buf_add(payload, head, sizeof(head));
    buf_add(payload, bytes, len);
    frame->node = uplink_node(fence->uplink);
    frame->group = fence->group;
    frame->bytes = buf_bytes(payload);
    frame->len = payload->len;
}

static void group_fence_send_up(void *arg, uint64_t id, uint32_t weight, const void *bytes,
                                size_t len)
{
    struct group_fence *fence = arg;
    struct frame frame = {.type = FRAME_FENCE_UP, .rank = weight};
    struct buf payload = BUF_INIT;
    pack_round(&payload, &frame, fence, id, bytes, len);
    uplink_send(fence->uplink, &frame);
    buf_free(&payload);
}

static void group_fence_send_down(void *arg, uint64_t id, const void *bytes, size_t len)
{
    struct group_fence *fence = arg;
    struct frame frame = {.type = FRAME_FENCE_DOWN};
    struct buf payload = BUF_INIT;
    pack_round(&payload, &frame, fence, id, bytes, len);
    if (!idset_empty(fence->nodes))
        downlink_send_nodes(fence->downlink, fence->nodes, &frame);
    buf_free(&payload);
}

void group_fence_report_missing(struct group_fence *fence, uint32_t rank, uint64_t from,
                                uint16_t flags)
{
    struct frame frame = {.type = FRAME_MISSING, .flags = flags, .rank = rank};
    struct buf payload = BUF_INIT;
    pack_round(&payload, &frame, fence, from, NULL, 0);
    uplink_send(fence->uplink, &frame);
    buf_free(&payload);
}

static void group_fence_on_done(void *arg, uint64_t id, const void *bytes, size_t len)
{
    struct group_fence *fence = arg;
    fence->ops->done(fence->owner, id, bytes, len);
}

static const struct exchange_ops exchange_ops = {group_fence_send_up, group_fence_send_down,
                                                 group_fence_on_done};

/* ---- what comes ---- */

/* What a bad frame means is the same wherever it came from. */
static void group_fence_check(struct group_fence *fence, int rc, struct error *err)
{
    if (rc < 0)
        fence->ops->failed(fence->owner, err);
    error_clear(err);
}

void group_fence_enter(struct group_fence *fence, uint64_t id, uint32_t nnodes, const void *bytes,
                       size_t len)
{
    struct error err = ERROR_INIT;
    group_fence_check(fence,
                      nnodes ? exchange_enter_part(fence->exchange, id, nnodes, bytes, len, &err)
                             : exchange_enter(fence->exchange, id, 1, bytes, len, &err),
                      &err);
}

void group_fence_up(struct group_fence *fence, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (frame->len >= 8)
        group_fence_check(fence,
                          exchange_enter(fence->exchange, frame_get_u64(frame->bytes), frame->rank,
                                         (const char *)frame->bytes + 8, frame->len - 8, &err),
                          &err);
}

void group_fence_down(struct group_fence *fence, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    if (frame->len >= 8)
        group_fence_check(fence,
                          exchange_complete(fence->exchange, frame_get_u64(frame->bytes),
                                            (const char *)frame->bytes + 8, frame->len - 8, &err),
                          &err);
}

/* ---- life ---- */

struct group_fence *group_fence_new(struct uplink *uplink, struct downlink *downlink,
                                    const struct launch *launch, const struct idset *nodes,
                                    const struct group_fence_ops *ops, void *owner)
{
    struct group_fence *fence = mem_alloc(sizeof(*fence));
    uint32_t weight = 0; /* nodes with tasks at or below this one */
    for (uint32_t i = 0; i < launch->nnodes; i++)
        weight +=
            launch->tree_node[i] == uplink_node(uplink) || idset_has(nodes, launch->tree_node[i]);
    *fence = (struct group_fence){.uplink = uplink,
                                  .downlink = downlink,
                                  .group = launch->group,
                                  .nodes = nodes,
                                  .ops = ops,
                                  .owner = owner};
    fence->exchange = exchange_new(&exchange_ops, fence, launch->nnodes, weight);
    return fence;
}

void group_fence_free(struct group_fence *fence)
{
    if (fence)
        exchange_free(fence->exchange);
    free(fence);
}
