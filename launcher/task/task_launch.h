/*
 * task_launch - one task of a start on its way: its descriptors, variables and exec. Private to
 * task_start.c.
 */
#ifndef LAUNCHER_TASK_TASK_LAUNCH_H
#define LAUNCHER_TASK_TASK_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/process/exec.h"
#include "launcher/task/task_environment.h"

struct task_start;

/* s of starting, or of waiting for an exec, before the loop has its turn */
#define TASK_START_TURN 0.1

#define NO_TASK UINT32_MAX

struct both_ends { /* [0] is the task's, [1] ours */
    int in[2], out[2], err[2], pmi[2];
    int terminal[2]; /* [0] is always -1: it is in, out and err */
};

struct task_launching { /* a task on its way */
    uint32_t task;      /* NO_TASK: none */
    bool retry_alone;   /* has failed, and is to be tried alone */
    struct both_ends ends;
    struct task_environment vars;
    struct exec spawn;
    struct exec_process child;
};

/* Begin this task, where none is on its way. */
void task_launch_begin(struct task_start *start, struct task_launching *at, uint32_t task);
/* The task that was begun here runs now, or has failed to; false: not yet. Several that start at
 * once share errno: one that fails beside others is tried again alone. */
bool task_launch_finish(struct task_start *start, struct task_launching *at);
/* Begin it once more, if it is to be tried alone. */
void task_launch_retry(struct task_launching *at);
void task_launch_free(struct task_launching *at);
/* This task does not start, whether it was begun or not. Takes the text; status as of wait(2). */
void task_launch_fail(struct task_start *start, uint32_t task, int status, char *text);

#endif
