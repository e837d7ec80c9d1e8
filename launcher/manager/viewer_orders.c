/* What the front end orders: signals, stdin, the end. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/manager/internal.h"

static void viewer_on_signal(struct manager *manager, const struct frame *frame)
{
    char *sender = mem_copy_text_n(frame->bytes ? frame->bytes : "", frame->len);
    program_signal(manager->program, frame->flags, sender);
    free(sender);
}

static void viewer_on_terminate(struct manager *manager, const struct frame *frame)
{
    program_terminate(manager->program, frame->rank == FRAME_ALL ? INFINITY : frame->rank / 1000.0,
                      frame->flags);
}

static void viewer_on_stdin(struct manager *manager, const struct frame *frame)
{
    program_input(manager->program, frame);
    manager->viewer.input_owed += link_weight(frame);
    viewer_settle_input(manager);
}

static void (*const orders[])(struct manager *manager, const struct frame *frame) = {
    [FRAME_SIGNAL] = viewer_on_signal,
    [FRAME_TERMINATE] = viewer_on_terminate,
    [FRAME_STDIN] = viewer_on_stdin,
    [FRAME_STDIN_END] = viewer_on_stdin,
};

static void on_front_frame(struct link *link, void *arg, const struct frame *frame)
{
    (void)link;
    if (frame->type < sizeof(orders) / sizeof(orders[0]) && orders[frame->type])
        orders[frame->type](arg, frame);
}

static void on_front_room(struct link *link, void *arg)
{
    (void)link;
    tree_relay_room(((struct manager *)arg)->tree);
}

/* The front end is gone: nobody is there to tell. */
static void on_front_closed(struct link *link, void *arg, const struct error *why)
{
    struct manager *manager = arg;
    (void)why;
    link_free(link);
    manager->viewer.link = NULL;
    tree_relay_room(manager->tree);
    if (manager->finished)
        ev_break(manager->loop, EVBREAK_ALL);
    else
        program_terminate(manager->program, AGENT_LOST_GRACE, 0);
}

const struct link_ops viewer_orders_ops = {on_front_frame, on_front_room, on_front_closed, NULL,
                                           NULL};
