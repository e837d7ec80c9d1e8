/* What the front end orders: signals, stdin, the end. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/clock.h"
#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/manager/internal.h"
#include "launcher/process/signal_name.h"

static void take_input(struct manager *manager, const struct frame *frame)
{
    if (manager->phase == PHASE_RUN)
        tree_send_nodes(manager->tree, manager->input_nodes, frame);
    manager->input_owed += link_weight(frame);
    viewer_settle_input(manager);
}

static void told_to_end(struct manager *manager, int number)
{
    char *line = mem_format("ended by signal %d (%s)", number, strsignal(number));
    outcome_other(manager->outcome, clock_monotonic_ns(), 128 + number, line);
    free(line);
}

/* Where no task has been started there is nothing that they could mean but the end. */
static bool ends_start(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* "while connecting to node[1-3] (1 of 4 hosts has answered)" */
static char *describe_gathering(const struct manager *manager)
{
    struct hostlist *hosts = hostlist_new();
    size_t asked = 0, waiting = 0;
    for (size_t i = 0; i < host_count(manager->hosts); i++) {
        enum host_state state = host_at(manager->hosts, (uint32_t)i)->state;
        bool awaited = state == HOST_STARTING;
        asked += state != HOST_UNUSED;
        waiting += awaited;
        if (awaited)
            hostlist_append(hosts, host_names(manager->hosts)[i]);
    }
    char *names = hostlist_encode(hosts);
    char *text = mem_format("while connecting to %s (%zu of %zu host%s answered)", names,
                            asked - waiting, asked, asked == 1 ? " has" : "s have");
    free(names);
    hostlist_free(hosts);
    return text;
}

/* What goes on instead of the program; caller frees. */
static char *describe_start(const struct manager *manager)
{
    char *held = allocation_queue_describe(manager->queue);
    if (!held)
        return host_awaited(manager->hosts) ? describe_gathering(manager)
                                            : mem_copy_text("before the program started");
    char *text = mem_format("while waiting in line for %s", held);
    free(held);
    return text;
}

static void end_start(struct manager *manager, int number, const char *sender)
{
    char *doing = describe_start(manager);
    char *line = mem_format("ended by %s%s%s %s", signal_name(number), *sender ? " from " : "",
                            sender, doing);
    outcome_other(manager->outcome, clock_monotonic_ns(), 128 + number, line);
    termination_end(manager);
    free(line);
    free(doing);
}

/* A signal that is not always the end is passed on without a word. */
static void stop_program(struct manager *manager, int number, const char *sender)
{
    bool end = ends_start(number);
    char *before = !end               ? NULL
                   : *sender          ? mem_format("told to end by %s: ", sender)
                   : number == SIGINT ? mem_copy_text("") /* whoever sits there knows */
                                      : mem_copy_text("told to end: ");
    if (end)
        outcome_signal_sent(manager->outcome, number);
    graceful_stop_signal(manager->stop, number, before,
                         number == SIGINT    ? "; Ctrl-C again within 1 s ends them"
                         : number == SIGTERM ? "; SIGTERM again within 1 s ends them"
                                             : "");
}

static void front_signal(struct manager *manager, const struct frame *frame)
{
    int number = frame->flags;
    char *sender = mem_copy_text_n(frame->bytes ? frame->bytes : "", frame->len);
    struct frame passed = {.type = FRAME_SIGNAL, .flags = frame->flags};
    if (manager->phase == PHASE_RUN && signal_asks_for_end(number))
        stop_program(manager, number, sender);
    else if (manager->phase == PHASE_RUN)
        tree_send(manager->tree, &passed);
    else if (manager->phase == PHASE_GATHER && ends_start(number))
        end_start(manager, number, sender);
    free(sender);
}

static void on_front_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct manager *manager = arg;
    (void)link;
    switch (frame->type) {
    case FRAME_SIGNAL:
        front_signal(manager, frame);
        break;
    case FRAME_TERMINATE:
        if (frame->flags)
            told_to_end(manager, frame->flags);
        termination_terminate(manager, frame->rank == FRAME_ALL ? INFINITY : frame->rank / 1000.0);
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
        termination_end(manager);
    else
        termination_terminate(manager, AGENT_LOST_GRACE);
}

const struct link_ops viewer_orders_ops = {on_front_frame, on_front_room, on_front_closed, NULL,
                                           NULL};
