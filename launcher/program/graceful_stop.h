/*
 * graceful_stop - tasks that were sent a signal that asks them to end: what is shown of it, and how
 * long those that are left may go on.
 *
 * How tasks end after such a signal is their answer to it, and nobody's failure. From the first
 * exit on the others have --kill-grace; whoever stays longer is killed. Nodes are those of the
 * tree.
 */
#ifndef LAUNCHER_PROGRAM_GRACEFUL_STOP_H
#define LAUNCHER_PROGRAM_GRACEFUL_STOP_H

#include <ev.h>
#include <stdbool.h>

#include "launcher/program/task_group.h"
#include "launcher/tree/tree.h"

struct graceful_stop;

struct graceful_stop_ops {
    void (*note)(void *owner, const char *text); /* a line for the user */
    /* Tasks did not end in time, and are to be killed: the exit status, and the line about it. */
    void (*expired)(void *owner, int status, const char *line);
};

/* For a tree of so many nodes; grace in s, INFINITY: they may take any time. All is borrowed. */
struct graceful_stop *graceful_stop_new(struct ev_loop *loop, struct tree *tree,
                                        struct task_groups *groups, uint32_t nnodes, double grace,
                                        const struct graceful_stop_ops *ops, void *owner);
void graceful_stop_free(struct graceful_stop *stop); /* NULL is fine, as for each of the others */

/* Send all tasks this signal, and show a line: `before` (taken over; NULL: no line), "sent SIGTERM
 * to 8 tasks" and `after` (static). How many they are agents say, or after a moment the plan. */
void graceful_stop_signal(struct graceful_stop *stop, int number, char *before, const char *after);
/* The same where they are sent it otherwise. */
void graceful_stop_expect(struct graceful_stop *stop, int number, char *before, const char *after);
/* The program is being ended: they were sent SIGTERM, and have this much time. Who is waited for is
 * shown after `reason` (static). */
void graceful_stop_terminated(struct graceful_stop *stop, const char *reason, double grace);
/* A task ended, as graceful_stop_explains(). */
void graceful_stop_exited(struct graceful_stop *stop);
/* Whether such an end (`why` as in outcome.h) is an answer to the signal. */
bool graceful_stop_explains(const struct graceful_stop *stop, const char *why);
/* FRAME_RUNNING: how many tasks a node has. */
void graceful_stop_count(struct graceful_stop *stop, const struct frame *frame);
/* Nothing is waited for any more, but by graceful_stop_terminated(). */
void graceful_stop_over(struct graceful_stop *stop);

#endif
