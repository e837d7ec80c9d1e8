/*
 * task_start - a group's start while it goes on. Private to task_start.c, task_launch.c and start_failures.c.
 */
#ifndef LAUNCHER_AGENT_TASK_START_H
#define LAUNCHER_AGENT_TASK_START_H

#include "launcher/agent/internal.h"
#include "launcher/task/memory_binding.h"
#include "launcher/task/openmp_variables.h"
#include "launcher/task/part_setup.h"
#include "launcher/task/task_binding.h"
#include "launcher/task/task_environment.h"

#define TASK_START_TURN                                                                            \
    0.1 /* s of starting, or of waiting for an exec, before the loop has its turn */

struct ends {
    int in[2], out[2], err[2], pmi[2]; /* [0] is the task's */
};

struct task_start_slot { /* a task on its way; several are, so that all processors take part */
    struct task *task;
    bool suspect; /* has failed, and is to be tried alone */
    struct ends ends;
    struct task_environment vars;
    struct exec spawn;
    struct exec_process child;
};

enum { TASK_START_SLOTS = START_WAY_MAX };

struct task_start {
    struct group *group;
    struct task_start_slot slots[TASK_START_SLOTS];
    uint32_t next; /* task to begin */
    bool stop;     /* begin no more for now: one has failed */
    ev_timer turn;
    struct part_setup *parts;
    struct task_binding bindings;
    struct exec_memory *memory; /* by binding of the launch; NULL: no part asks */
    struct openmp_variables threads;
    struct start_failures failures;
    char *texts[TASK_ENVIRONMENT_LONG];
    int null;
};

/* task_launch.c */
/* Begin this task in a slot that is free. */
void task_launch_start(struct task_start *start, struct task_start_slot *slot, struct task *task);
/* The task that was begun in this slot runs now, or has failed to; false: not yet. Several that
 * start at once share errno: one that fails beside others is suspect, and tried again alone. */
bool task_launch_finish(struct task_start *start, struct task_start_slot *slot);
/* Begin it once more, if it is suspect. */
void task_launch_retry(struct task_start_slot *slot);
void task_launch_free(struct task_start_slot *slot);

/* start_failures.c */
/* Takes text. */
void task_start_fail(struct task_start *start, const struct task *task, int status, char *text);
/* Tasks of this node whose program cannot be executed here, or not beside the others. */
void start_failures_check(struct task_start *start);

#endif
