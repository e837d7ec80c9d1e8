/*
 * program_start - what a program has of its instance, and how its first tasks get there: resources,
 * hosts, agents, the wait for what others hold, and the plan. The steps are those of group_start.h.
 */
#ifndef LAUNCHER_PROGRAM_PROGRAM_START_H
#define LAUNCHER_PROGRAM_PROGRAM_START_H

#include <ev.h>
#include <jansson.h>

#include "launcher/instance/agents.h"
#include "launcher/instance/resources.h"
#include "launcher/plan/display.h"
#include "launcher/plan/plan.h"
#include "launcher/program/group_start.h"
#include "launcher/program/program_hooks.h"
#include "launcher/program/stage_sender.h"

struct program_start;

struct program_start_ops {
    void (*note)(void *owner, const char *text);
    void (*say)(void *owner, const char *text);                    /* with -v */
    void (*show)(void *owner, const char *text, bool error);       /* on stdout, or on stderr */
    int (*draw)(void *owner, const char *text, struct error *err); /* as display.h */
    bool (*progress)(void *owner, const json_t *progress); /* of a slow start, as agents.h */
    void (*event)(void *owner, const char *name, json_t *context); /* takes the context */
    void (*opened)(void *owner);                  /* resources, hosts and agents are there */
    void (*waits)(void *owner, const char *what); /* for "4 cores on node0", which others hold */
    void (*planned)(void *owner);                 /* the plan stands, is claimed, and was shown */
    void (*refused)(void *owner, const struct error *err); /* it cannot be made */
    /* The plan is sent early, and forgotten where it did not count, as early_launch.h. */
    void (*send_early)(void *owner, const struct plan *plan);
    void (*forget_early)(void *owner);
    /* of program_start_prepare_late(): some nodes are prepared now, or not, with a sentence */
    void (*prepared_late)(void *owner, const struct error *err);
};

/* All is borrowed. */
struct program_start *program_start_new(struct ev_loop *loop, const struct spec *spec,
                                        struct tree *tree, struct host_bootstrap *bootstrap,
                                        struct local_topology *local,
                                        const struct program_start_ops *ops, void *owner);
void program_start_free(struct program_start *start); /* NULL is fine */

void program_start_begin(struct program_start *start);
/* Tasks are about to be launched. */
void program_start_tasks_run(struct program_start *start);
/* Nothing is to be started any more. */
void program_start_stop(struct program_start *start);

/* The program runs in which others do, and this node has an agent: files are copied there, and the
 * prolog is run. */
void program_start_prepare_late(struct program_start *start, uint32_t node);
/* Why programs cannot be run in this one on that node yet, "the instance's files are not there yet";
 * NULL: they can. */
const char *program_start_lacks(const struct program_start *start, uint32_t node);

/* What goes on instead of the program, "while connecting to node[1-3] (1 of 4 hosts has answered)";
 * caller frees. */
char *program_start_describe(const struct program_start *start);

/* NULL before ops->opened(); all borrowed. */
struct resources *program_start_resources(const struct program_start *start);
struct host_table *program_start_hosts(const struct program_start *start);
struct agents *program_start_agents(const struct program_start *start);
struct stage_sender *program_start_stage(const struct program_start *start);
struct program_hooks *program_start_hooks(const struct program_start *start);
struct group_starts *program_start_groups(const struct program_start *start);
/* NULL before the plan stands. */
const struct plan *program_start_plan(const struct program_start *start);
struct display *program_start_display(const struct program_start *start);

#endif
