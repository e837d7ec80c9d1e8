/*
 * walk - all positions of some nodes in loop order, one after the other.
 */
#ifndef AFFINITY_LAYOUT_WALK_H
#define AFFINITY_LAYOUT_WALK_H

#include "affinity/layout/plan.h"

struct walk {
    const struct plans *plans;
    const uint32_t *plan_of; /* by node */
    uint32_t *nodes;         /* the n loop goes over these, in this order */
    uint32_t nnodes;         /* of them, those with turns to come */
    uint32_t nkept;          /* of them, those that have a turn after this one too */
    uint32_t group, turn;    /* the group, and whose turn in it is next */
    uint32_t *reached;       /* [plans] the group that a plan has to do with next */
    uint32_t node;           /* whose positions come now, */
    uint32_t at, end;        /* which of them */
};

/* `plans` and `plan_of` are borrowed until walk_free. */
void walk_start(struct walk *walk, const struct plans *plans, const uint32_t *plan_of,
                const uint32_t *nodes, uint32_t nnodes);
/* False after the last position. */
bool walk_next(struct walk *walk, uint32_t *node, uint32_t *position);
void walk_free(struct walk *walk);

#endif
