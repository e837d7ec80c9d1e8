/*
 * local_input - stdin of a program's tasks, on its way to this node and those below: who gets it,
 * and when more may come.
 *
 * At first it is for all tasks that read. A choice (input_choice.h) says who gets what comes behind
 * it; those of them that read no more are reported, once. What is taken is given back as credit
 * when no task that it is for is far behind. `first` is the first group, NULL once it is gone.
 */
#ifndef LAUNCHER_AGENT_LOCAL_INPUT_H
#define LAUNCHER_AGENT_LOCAL_INPUT_H

#include "launcher/agent/local_group.h"
#include "launcher/protocol/launch.h"

struct local_input;

struct local_input *local_input_new(const struct local_services *services); /* borrowed */
void local_input_free(struct local_input *input);
/* The first group is about to be started. */
void local_input_launched(struct local_input *input, const struct launch *launch);
/* FRAME_STDIN and its kind; local_input_settle() follows. */
void local_input_take(struct local_input *input, struct local_group *first,
                      const struct frame *frame);
/* To the nodes below where stdin is read. */
void local_input_send_down(struct local_input *input, const struct frame *frame);
/* Give back credit, if a task has taken some, or there is room below. */
void local_input_settle(struct local_input *input, const struct local_group *first);
bool local_input_lags(const struct local_input *input, const struct local_group *first);

#endif
