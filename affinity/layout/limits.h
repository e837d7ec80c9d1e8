/*
 * limits - seats for the tasks of one placement, taken position by position under the limits.
 *
 * Counters only rise, so a position that was passed over once stays so: the next pass goes over
 * the seats that the pass before took, and the cost is linear in positions and tasks together.
 */
#ifndef AFFINITY_LAYOUT_LIMITS_H
#define AFFINITY_LAYOUT_LIMITS_H

#include "affinity/layout/positions.h"

struct seat {
    uint32_t node;     /* of the request */
    uint32_t position; /* of the node's plan */
};

struct passes {
    const struct layout_node *nodes;
    const struct policy *policy;
    bool narrow; /* as policy_is_narrow() */
    const struct all_positions *plans;
    const uint32_t *plan_of; /* by node */
    uint32_t
        *node_tasks; /* by node: tasks there, earlier placements included; borrowed, counted up */
    uint32_t *quota; /* by node: tasks that may still come, or NULL; borrowed, counted
                                 down; not even force() goes beyond */
    uint32_t *counters;     /* tasks on each object of each limited level */
    size_t *counter_base;   /* by node */
    uint32_t *limit_offset; /* by plan and limit, from the base */
    uint8_t *held;          /* a bit for each unit that is some task's place */
    uint8_t *given;     /* a bit for each position whose GPUs a task of this placement has; NULL:
                                none are given out */
    size_t *given_base; /* by node; NULL likewise */
    size_t *held_base;  /* by node */
    struct seat *seats;
    uint32_t nseats;
    uint32_t nheld; /* seats that `held` knows of */
};

void passes_start(struct passes *passes, const struct layout_request *request,
                  const struct node_classes *classes, const struct all_positions *plans,
                  const struct policy *policy, uint32_t *node_tasks);
void passes_free(struct passes *passes); /* a zeroed one is fine */

/* An earlier placement's task: rows of its class that it occupies, [first, end), and its place. */
void passes_occupy(struct passes *passes, uint32_t node, uint32_t first, uint32_t end);
void passes_hold(struct passes *passes, uint32_t node, uint32_t place);

/* Seats for up to ntasks more tasks on these nodes; returns how many were found. fit() keeps the
 * limits; force() goes beyond them: free positions first, then round and round. */
uint32_t passes_fit(struct passes *passes, const uint32_t *nodes, uint32_t nnodes, uint32_t ntasks);
uint32_t passes_force(struct passes *passes, const uint32_t *nodes, uint32_t nnodes,
                      uint32_t ntasks);

/* Whether a task fits there at all, were the node empty. */
bool passes_has_position(const struct passes *passes, uint32_t node);
/* How many tasks, at most `most`, this node would take under the limits. Takes no seat. */
uint32_t passes_room(struct passes *passes, uint32_t node, uint32_t most);

#endif
