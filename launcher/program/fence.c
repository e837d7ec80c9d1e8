/* The exchange of a task group: the manager gathers for several agents and never takes part itself. */
#include "launcher/program/fence.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pmi-server/exchange/exchange.h"

struct fence {
    const struct fence_ops *ops;
    void *owner;
    struct exchange *exchange;
    struct {
        bool reported; /* some rank will enter none from this number on */
        uint64_t from;
    } missing[2]; /* PMI barriers, PMIx fences */
};

static void fence_exchange_up(void *arg, uint64_t id, uint32_t weight, const void *bytes,
                              size_t len)
{
    (void)arg;
    (void)id;
    (void)weight;
    (void)bytes;
    (void)len;
}

static void fence_exchange_down(void *arg, uint64_t id, const void *bytes, size_t len)
{
    struct fence *fence = arg;
    struct buf payload = BUF_INIT;
    unsigned char head[8];
    frame_put_u64(head, id);
    buf_add(&payload, head, sizeof(head));
    buf_add(&payload, bytes, len);
    struct frame frame = {
        .type = FRAME_FENCE_DOWN, .bytes = buf_bytes(&payload), .len = payload.len};
    fence->ops->send(fence->owner, &frame);
    buf_free(&payload);
}

static void fence_exchange_done(void *arg, uint64_t id, const void *bytes, size_t len)
{
    (void)arg;
    (void)id;
    (void)bytes;
    (void)len;
}

static const struct exchange_ops exchange_ops = {fence_exchange_up, fence_exchange_down,
                                                 fence_exchange_done};

struct fence *fence_new(uint32_t nnodes, const struct fence_ops *ops, void *owner)
{
    struct fence *fence = mem_alloc(sizeof(*fence));
    fence->ops = ops;
    fence->owner = owner;
    fence->exchange = exchange_new(&exchange_ops, fence, nnodes, nnodes);
    return fence;
}

void fence_free(struct fence *fence)
{
    if (!fence)
        return;
    exchange_free(fence->exchange);
    free(fence);
}

int fence_enter(struct fence *fence, const struct frame *frame, struct error *err)
{
    if (frame->len < 8)
        return 0;
    return exchange_enter(fence->exchange, frame_get_u64(frame->bytes), frame->rank,
                          (const char *)frame->bytes + 8, frame->len - 8, err);
}

/* The earliest number is what everybody needs to know, and of one with barriers of its own that one
 * itself. */
void fence_missing(struct fence *fence, const struct frame *frame)
{
    if (frame->len != 8)
        return;
    if (!(frame->flags & FRAME_MISSING_GROUPS)) {
        bool pmix = frame->flags & FRAME_MISSING_PMIX;
        uint64_t from = frame_get_u64(frame->bytes);
        if (fence->missing[pmix].reported && from >= fence->missing[pmix].from)
            return;
        fence->missing[pmix].reported = true;
        fence->missing[pmix].from = from;
    }
    fence->ops->send(fence->owner, frame);
}
