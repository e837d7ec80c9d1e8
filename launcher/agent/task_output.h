/*
 * task_output - what a task writes to stdout and stderr: cut into lines and sent up as frames.
 *
 * All outputs of a node are held together while there is no credit above: nothing is read then, so
 * a task that writes stops by itself. A line without its end waits for as long as the launch says,
 * then it is sent as it is.
 */
#ifndef LAUNCHER_AGENT_TASK_OUTPUT_H
#define LAUNCHER_AGENT_TASK_OUTPUT_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/agent/uplink.h"

/* ---- of a node ---- */

struct task_outputs;

struct task_outputs *task_outputs_new(struct ev_loop *loop, struct uplink *uplink); /* borrowed */
void task_outputs_free(struct task_outputs *outputs); /* after those of all tasks */
bool task_outputs_are_held(const struct task_outputs *outputs);
void task_outputs_resume(struct task_outputs *outputs); /* there is credit again */
/* Nobody reads what is sent any more: they do not count as held, and are read to the end when tasks
 * end. */
void task_outputs_forsake(struct task_outputs *outputs);

/* ---- of a task ---- */

struct task_output;

struct task_output_config {
    uint32_t group;
    uint32_t rank; /* of the program */
    bool unbuffered;
    double output_idle,
        error_idle; /* s that an unfinished line waits for its end; INFINITY: for ever */
    void (*active)(void *owner); /* something was read */
    void *owner;
};

struct task_output *task_output_new(struct task_outputs *outputs,
                                    const struct task_output_config *config); /* copied */
/* Closes it if that was not done yet, and frees. NULL is fine. */
void task_output_free(struct task_output *output);
/* Read from these pipes, which it closes. A task with a terminal has no pipe for stderr: error is
 * -1. */
void task_output_open(struct task_output *output, int out, int error);
bool task_output_is_open(const struct task_output *output); /* somebody may still write */
/* Read what there is. True when nothing is left for now, false while it is held. */
bool task_output_drain(struct task_output *output);
/* Whole lines, as if the task had written them. */
void task_output_say(struct task_output *output, bool error, const char *text);
/* Sends what is left, with lines that have no end. */
void task_output_close(struct task_output *output);

#endif
