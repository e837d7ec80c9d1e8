/* The end of all tasks of this node, and of what they left behind. */
#include "launcher/agent/task_termination.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/process/descendants.h"

#define KILL_PERIOD 0.05 /* s between rounds of KILL: what was born meanwhile is found */
#define KILL_ROUNDS 60   /* 3 s of them; what is left then is named, and not waited for */
#define RECOUNT 0.2      /* s between counts of the tasks that are left */

struct task_termination {
    struct task_termination_config config;
    const struct task_termination_ops *ops;
    void *owner;
    bool on;
    bool for_leftovers; /* only because of what tasks left behind */
    ev_timer leftover_timeout;
    ev_timer killer;
    double kill_at;
    uint32_t kills;   /* rounds of SIGKILL */
    bool given_up;    /* what outlives SIGKILL is not waited for any more */
    bool counting;    /* tasks were told to end: the manager hears how many are left */
    uint32_t counted; /* what it heard last */
    ev_timer recount;
};

/* ---- TERM and KILL ---- */

bool task_termination_has_leftovers(const struct task_termination *termination)
{
    size_t count = 0;
    const pid_t *pids = downlink_pids(termination->config.downlink, &count);
    return !termination->given_up &&
           (descendants_signal(0, pids, count) || cgroup_populated(termination->config.cgroup));
}

/* What is left may not be signalled, being another user's, or waits for hardware. */
static void give_up(struct task_termination *termination)
{
    char *left = task_signals_survivors(termination->config.signals);
    char *text = mem_format("cannot end process %s: still there %g s after SIGKILL", left,
                            KILL_PERIOD * KILL_ROUNDS);
    struct frame frame = {.type = FRAME_SURVIVORS,
                          .node = uplink_node(termination->config.uplink),
                          .bytes = text,
                          .len = strlen(text)};
    uplink_send(termination->config.uplink, &frame);
    termination->given_up = true;
    termination->ops->give_up(termination->owner);
    free(text);
    free(left);
}

static void on_kill_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct task_termination *termination = timer->data;
    (void)loop, (void)events;
    if (clock_monotonic_seconds() < termination->kill_at)
        return;
    task_signals_kill(termination->config.signals);
    if (++termination->kills == KILL_ROUNDS && task_termination_has_leftovers(termination))
        give_up(termination);
}

void task_termination_start(struct task_termination *termination, double grace)
{
    double at = clock_monotonic_seconds() + grace;
    if (termination->on && at >= termination->kill_at) {
        termination->for_leftovers = false;
        return;
    }
    bool first = !termination->on;
    termination->on = true;
    termination->for_leftovers = false;
    termination->kill_at = at;
    if (first && grace > 0)
        task_signals_terminate(termination->config.signals);
    else if (grace <= 0)
        task_signals_kill(termination->config.signals);
    if (!first)
        return;
    termination->kills = 0;
    termination->given_up = false;
    ev_timer_start(termination->config.loop, &termination->killer);
}

bool task_termination_is_on(const struct task_termination *termination)
{
    return termination->on;
}

bool task_termination_gave_up(const struct task_termination *termination)
{
    return termination->given_up;
}

/* ---- leftovers ---- */

void task_termination_end_leftovers(struct task_termination *termination, double grace)
{
    if (termination->on)
        return;
    task_termination_start(termination, grace);
    termination->for_leftovers = true;
}

bool task_termination_is_for_leftovers(const struct task_termination *termination)
{
    return termination->for_leftovers;
}

void task_termination_nothing_left(struct task_termination *termination)
{
    ev_timer_stop(termination->config.loop, &termination->killer);
    if (termination->for_leftovers)
        termination->for_leftovers = termination->on = false;
}

static void on_leftover_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events; /* the turn that it makes is enough */
}

void task_termination_look_again(struct task_termination *termination, double seconds)
{
    struct ev_loop *loop = termination->config.loop;
    ev_timer *timer = &termination->leftover_timeout;
    if (ev_is_active(timer) && ev_timer_remaining(loop, timer) <= seconds)
        return;
    ev_timer_stop(loop, timer);
    ev_timer_set(timer, seconds, 0);
    ev_timer_start(loop, timer);
}

/* ---- how many are left ---- */

static void send_count(struct task_termination *termination, bool first)
{
    struct frame frame = {.type = FRAME_RUNNING,
                          .flags = first ? FRAME_RUNNING_FIRST : 0,
                          .node = uplink_node(termination->config.uplink),
                          .rank = termination->counted};
    uplink_send(termination->config.uplink, &frame);
}

/* The manager says who is waited for: it hears at once when the first task ends, and then now and
 * then. */
void task_termination_recount(struct task_termination *termination)
{
    if (!termination->counting || ev_is_active(&termination->recount))
        return;
    uint32_t count = termination->ops->count(termination->owner);
    if (count == termination->counted)
        return;
    termination->counted = count;
    send_count(termination, false);
    ev_timer_set(&termination->recount, RECOUNT, 0);
    ev_timer_start(termination->config.loop, &termination->recount);
}

static void on_recount(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    task_termination_recount(timer->data);
}

void task_termination_count_down(struct task_termination *termination)
{
    termination->counting = true;
    termination->counted = termination->ops->count(termination->owner);
    send_count(termination, true);
}

bool task_termination_counts_down(const struct task_termination *termination)
{
    return termination->counting;
}

/* ---- life ---- */

struct task_termination *task_termination_new(const struct task_termination_config *config,
                                              const struct task_termination_ops *ops, void *owner)
{
    struct task_termination *termination = mem_alloc(sizeof(*termination));
    *termination = (struct task_termination){.config = *config, .ops = ops, .owner = owner};
    ev_timer_init(&termination->leftover_timeout, on_leftover_timeout, 0, 0);
    ev_timer_init(&termination->killer, on_kill_time, KILL_PERIOD, KILL_PERIOD);
    ev_timer_init(&termination->recount, on_recount, 0, 0);
    termination->killer.data = termination->recount.data = termination;
    return termination;
}

void task_termination_free(struct task_termination *termination)
{
    if (!termination)
        return;
    ev_timer_stop(termination->config.loop, &termination->leftover_timeout);
    ev_timer_stop(termination->config.loop, &termination->killer);
    ev_timer_stop(termination->config.loop, &termination->recount);
    free(termination);
}
