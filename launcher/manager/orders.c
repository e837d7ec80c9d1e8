/* What the front end orders: signals, stdin, the end. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/manager/state.h"

static void take_input(struct manager *manager, const struct frame *frame)
{
    if (manager->phase == PHASE_RUN)
        tree_send_nodes(manager->tree, manager->input_nodes, frame);
    manager->input_owed += link_weight(frame);
    viewer_settle_input(manager);
}

static void told_to_end(struct manager *manager, int number, const char *when)
{
    char *line = mem_format("ended by signal %d (%s)%s", number, strsignal(number), when);
    verdict_other(manager->verdict, link_clock(), 128 + number, line);
    free(line);
}

static void front_signal(struct manager *manager, int number)
{
    struct frame frame = {.type = FRAME_SIGNAL, .flags = (uint16_t)number};
    if (manager->phase == PHASE_RUN) {
        tree_send(manager->tree, &frame);
    } else if (manager->phase == PHASE_GATHER &&
               (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT)) {
        told_to_end(manager, number, " before the program started");
        finish_end(manager);
    }
}

static void on_front_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct manager *manager = arg;
    (void)link;
    switch (frame->type) {
    case FRAME_SIGNAL:
        front_signal(manager, frame->flags);
        break;
    case FRAME_TERMINATE:
        if (frame->flags)
            told_to_end(manager, frame->flags, "");
        finish_terminate(manager, frame->rank == FRAME_ALL ? INFINITY : frame->rank / 1000.0);
        break;
    case FRAME_STDIN:
    case FRAME_STDIN_END:
        take_input(manager, frame);
        break;
    default:
        break;
    }
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
    manager->front = NULL;
    tree_relay_room(manager->tree);
    if (manager->finished)
        ev_break(manager->loop, EVBREAK_ALL);
    else if (manager->phase == PHASE_GATHER)
        finish_end(manager);
    else
        finish_terminate(manager, AGENT_LOST_GRACE);
}

const struct link_ops orders_ops = {on_front_frame, on_front_room, on_front_closed, NULL, NULL};
