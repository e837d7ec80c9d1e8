/*
 * task_group - tasks of a program that were launched together: the first group by the command line,
 * further ones by MPI_Comm_spawn.
 *
 * Groups are numbered from 0 in order of launch, and go on counting the program's ranks. A group is
 * there from its launch until no node has anything left of it, and until then counts as used what
 * its tasks are bound to. Nodes are those of the tree of agents.
 *
 * A group owns its fences, and the check whether all its nodes can start their tasks.
 */
#ifndef LAUNCHER_PROGRAM_TASK_GROUP_H
#define LAUNCHER_PROGRAM_TASK_GROUP_H

#include <jansson.h>
#include <stdbool.h>

#include "affinity/resource/rset.h"
#include "affinity/taskmap/taskmap.h"
#include "launcher/plan/plan.h"
#include "launcher/protocol/pair.h"
#include "launcher/tree/tree.h"

struct task_groups; /* of one program, the oldest first */
struct task_group;

struct task_group_source { /* what a group is made of; all borrowed */
    const struct spec *spec;
    const struct plan *plan; /* candidates' numbers are those of nodes in the tree */
    bool spawned;
    uint32_t spawner, spawner_rank; /* group of the task that asked, and its rank there */
    const struct pair *preput;
    size_t npreput;
};

struct task_group_origin { /* what tasks are told of the program that they are of; all borrowed */
    const char *program;   /* its number */
    const char *instance;  /* path */
    const char *instance_id;
    const char *enclosing;    /* numbers of the programs that it runs in (idset), or NULL */
    const char *const *hosts; /* names by number in the tree */
};

struct task_groups_ops {
    /* It is about to be launched: PMI has to know it. */
    void (*added)(void *owner, struct task_group *group, const struct task_group_source *source);
    /* It is launched once this returns, with this JSON (FRAME_LAUNCH). */
    void (*launched)(void *owner, struct task_group *group, const json_t *launch);
    /* Which of its ranks is on which host: FRAME_MAPPED's JSON. */
    void (*mapped)(void *owner, const json_t *table);
    /* These ranks of the program cannot be started; `time` as in program_check.h. */
    void (*refused)(void *owner, struct task_group *group, uint64_t time, int status,
                    const char *text, const struct idset *ranks);
    /* All its nodes have said whether they can start their tasks, and some cannot: none is
     * started. */
    void (*unstartable)(void *owner, struct task_group *group);
};

/* All is borrowed. */
struct task_groups *task_groups_new(struct tree *tree, const struct task_groups_ops *ops,
                                    void *owner);
void task_groups_free(struct task_groups *groups); /* and all groups; NULL is fine */

/* What was claimed for the program, which it holds until its end; borrowed. Before the first
 * group. */
void task_groups_set_claim(struct task_groups *groups, const struct rset *claim);

/* ---- all of them ---- */

struct task_group *task_groups_first(const struct task_groups *groups); /* or NULL */
struct task_group *task_group_next(const struct task_group *group);     /* or NULL */
struct task_group *task_groups_find(const struct task_groups *groups, uint32_t number);
uint32_t task_groups_ranks(const struct task_groups *groups); /* of all that there were */
/* The caller frees each of these. Nodes that have not said that they are done: */
struct idset *task_groups_pending(const struct task_groups *groups);
/* what the tasks of all groups use; */
struct rset *task_groups_used(const struct task_groups *groups);
/* the same, and what was claimed for the program: what it holds. */
struct rset *task_groups_held(const struct task_groups *groups);
/* How many tasks there are on each of so many nodes: caller frees the array. */
uint32_t *task_groups_tasks(const struct task_groups *groups, uint32_t nnodes);
/* On one, of groups that are not done there. */
uint32_t task_groups_pending_on(const struct task_groups *groups, uint32_t node);
/* Some group has tasks on one of these, or had and has not ended there. */
bool task_groups_use(const struct task_groups *groups, const struct idset *nodes);

/* ---- one ---- */

/* Make it and launch it. Owned by the groups. */
struct task_group *task_group_start(struct task_groups *groups,
                                    const struct task_group_source *source,
                                    const struct task_group_origin *origin);
/* The first group, on one node: its launch is sent by tree_send_early(). The group is in no list, and
 * no op is called for it, before it is started as above, by the same plan; or it is forgotten, and
 * its ranks are free again. The claim has to be set. */
void task_groups_send_early(struct task_groups *groups, const struct task_group_source *source,
                            const struct task_group_origin *origin);
void task_groups_forget_early(struct task_groups *groups); /* does nothing if none was sent */
/* It is over, and freed. */
void task_group_drop(struct task_group *group);

uint32_t task_group_number(const struct task_group *group);
uint32_t task_group_first_rank(const struct task_group *group); /* of the program */
uint32_t task_group_ntasks(const struct task_group *group);
uint32_t task_group_nnodes(const struct task_group *group);
const uint32_t *task_group_tree_nodes(const struct task_group *group); /* by node id; borrowed */
const struct taskmap *task_group_map(const struct task_group *group);
const struct rset *task_group_used(const struct task_group *group);
/* Of the tree, that heard of the launch; and of these, those that are not done. */
const struct idset *task_group_nodes(const struct task_group *group);
const struct idset *task_group_pending(const struct task_group *group);
/* The spec of one that was spawned, which it takes over; NULL: it is the program's. */
void task_group_set_spec(struct task_group *group, struct spec *spec);
const struct spec *task_group_spec(const struct task_group *group);
/* Of these ranks of the program those that are the group's, as ranks in it; caller frees. */
struct idset *task_group_own_ranks(const struct task_group *group, const struct idset *ranks);
/* Nodes where these ranks of the program are; caller frees. */
struct idset *task_group_nodes_of(const struct task_group *group, const struct idset *ranks);

void task_group_send(struct task_group *group, const struct frame *frame); /* to its agents */
struct fence *task_group_fence(const struct task_group *group);
/* FRAME_PREPARED of a node. Nothing happens where the group is started already. */
void task_group_prepared(struct task_group *group, uint32_t node, const json_t *value);
/* These nodes have nothing left of it. */
void task_group_nodes_done(struct task_group *group, const struct idset *nodes);

#endif
