/*
 * program_termination - tasks of a program are told to end, and agents that do not answer in time
 * are given up.
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_TERMINATION_H
#define LAUNCHER_PROGRAM_PROGRAM_TERMINATION_H

#include <ev.h>

#include "launcher/program/task_group.h"

struct program_termination;

struct program_termination_ops {
    /* The agents of these nodes have not said that their tasks have ended. */
    void (*silent)(void *owner, const struct idset *nodes);
};

/* All is borrowed. */
struct program_termination *program_termination_new(struct ev_loop *loop, struct tree *tree,
                                                    struct task_groups *groups,
                                                    const struct program_termination_ops *ops,
                                                    void *owner);
void program_termination_free(struct program_termination *termination); /* NULL is fine */

/* All tasks are to end within `grace` s (INFINITY: in any time), and are killed then. May be called
 * again: what comes last counts. */
void program_termination_start(struct program_termination *termination, double grace);
void program_termination_stop(struct program_termination *termination); /* nobody is waited for */

#endif
