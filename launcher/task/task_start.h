/*
 * task_start - the tasks of a group on this node, started: each one's descriptors, variables,
 * binding, exec.
 *
 * It goes in turns, so that the loop hears what comes meanwhile, however many tasks there are and
 * however long an exec takes. Several are on their way at a time, so that all processors take part.
 * A task that cannot be started stops the rest. What is started has its own process group and the
 * limits of its part.
 *
 *   task_start_new, task_start_offered, task_start_serve    what tasks share is found out
 *   task_start_go ... ops->started ... ops->done            they are started
 *   task_start_take_report, task_start_free
 */
#ifndef LAUNCHER_TASK_TASK_START_H
#define LAUNCHER_TASK_TASK_START_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "affinity/topology/topo.h"
#include "launcher/process/scratch_directory.h"
#include "launcher/protocol/launch.h"
#include "launcher/protocol/stage_list.h"
#include "launcher/protocol/task_report.h"
#include "launcher/task/task_cgroup.h"

#define TASK_START_MAX 8 /* tasks on their way at a time */

struct task_start;

struct task_pipes { /* this process's ends */
    int in;         /* -1: it does not read stdin */
    int out, err;   /* err -1: it goes where stdout goes */
    int pmi;        /* a socket; -1: none */
    int terminal;   /* the master of its terminal, which `in` and `out` are, too; -1: none */
};

/* Tasks are numbered as in launch->tasks. */
struct task_start_ops {
    bool (*is_vain)(void *owner); /* nobody wants more of them */
    bool (*reads)(void *owner, uint32_t task);
    /* Variables of a task that is offered this set of PMIs, NAME=VALUE, NULL-terminated;
     * borrowed. */
    char *const *(*variables)(void *owner, uint32_t task, unsigned offered);
    /* It runs; takes the pipes. */
    void (*started)(void *owner, uint32_t task, pid_t pid, const struct task_pipes *pipes);
    /* All that can be started are, or have failed. The owner frees the start here or later. */
    void (*done)(void *owner);
};

struct task_start_config {
    struct ev_loop *loop;
    struct launch *launch; /* its bindings may change, see task_cgroup_add() */
    const struct topo *topo;
    struct scratch *scratch;
    struct task_cgroup *cgroup;
    const struct stage_place *stage; /* files that are staged here */
    uint32_t older;   /* tasks of earlier groups of the program that this node was given */
    bool pmix_served; /* else it is not offered */
};

/* config is copied, what it points to and ops are borrowed. NULL with a sentence: the tasks cannot
 * be bound as the launch says. */
struct task_start *task_start_new(const struct task_start_config *config,
                                  const struct task_start_ops *ops, void *owner, struct error *err);
void task_start_free(struct task_start *start); /* NULL is fine; tasks on their way are forgotten */

/* The PMIs that the parts are offered; *needs_pmix: some part has no other. */
unsigned task_start_offered(const struct task_start *start, bool *needs_pmix);
/* What is offered is there: with `sockets` PMI-1 and PMI-2, and a directory for memory that tasks
 * share, or NULL. Programs that cannot be executed here count as failures from now on. */
void task_start_serve(struct task_start *start, bool sockets, const char *memory);
/* Whether the tasks can be started, for the manager: moves the failures into the report, which is
 * empty. */
void task_start_prepare(struct task_start *start, struct prepared_report *report);
void task_start_go(struct task_start *start);
/* What became of it; moves failures and bindings into the report, which is empty. */
void task_start_take_report(struct task_start *start, struct started_report *report);

/* This process has ended: if it was on its way, it counts as started now, or as failed. */
void task_start_reaped(struct task_start *start, pid_t pid);
/* Processes that have not executed their program yet, into pids[TASK_START_MAX]; how many. */
size_t task_start_pids(const struct task_start *start, pid_t *pids);

#endif
