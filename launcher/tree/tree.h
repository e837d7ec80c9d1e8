/*
 * tree - the agents right below this process, and through them all that are below.
 *
 * The manager is the root; an agent that was told to start others is an inner vertex. Targets are
 * started in parallel: up to `fanout` of them directly, more in that many groups whose first
 * member starts the rest of its group. Never more than `fanout` commands are on their way at a
 * time; the others wait for their turn, until nothing has come up for the start timeout. Every
 * child's link is watched; what is lost or does not start is named by node, and takes the nodes
 * behind it along.
 *
 * Nodes are numbered by their place in the manager's list of candidates.
 */
#ifndef LAUNCHER_TREE_TREE_H
#define LAUNCHER_TREE_TREE_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/error.h"
#include "launcher/tree/bootstrap.h"
#include "launcher/tree/frame.h"
#include "launcher/tree/link.h"
#include "launcher/tree/tree_target.h"

struct tree_unreached {
    uint32_t node;
    const char *host;
    enum bootstrap_stage stage;
    const char *text;          /* the host's own words */
    double elapsed;            /* seconds; below 0: it was not tried */
    bool silent;               /* nothing was heard of it within its time */
    const struct idset *nodes; /* it and all that it was to start */
};

struct tree_ops {
    /* From the child with this number in the tree (0, 1, ...); `node` of it. */
    void (*frame)(void *arg, uint32_t child, const struct frame *frame);
    void (*unreached)(void *arg, const struct tree_unreached *what);
    void (*lost)(void *arg, const char *host, const struct idset *nodes, const char *why);
    void (*room)(void *arg);
    void (*note)(void *arg, const char *text); /* words of a host that is up */
    void (*empty)(void *arg);                  /* after tree_end(): every child is gone */
    /* In a forked child, for a target that is here: be its agent on this link; the exit status. */
    int (*agent_here)(void *arg, int fd);
};

struct tree;

/* ops and boot are borrowed. The loop is the default loop (children are watched). */
struct tree *tree_new(struct ev_loop *loop, const struct bootstrap *boot,
                      const struct tree_ops *ops, void *arg);
void tree_free(struct tree *tree);

/* How agents are started: the root's first try, which goes by groups, where the next member takes
 * the place of one that fails at once; an inner agent's, which the root may try again; that second
 * one, which goes to every target directly; and the only one of those that come late, when the
 * groups are there, which goes directly, too. What has, or is, a second try is waited for half of
 * the start timeout. */
enum tree_try { TREE_FIRST, TREE_BELOW, TREE_AGAIN, TREE_LATE };

/* Start agents; may be called again for more. Targets are copied. */
void tree_start(struct tree *tree, const struct tree_target *targets, size_t count,
                enum tree_try how);

void tree_send(struct tree *tree, const struct frame *frame); /* to every child that is up */
void tree_send_node(struct tree *tree, uint32_t node, const struct frame *frame);
/* Whether the agent of this node, which is not up, takes frames already: it is forked by this process,
 * or by an agent of its instance or one that is kept, and so is of this version. */
bool tree_takes_early(const struct tree *tree, uint32_t node);
/* To such an agent, behind its welcome. At the end it has the patience of one that is up. */
void tree_send_early(struct tree *tree, uint32_t node, const struct frame *frame);
/* To the children that have any of these nodes at or below them. */
void tree_send_nodes(struct tree *tree, const struct idset *nodes, const struct frame *frame);
size_t tree_room(const struct tree *tree, const struct idset *nodes); /* smallest of those */
/* A child's bulk bytes have left this process. */
void tree_consumed(struct tree *tree, uint32_t child, size_t bytes);
/* Pass a child's frame on upwards. Bulk is counted as consumed while there is room above, and else
 * when tree_relay_room() says that there is again. `up` NULL: nobody is there, it is dropped. */
void tree_relay(struct tree *tree, uint32_t child, struct link *up, const struct frame *frame);
void tree_relay_room(struct tree *tree);
/* Clock of that child minus this one, ns. */
int64_t tree_clock_offset(const struct tree *tree, uint32_t child);

/* Nodes that somebody else starts now (after an unreached): not this child's any more. */
void tree_forget(struct tree *tree, const struct idset *nodes);

/* Add the nodes that this tree's children stand for. */
void tree_add_nodes(const struct tree *tree, struct idset *nodes);

/* Close all links; ops->empty when every child has gone; what stays longer than `patience`
 * seconds is killed, and a command that has reached no agent yet after 1 s. */
void tree_end(struct tree *tree, double patience);

/* Processes of the children (ssh, agents), for those who must not signal them. *count is set. */
const pid_t *tree_pids(struct tree *tree, size_t *count);

/* In a forked child: close this copy of all links. */
void tree_disown(struct tree *tree);

#endif
