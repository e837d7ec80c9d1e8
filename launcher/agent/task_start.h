/*
 * start - a group's start while it goes on. Private to start.c, slots.c and failures.c.
 */
#ifndef LAUNCHER_AGENT_TASK_START_H
#define LAUNCHER_AGENT_TASK_START_H

#include "launcher/agent/internal.h"
#include "launcher/task/memory_binding.h"
#include "launcher/task/openmp_variables.h"
#include "launcher/task/part_setup.h"
#include "launcher/task/task_binding.h"
#include "launcher/task/task_environment.h"

#define START_TURN 0.1 /* s of starting, or of waiting for an exec, before the loop has its turn */

struct start_failure { /* tasks that did not start, by reason */
    char *text;
    int status;
    struct idset *ranks;
};

struct ends {
    int in[2], out[2], err[2], pmi[2]; /* [0] is the task's */
};

struct start_slot { /* a task on its way; several are, so that all processors take part */
    struct task *task;
    bool suspect; /* has failed, and is to be tried alone */
    struct ends ends;
    struct variables vars;
    struct spawn spawn;
    struct spawning child;
};

enum { START_SLOTS = START_WAY_MAX };

struct start {
    struct group *group;
    struct start_slot slots[START_SLOTS];
    uint32_t next; /* task to begin */
    bool stop;     /* begin no more for now: one has failed */
    ev_timer turn;
    struct part *parts;
    struct bindings bindings;
    struct spawn_memory *memory; /* by binding of the launch; NULL: no part asks */
    struct threads threads;
    struct start_failure *failures;
    size_t nfailures;
    char *texts[VARIABLES_LONG];
    int null;
};

/* slots.c */
/* Begin this task in a slot that is free. */
void slot_start(struct start *start, struct start_slot *slot, struct task *task);
/* The task that was begun in this slot runs now, or has failed to; false: not yet. Several that
 * start at once share errno: one that fails beside others is suspect, and tried again alone. */
bool slot_finish(struct start *start, struct start_slot *slot);
/* Begin it once more, if it is suspect. */
void slot_retry(struct start_slot *slot);
void slot_free(struct start_slot *slot);

/* failures.c */
/* Takes text. */
void failures_add(struct start *start, const struct task *task, int status, char *text);
/* Tasks of this node whose program cannot be executed here, or not beside the others. */
void failures_check(struct start *start);
/* [[STATUS, TEXT, RANKS], ...]; NULL where there are none. They are forgotten then. */
json_t *failures_take(struct start *start);
/* What ends the program, but for a group that a task spawned: then it is that task's to know, and
 * returned. They are forgotten then. */
json_t *failures_report(struct start *start);

#endif
