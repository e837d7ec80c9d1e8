/*
 * task_termination - all tasks of this node ended: TERM, grace, KILL; and the proof that nothing is
 * left.
 *
 * What a task left running is ended in the same way, as leftovers, once no task is left. What
 * outlives SIGKILL is named to the manager after some rounds, and not waited for.
 */
#ifndef LAUNCHER_AGENT_TASK_TERMINATION_H
#define LAUNCHER_AGENT_TASK_TERMINATION_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/agent/downlink.h"
#include "launcher/agent/task_signals.h"
#include "launcher/agent/uplink.h"
#include "launcher/process/cgroup.h"

struct task_termination;

struct task_termination_ops {
    uint32_t (*count)(void *owner); /* tasks that run */
    void (*give_up)(void *owner);   /* tasks that still run outlive SIGKILL: do not wait for them */
};

struct task_termination_config { /* all borrowed */
    struct ev_loop *loop;
    struct uplink *uplink;
    struct downlink *downlink;
    struct task_signals *signals;
    struct cgroup *cgroup;
};

struct task_termination *task_termination_new(const struct task_termination_config *config,
                                              const struct task_termination_ops *ops, void *owner);
void task_termination_free(struct task_termination *termination);

/* TERM now, and KILL after `grace` seconds; a shorter grace takes the place of a longer one. */
void task_termination_start(struct task_termination *termination, double grace);
bool task_termination_is_on(const struct task_termination *termination);

/* Tasks were told to end: say how many run, and from now on how many are left. How they end is no
 * failure that others have to end for. */
void task_termination_count_down(struct task_termination *termination);
bool task_termination_counts_down(const struct task_termination *termination);
void task_termination_recount(struct task_termination *termination); /* a task has ended */

/* ---- what tasks left behind ---- */

/* Whether any process is left that is waited for. */
bool task_termination_has_leftovers(const struct task_termination *termination);
void task_termination_end_leftovers(struct task_termination *termination, double grace);
bool task_termination_is_for_leftovers(const struct task_termination *termination);
/* There are none: nothing is ended any more. A termination that was for tasks stays on. */
void task_termination_nothing_left(struct task_termination *termination);
/* Make a turn of the loop in so many seconds, or before. */
void task_termination_look_again(struct task_termination *termination, double seconds);

/* Some processes could not be ended, and that was reported. */
bool task_termination_gave_up(const struct task_termination *termination);

#endif
