/* Tasks that were asked to end: what is shown of it, and how long those that are left may go on. */
#include "launcher/program/graceful_stop.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/process/signal_name.h"

#define ANSWER_PATIENCE 0.3 /* s for agents to say how many tasks they have sent a signal to */
#define WAIT_SILENT 0.5     /* s after the first exit in which nothing is said: most end at once */

struct graceful_stop {
    struct ev_loop *loop;
    struct tree *tree;
    struct task_groups *groups;
    uint32_t nnodes;
    double kill_grace;
    const struct graceful_stop_ops *ops;
    void *owner;
    int number;   /* of the signal; 0: none was sent */
    char *before; /* of the line about it; NULL: it was shown, or is not to be */
    const char *after;
    struct idset *asked; /* nodes that have not said how many they have sent it to */
    uint32_t sent;       /* how many the others have */
    uint32_t *running;   /* [nnodes] tasks; UINT32_MAX: not known */
    bool waiting;        /* some task has ended since */
    bool over;           /* no longer by a signal alone */
    const char *reason;  /* before the line that says that others are waited for */
    double grace;        /* that they have */
    ev_timer answer, say, deadline;
};

/* ---- how many ---- */

/* Of agents that have not answered yet, what they were to start. */
static uint32_t count_running(const struct graceful_stop *stop)
{
    struct idset *pending = task_groups_pending(stop->groups);
    uint32_t count = 0;
    IDSET_FOREACH(node, pending)
    {
        uint32_t known = stop->running[node];
        count += known == UINT32_MAX ? task_groups_pending_on(stop->groups, node) : known;
    }
    idset_free(pending);
    return count;
}

/* ---- what is said ---- */

/* A task of which that was said may have ended since. */
static uint32_t count_sent(const struct graceful_stop *stop)
{
    struct idset *pending = task_groups_pending(stop->groups);
    uint32_t count = stop->sent;
    IDSET_FOREACH(node, pending)
    {
        if (stop->asked && idset_has(stop->asked, node))
            count += task_groups_pending_on(stop->groups, node);
    }
    idset_free(pending);
    return count;
}

static void say_sent(struct graceful_stop *stop)
{
    uint32_t count = count_sent(stop);
    ev_timer_stop(stop->loop, &stop->answer);
    if (!stop->before)
        return;
    char *line = mem_format("%ssent %s to %u task%s%s", stop->before, signal_name(stop->number),
                            count, count == 1 ? "" : "s", stop->after);
    if (count) /* else all have ended by themselves */
        stop->ops->note(stop->owner, line);
    free(line);
    free(stop->before);
    stop->before = NULL;
}

static void on_answer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    say_sent(timer->data);
}

static void on_say(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct graceful_stop *stop = timer->data;
    uint32_t count = count_running(stop);
    (void)loop;
    (void)events;
    if (!count)
        return;
    char *line =
        isinf(stop->grace)
            ? mem_format("%swaiting for %u task%s to end after %s", stop->reason, count,
                         count == 1 ? "" : "s", signal_name(stop->number))
            : mem_format("%swaiting up to %g s for %u task%s to end after %s", stop->reason,
                         stop->grace, count, count == 1 ? "" : "s", signal_name(stop->number));
    stop->ops->note(stop->owner, line);
    free(line);
}

static void graceful_stop_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct graceful_stop *stop = timer->data;
    uint32_t count = count_running(stop);
    (void)loop;
    (void)events;
    if (!count) /* what tasks left behind is their agents' business */
        return;
    char *line = mem_format("%u task%s did not end within %g s of the first exit after %s: killed",
                            count, count == 1 ? "" : "s", stop->grace, signal_name(stop->number));
    stop->ops->expired(stop->owner, 128 + stop->number, line);
    free(line);
}

/* ---- what happens ---- */

static void graceful_stop_begin(struct graceful_stop *stop, int number)
{
    stop->number = number;
    if (stop->running)
        return;
    stop->running = mem_array(stop->nnodes, sizeof(*stop->running));
    for (size_t i = 0; i < stop->nnodes; i++)
        stop->running[i] = UINT32_MAX;
}

static void graceful_stop_start_waiting(struct graceful_stop *stop, const char *reason,
                                        double grace)
{
    stop->waiting = true;
    stop->grace = grace;
    stop->reason = reason;
    ev_timer_set(&stop->say, WAIT_SILENT, 0);
    ev_timer_start(stop->loop, &stop->say);
}

void graceful_stop_expect(struct graceful_stop *stop, int number, char *before, const char *after)
{
    if (!stop) {
        free(before);
        return;
    }
    graceful_stop_begin(stop, number);
    free(stop->before);
    stop->before = before;
    stop->after = after;
    idset_free(stop->asked);
    stop->asked = task_groups_pending(stop->groups);
    stop->sent = 0;
    ev_timer_stop(stop->loop, &stop->answer);
    ev_timer_set(&stop->answer, ANSWER_PATIENCE, 0);
    ev_timer_start(stop->loop, &stop->answer);
}

void graceful_stop_signal(struct graceful_stop *stop, int number, char *before, const char *after)
{
    struct frame frame = {
        .type = FRAME_SIGNAL, .flags = (uint16_t)number, .rank = FRAME_SIGNAL_END};
    graceful_stop_expect(stop, number, before, after);
    if (stop)
        tree_send(stop->tree, &frame);
}

void graceful_stop_terminated(struct graceful_stop *stop, const char *reason, double grace)
{
    if (!stop)
        return;
    graceful_stop_begin(stop, SIGTERM);
    ev_timer_stop(stop->loop, &stop->deadline);
    graceful_stop_start_waiting(stop, reason, grace);
}

void graceful_stop_exited(struct graceful_stop *stop)
{
    if (!stop || !stop->number || stop->waiting || stop->over)
        return;
    graceful_stop_start_waiting(stop, "", stop->kill_grace);
    if (isinf(stop->kill_grace))
        return;
    ev_timer_set(&stop->deadline, stop->kill_grace, 0);
    ev_timer_start(stop->loop, &stop->deadline);
}

bool graceful_stop_explains(const struct graceful_stop *stop, const char *why)
{
    return stop && stop->number &&
           (strcmp(why, "exit") == 0 || strcmp(why, "signal") == 0 ||
            strcmp(why, "unfinalized") == 0 || strcmp(why, "pmi") == 0);
}

void graceful_stop_count(struct graceful_stop *stop, const struct frame *frame)
{
    if (!stop || !stop->number || frame->node >= stop->nnodes)
        return;
    stop->running[frame->node] = frame->rank;
    if (!(frame->flags & FRAME_RUNNING_FIRST)) {
        graceful_stop_exited(stop);
    } else if (stop->asked) {
        if (idset_has(stop->asked, frame->node))
            stop->sent += frame->rank;
        idset_remove(stop->asked, frame->node);
        if (idset_empty(stop->asked))
            say_sent(stop);
    }
}

/* ---- life ---- */

struct graceful_stop *graceful_stop_new(struct ev_loop *loop, struct tree *tree,
                                        struct task_groups *groups, uint32_t nnodes, double grace,
                                        const struct graceful_stop_ops *ops, void *owner)
{
    struct graceful_stop *stop = mem_alloc(sizeof(*stop));
    *stop = (struct graceful_stop){.loop = loop,
                                   .tree = tree,
                                   .groups = groups,
                                   .nnodes = nnodes,
                                   .kill_grace = grace,
                                   .ops = ops,
                                   .owner = owner};
    ev_timer_init(&stop->answer, on_answer, 0, 0);
    ev_timer_init(&stop->say, on_say, 0, 0);
    ev_timer_init(&stop->deadline, graceful_stop_on_deadline, 0, 0);
    stop->answer.data = stop->say.data = stop->deadline.data = stop;
    return stop;
}

void graceful_stop_over(struct graceful_stop *stop)
{
    if (!stop)
        return;
    stop->over = true;
    if (ev_is_active(&stop->answer)) /* all have ended at once */
        say_sent(stop);
    ev_timer_stop(stop->loop, &stop->say);
    ev_timer_stop(stop->loop, &stop->deadline);
}

void graceful_stop_free(struct graceful_stop *stop)
{
    if (!stop)
        return;
    ev_timer_stop(stop->loop, &stop->answer);
    ev_timer_stop(stop->loop, &stop->say);
    ev_timer_stop(stop->loop, &stop->deadline);
    free(stop->before);
    free(stop->running);
    idset_free(stop->asked);
    free(stop);
}
