/* The exchange: the manager gathers for several agents and never takes part itself. */
#include "launcher/manager/state.h"

static void exchange_up(void *arg, uint64_t id, uint32_t weight, const void *bytes, size_t len)
{
    (void)arg;
    (void)id;
    (void)weight;
    (void)bytes;
    (void)len;
}

static void exchange_down(void *arg, uint64_t id, const void *bytes, size_t len)
{
    struct manager *manager = arg;
    struct buf payload = BUF_INIT;
    unsigned char head[8];
    frame_put_u64(head, id);
    buf_add(&payload, head, sizeof(head));
    buf_add(&payload, bytes, len);
    struct frame frame = {
        .type = FRAME_FENCE_DOWN, .bytes = buf_bytes(&payload), .len = payload.len};
    tree_send(manager->tree, &frame);
    buf_free(&payload);
}

static void exchange_done(void *arg, uint64_t id, const void *bytes, size_t len)
{
    (void)arg;
    (void)id;
    (void)bytes;
    (void)len;
}

static const struct exchange_ops exchange_ops = {exchange_up, exchange_down, exchange_done};

void fence_open(struct manager *manager)
{
    uint32_t nnodes = manager->layout->nnodes;
    manager->exchange = exchange_new(&exchange_ops, manager, nnodes, nnodes);
}

void fence_take(struct manager *manager, const struct frame *frame)
{
    if (manager->exchange && frame->len >= 8)
        exchange_enter(manager->exchange, frame_get_u64(frame->bytes), frame->rank,
                       (const char *)frame->bytes + 8, frame->len - 8, NULL);
}

/* The earliest number is what everybody needs to know, and of one with barriers of its own that one
 * itself. */
void fence_take_missing(struct manager *manager, const struct frame *frame)
{
    if (frame->len == 8 && frame->flags & FRAME_MISSING_GROUPS) {
        tree_send(manager->tree, frame);
        return;
    }
    if (frame->len != 8 ||
        (manager->missing_told && frame_get_u64(frame->bytes) >= manager->missing))
        return;
    manager->missing_told = true;
    manager->missing = frame_get_u64(frame->bytes);
    tree_send(manager->tree, frame);
}
