/* The link to the parent, for all that an agent has to say. */
#include "launcher/agent/uplink.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct uplink {
    struct ev_loop *loop;
    struct link *link; /* NULL once lost */
    uint32_t node;
    const struct uplink_ops *ops;
    void *owner;
    int held; /* another descriptor of the link; -1: none */
};

static void uplink_on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct uplink *uplink = arg;
    (void)link;
    uplink->ops->frame(uplink->owner, frame);
}

static void uplink_on_room(struct link *link, void *arg)
{
    struct uplink *uplink = arg;
    (void)link;
    uplink->ops->room(uplink->owner);
}

static void uplink_on_closed(struct link *link, void *arg, const struct error *why)
{
    (void)link;
    (void)why;
    uplink_lose(arg);
}

static const struct link_ops link_ops = {uplink_on_frame, uplink_on_room, uplink_on_closed, NULL,
                                         NULL};

struct uplink *uplink_new(struct ev_loop *loop, int in, int out, const struct uplink_ops *ops,
                          void *owner)
{
    struct uplink *uplink = mem_alloc(sizeof(*uplink));
    *uplink = (struct uplink){.loop = loop, .ops = ops, .owner = owner, .held = -1};
    uplink->link = link_new(loop, in, out, &link_ops, uplink);
    return uplink;
}

void uplink_free(struct uplink *uplink)
{
    if (!uplink)
        return;
    uplink_release(uplink);
    link_free(uplink->link);
    free(uplink);
}

void uplink_greet(struct uplink *uplink)
{
    if (uplink->link)
        link_greet(uplink->link);
}

void uplink_move(struct uplink *uplink, int fd)
{
    link_free(uplink->link);
    ev_now_update(uplink->loop);
    uplink->link = link_new(uplink->loop, fd, fd, &link_ops, uplink);
    link_greet(uplink->link);
}

void uplink_set_node(struct uplink *uplink, uint32_t node)
{
    uplink->node = node;
}

uint32_t uplink_node(const struct uplink *uplink)
{
    return uplink->node;
}

void uplink_send(struct uplink *uplink, const struct frame *frame)
{
    if (uplink->link)
        link_send(uplink->link, frame);
}

void uplink_send_json(struct uplink *uplink, struct frame frame, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    frame.bytes = text;
    frame.len = text ? strlen(text) : 0;
    uplink_send(uplink, &frame);
    json_decref(value);
    free(text);
}

void uplink_note(struct uplink *uplink, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    struct frame frame = {
        .type = FRAME_NOTE, .node = uplink->node, .bytes = buf_bytes(&text), .len = text.len};
    uplink_send(uplink, &frame);
    buf_free(&text);
}

size_t uplink_room(const struct uplink *uplink)
{
    return uplink->link ? link_room(uplink->link) : 0;
}

void uplink_consumed(struct uplink *uplink, size_t bytes)
{
    if (uplink->link)
        link_consumed(uplink->link, bytes);
}

void uplink_watch(struct uplink *uplink, double timeout)
{
    if (uplink->link)
        link_watch(uplink->link, timeout);
}

void uplink_flush(struct uplink *uplink)
{
    if (uplink->link)
        link_flush(uplink->link, 0);
}

struct link *uplink_link(const struct uplink *uplink)
{
    return uplink->link;
}

void uplink_hold(struct uplink *uplink)
{
    uplink_release(uplink);
    uplink->held = uplink->link ? link_duplicate(uplink->link) : -1;
}

void uplink_release(struct uplink *uplink)
{
    if (uplink->held >= 0)
        close(uplink->held);
    uplink->held = -1;
}

void uplink_end(struct uplink *uplink)
{
    if (uplink->link)
        link_shutdown(uplink->link);
}

bool uplink_is_lost(const struct uplink *uplink)
{
    return !uplink->link;
}

bool uplink_is_ended(const struct uplink *uplink)
{
    return !uplink->link || link_is_ended(uplink->link);
}

void uplink_lose(struct uplink *uplink)
{
    if (!uplink->link)
        return;
    link_free(uplink->link);
    uplink->link = NULL;
    uplink->ops->lost(uplink->owner);
}
