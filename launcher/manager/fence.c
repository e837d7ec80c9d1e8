/* The exchange: the manager gathers for several agents and never takes part itself. */
#include "launcher/manager/internal.h"

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
    struct group *group = arg;
    struct buf payload = BUF_INIT;
    unsigned char head[8];
    frame_put_u64(head, id);
    buf_add(&payload, head, sizeof(head));
    buf_add(&payload, bytes, len);
    struct frame frame = {
        .type = FRAME_FENCE_DOWN, .bytes = buf_bytes(&payload), .len = payload.len};
    groups_send(group, &frame);
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

void fence_open(struct group *group)
{
    group->exchange = exchange_new(&exchange_ops, group, group->nnodes, group->nnodes);
}

void fence_take(struct manager *manager, const struct frame *frame)
{
    struct group *group = groups_find(manager, frame->group);
    struct error err = ERROR_INIT;
    if (!group || frame->len < 8)
        return;
    if (exchange_enter(group->exchange, frame_get_u64(frame->bytes), frame->rank,
                       (const char *)frame->bytes + 8, frame->len - 8, &err) < 0 &&
        !manager->terminating) {
        outcome_other(manager->outcome, link_clock(), ERROR_REFUSED, error_text(&err));
        termination_terminate(manager, manager->spec->kill_grace);
    }
    error_clear(&err);
}

/* The earliest number is what everybody needs to know, and of one with barriers of its own that one
 * itself. */
void fence_take_missing(struct manager *manager, const struct frame *frame)
{
    struct group *group = groups_find(manager, frame->group);
    if (!group || frame->len != 8)
        return;
    if (frame->flags & FRAME_MISSING_GROUPS) {
        groups_send(group, frame);
        return;
    }
    bool pmix = frame->flags & FRAME_MISSING_PMIX;
    uint64_t from = frame_get_u64(frame->bytes);
    if (group->missing[pmix].told && from >= group->missing[pmix].from)
        return;
    group->missing[pmix].told = true;
    group->missing[pmix].from = from;
    groups_send(group, frame);
}
