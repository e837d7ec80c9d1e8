/* Tasks that were told to end: what is said of it, and how long those that are left may go on. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/process/signal_name.h"

#define ANSWER_PATIENCE 0.3 /* s for agents to say how many tasks they have sent a signal to */
#define WAIT_SILENT 0.5     /* s after the first exit in which nothing is said: most end at once */

/* ---- how many ---- */

/* Of agents that have not answered yet, what they were to start. */
static uint32_t count_running(const struct manager *manager)
{
    struct idset *pending = task_groups_pending(manager->groups);
    uint32_t count = 0;
    IDSET_FOREACH(node, pending)
    {
        uint32_t known = manager->stop.running[node];
        count += known == UINT32_MAX ? task_groups_pending_on(manager->groups, node) : known;
    }
    idset_free(pending);
    return count;
}

/* ---- what is said ---- */

static void say_sent(struct manager *manager)
{
    struct graceful_stop *stop = &manager->stop;
    uint32_t count = count_running(manager);
    ev_timer_stop(manager->loop, &stop->answer);
    if (!stop->before)
        return;
    char *line = mem_format("%ssent %s to %u task%s%s", stop->before, signal_name(stop->number),
                            count, count == 1 ? "" : "s", stop->after);
    viewer_note(manager, line);
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
    struct manager *manager = timer->data;
    const struct graceful_stop *stop = &manager->stop;
    uint32_t count = count_running(manager);
    (void)loop;
    (void)events;
    if (!count || manager->phase != PHASE_RUN)
        return;
    char *line =
        isinf(stop->grace)
            ? mem_format("%swaiting for %u task%s to end after %s", stop->reason, count,
                         count == 1 ? "" : "s", signal_name(stop->number))
            : mem_format("%swaiting up to %g s for %u task%s to end after %s", stop->reason,
                         stop->grace, count, count == 1 ? "" : "s", signal_name(stop->number));
    viewer_note(manager, line);
    free(line);
}

static void graceful_stop_on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    const struct graceful_stop *stop = &manager->stop;
    uint32_t count = count_running(manager);
    (void)loop;
    (void)events;
    if (!count) /* what tasks left behind is their agents' business */
        return;
    char *line = mem_format("%u task%s did not end within %g s of the first exit after %s: killed",
                            count, count == 1 ? "" : "s", stop->grace, signal_name(stop->number));
    outcome_always(manager->outcome, clock_monotonic_ns(), 128 + stop->number, line);
    termination_terminate(manager, 0);
    free(line);
}

/* ---- what happens ---- */

static void graceful_stop_begin(struct manager *manager, int number)
{
    struct graceful_stop *stop = &manager->stop;
    stop->number = number;
    if (stop->running)
        return;
    stop->running = mem_array(manager->nodes->count, sizeof(*stop->running));
    for (size_t i = 0; i < manager->nodes->count; i++)
        stop->running[i] = UINT32_MAX;
}

static void graceful_stop_start_waiting(struct manager *manager, const char *reason, double grace)
{
    struct graceful_stop *stop = &manager->stop;
    stop->waiting = true;
    stop->grace = grace;
    stop->reason = reason;
    ev_timer_set(&stop->say, WAIT_SILENT, 0);
    ev_timer_start(manager->loop, &stop->say);
}

void graceful_stop_signal(struct manager *manager, int number, char *before, const char *after)
{
    struct graceful_stop *stop = &manager->stop;
    struct frame frame = {
        .type = FRAME_SIGNAL, .flags = (uint16_t)number, .rank = FRAME_SIGNAL_END};
    graceful_stop_begin(manager, number);
    free(stop->before);
    stop->before = before;
    stop->after = after;
    idset_free(stop->asked);
    stop->asked = task_groups_pending(manager->groups);
    ev_timer_stop(manager->loop, &stop->answer);
    ev_timer_set(&stop->answer, ANSWER_PATIENCE, 0);
    ev_timer_start(manager->loop, &stop->answer);
    tree_send(manager->tree, &frame);
}

void graceful_stop_terminated(struct manager *manager, const char *reason, double grace)
{
    graceful_stop_begin(manager, SIGTERM);
    ev_timer_stop(manager->loop, &manager->stop.deadline);
    graceful_stop_start_waiting(manager, reason, grace);
}

void graceful_stop_exited(struct manager *manager)
{
    struct graceful_stop *stop = &manager->stop;
    double grace = manager->spec->stop_grace;
    if (!stop->number || stop->waiting || manager->terminating)
        return;
    graceful_stop_start_waiting(manager, "", grace);
    if (isinf(grace))
        return;
    ev_timer_set(&stop->deadline, grace, 0);
    ev_timer_start(manager->loop, &stop->deadline);
}

bool graceful_stop_explains(const struct manager *manager, const char *why)
{
    return manager->stop.number && (strcmp(why, "exit") == 0 || strcmp(why, "signal") == 0 ||
                                    strcmp(why, "unfinalized") == 0 || strcmp(why, "pmi") == 0);
}

void graceful_stop_take(struct manager *manager, const struct frame *frame)
{
    struct graceful_stop *stop = &manager->stop;
    if (!stop->number || frame->node >= manager->nodes->count)
        return;
    stop->running[frame->node] = frame->rank;
    if (!(frame->flags & FRAME_RUNNING_FIRST)) {
        graceful_stop_exited(manager);
    } else if (stop->asked) {
        idset_remove(stop->asked, frame->node);
        if (idset_empty(stop->asked))
            say_sent(manager);
    }
}

/* ---- life ---- */

void graceful_stop_open(struct manager *manager)
{
    struct graceful_stop *stop = &manager->stop;
    ev_timer_init(&stop->answer, on_answer, 0, 0);
    ev_timer_init(&stop->say, on_say, 0, 0);
    ev_timer_init(&stop->deadline, graceful_stop_on_deadline, 0, 0);
    stop->answer.data = stop->say.data = stop->deadline.data = manager;
}

void graceful_stop_over(struct manager *manager)
{
    struct graceful_stop *stop = &manager->stop;
    if (ev_is_active(&stop->answer)) /* all have ended at once */
        say_sent(manager);
    ev_timer_stop(manager->loop, &stop->say);
    ev_timer_stop(manager->loop, &stop->deadline);
}

void graceful_stop_close(struct manager *manager)
{
    struct graceful_stop *stop = &manager->stop;
    free(stop->before);
    free(stop->running);
    idset_free(stop->asked);
}
