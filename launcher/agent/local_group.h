/*
 * local_group - a task group on this node: tasks that are started together, and what they are
 * served with.
 *
 * A group is known from its launch on, and takes part in the tree even where no task of it is here:
 * frames for the nodes below that take part go through it. Its phase only rises. It is over when
 * its tasks here have ended and their output is sent; it is done when that is so on all nodes
 * below, too, and was reported.
 */
#ifndef LAUNCHER_AGENT_LOCAL_GROUP_H
#define LAUNCHER_AGENT_LOCAL_GROUP_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/agent/group_tasks.h"
#include "launcher/agent/local_services.h"

struct local_group;

enum group_phase {
    GROUP_WAITING,  /* another one is being started */
    GROUP_PREPARED, /* it could be started here: it is when all its nodes have said so */
    GROUP_STARTING,
    GROUP_RUNNING, /* what could be started was */
    GROUP_OVER     /* its tasks here are; those below need not be */
};

struct local_group_ops {
    bool (*is_last)(void *owner, const struct local_group *group); /* no other one starts or runs */
    void (*running)(void *owner, struct local_group *group);       /* its phase is that now */
    void (*over)(void *owner, struct local_group *group);          /* and now that */
    void (*stdin_written)(void *owner);                            /* a task has taken some */
    void (*post)(void *owner, const struct frame *frame);          /* see group_pmix_job_config */
};

/* The group of this FRAME_LAUNCH, which is passed on to the nodes below that take part. `older`:
 * tasks of earlier groups here. A launch that is malformed gives a group that was refused, and
 * reports that. */
struct local_group *local_group_new(const struct local_services *services,
                                    const struct frame *frame, uint32_t older,
                                    const struct local_group_ops *ops, void *owner);
/* With `retained` its PMIx job may be kept there. */
void local_group_free(struct local_group *group, struct group_pmix_job **retained);

/* ---- what it is ---- */

uint32_t local_group_number(const struct local_group *group);
enum group_phase local_group_phase(const struct local_group *group);
const struct launch *local_group_launch(const struct local_group *group); /* NULL: malformed */
bool local_group_is_unbound(const struct local_group *group); /* it was mapped without a binding */
uint32_t local_group_count(const struct local_group *group);  /* tasks that run, or will */
/* Borrowed; none where the launch is malformed. */
struct group_tasks *local_group_tasks(const struct local_group *group);
/* Some task asked something of its program: to spawn others, say. */
bool local_group_has_asked(const struct local_group *group);
/* Whether PMIx calls it so. */
bool local_group_is_named(const struct local_group *group, const char *job);

/* ---- its start: from the loop until its phase is GROUP_RUNNING ---- */

/* A group that waits: prepare it, and start it if that is nobody else's business. */
void local_group_begin(struct local_group *group);
void local_group_on_go(struct local_group *group, const struct frame *frame); /* all nodes can */
/* A prepared group is started if all nodes can, or, in vain, if it is to end, or all groups are. */
void local_group_go_on(struct local_group *group);
void local_group_abandon(struct local_group *group, bool all_end);
size_t local_group_starting(const struct local_group *group, pid_t *pids); /* [TASK_START_MAX] */

/* ---- its end ---- */

/* This process has ended: if it was on its way, it counts as started now, or as failed. */
void local_group_settle_start(struct local_group *group, pid_t pid);
/* SIGKILL to its tasks, at once: it could not be started as a whole. Not to what they left
 * behind. */
void local_group_kill(struct local_group *group);
/* A signal came that is for its tasks; those that are not started hear it when they are. */
void local_group_owe_signal(struct local_group *group, int number);
/* What still runs is not waited for. */
void local_group_give_up(struct local_group *group);
/* These nodes below have ended, or are lost. */
void local_group_nodes_gone(struct local_group *group, const struct idset *nodes);
/* At the end of a turn. True: it is done, and said its last word. */
bool local_group_check(struct local_group *group);

/* ---- frames and bytes ---- */

void local_group_send_down(struct local_group *group, const struct frame *frame);
void local_group_on_fence_up(struct local_group *group, const struct frame *frame);
void local_group_on_fence_down(struct local_group *group, const struct frame *frame);
void local_group_on_missing(struct local_group *group, const struct frame *frame);
void local_group_on_done(struct local_group *group, const struct frame *frame);
void local_group_on_answer(struct local_group *group, const struct frame *frame);
void local_group_on_post(struct local_group *group, const struct frame *frame);
/* A PMIx message is malformed that is of no group. */
void local_group_pmix_failed(struct local_group *group, const struct error *err);

#endif
