/*
 * task_start_private - a start while it goes on. Private to task_start.c and task_launch.c.
 */
#ifndef LAUNCHER_TASK_TASK_START_PRIVATE_H
#define LAUNCHER_TASK_TASK_START_PRIVATE_H

#include "launcher/task/memory_binding.h"
#include "launcher/task/openmp_variables.h"
#include "launcher/task/part_setup.h"
#include "launcher/task/task_binding.h"
#include "launcher/task/task_environment.h"
#include "launcher/task/task_start.h"

/* s of starting, or of waiting for an exec, before the loop has its turn */
#define TASK_START_TURN 0.1

#define NO_TASK UINT32_MAX

struct both_ends { /* [0] is the task's, [1] ours */
    int in[2], out[2], err[2], pmi[2];
};

struct task_launching { /* a task on its way */
    uint32_t task;      /* NO_TASK: none */
    bool retry_alone;   /* has failed, and is to be tried alone */
    struct both_ends ends;
    struct task_environment vars;
    struct exec spawn;
    struct exec_process child;
};

struct task_start {
    struct task_start_config config;
    const struct task_start_ops *ops;
    void *owner;
    struct task_launching launching[TASK_START_MAX];
    uint32_t next; /* task to begin */
    bool stop;     /* begin no more for now: one has failed */
    bool sockets;  /* of PMI-1 and PMI-2 are served */
    ev_timer turn;
    struct part_setup *parts;
    struct task_binding bindings;
    struct exec_memory *memory; /* by binding of the launch; NULL: no part asks */
    struct openmp_variables openmp;
    struct start_failures failures;
    char *texts[TASK_ENVIRONMENT_LONG];
    int null;
};

/* task_start.c: it does not start; takes text */
void task_start_fail(struct task_start *start, uint32_t task, int status, char *text);

/* task_launch.c */
/* Begin this task, where none is on its way. */
void task_launch_begin(struct task_start *start, struct task_launching *at, uint32_t task);
/* The task that was begun here runs now, or has failed to; false: not yet. Several that start at once share
 * errno: one that fails beside others is tried again alone. */
bool task_launch_finish(struct task_start *start, struct task_launching *at);
/* Begin it once more, if it is to be tried alone. */
void task_launch_retry(struct task_launching *at);
void task_launch_free(struct task_launching *at);

#endif
