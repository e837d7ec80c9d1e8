/*
 * program_start - from a spec to tasks that are placed: nodes, instance, agents, layout and claim.
 *
 * It owns what a program has of its instance: resources, hosts, agents, the wait for the lock and for
 * what others hold, and the plan. Where something has to be waited for it goes on by itself, from the
 * loop, until the plan stands or cannot be made.
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_START_H
#define LAUNCHER_PROGRAM_PROGRAM_START_H

#include <ev.h>
#include <jansson.h>

#include "launcher/instance/agents.h"
#include "launcher/instance/lock_retry.h"
#include "launcher/instance/resources.h"
#include "launcher/plan/display.h"
#include "launcher/plan/plan.h"

struct program_start;

struct program_start_ops {
    void (*note)(void *owner, const char *text);
    void (*say)(void *owner, const char *text);              /* with -v */
    void (*show)(void *owner, const char *text, bool error); /* on stdout, or on stderr */
    bool (*progress)(void *owner, const json_t *progress);   /* of a slow start, as agents.h */
    void (*opened)(void *owner);  /* resources, hosts, agents and lock are there */
    void (*planned)(void *owner); /* the plan stands, and was shown */
    void (*refused)(void *owner, const struct error *err); /* it cannot be made */
    void (*unlocked)(void *owner); /* after program_start_lock_wait(), while tasks run */
};

/* All is borrowed. */
struct program_start *program_start_new(struct ev_loop *loop, const struct spec *spec,
                                        struct tree *tree, struct host_bootstrap *bootstrap,
                                        struct local_topology *local,
                                        const struct program_start_ops *ops, void *owner);
void program_start_free(struct program_start *start); /* NULL is fine */

void program_start_begin(struct program_start *start);
void program_start_settled(struct program_start *start); /* some host is up, or has failed */
/* Tasks are about to be launched. */
void program_start_tasks_run(struct program_start *start);
/* The instance's lock is another's, as err says: ops->unlocked() in a moment. As lock_wait(). */
int program_start_lock_wait(struct program_start *start, struct error *err);
/* Nothing is to be planned any more. */
void program_start_stop(struct program_start *start);

/* What goes on instead of the program, "while connecting to node[1-3] (1 of 4 hosts has answered)";
 * caller frees. */
char *program_start_describe(const struct program_start *start);

/* NULL before ops->opened(); all borrowed. */
struct resources *program_start_resources(const struct program_start *start);
struct host_table *program_start_hosts(const struct program_start *start);
struct agents *program_start_agents(const struct program_start *start);
struct lock_retry *program_start_lock(const struct program_start *start);
struct plan *program_start_plan(const struct program_start *start);
struct display *program_start_display(const struct program_start *start);
/* By shape: the plan claims more than its tasks use. */
bool program_start_is_by_shape(const struct program_start *start);

#endif
