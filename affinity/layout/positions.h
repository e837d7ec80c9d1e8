/*
 * positions - a node class under one policy: its positions, in loop order.
 *
 * A unit is what the innermost choice takes: a hardware thread, or with -c N a slot of N cores.
 * Each unit has one coordinate for every loop of the map, so the positions of a node are its
 * units, sorted by their coordinates; none has to be tried in vain. Positions whose binding would
 * leave the node, or that the step of a wide binding jumps over, are not there at all.
 *
 * The loops outside of n part the positions into groups: all nodes take their turn in a group
 * before any goes on to its next. Groups of all plans are numbered together, in loop order.
 */
#ifndef AFFINITY_LAYOUT_POSITIONS_H
#define AFFINITY_LAYOUT_POSITIONS_H

#include "affinity/layout/node_class.h"
#include "affinity/policy/policy.h"

struct position {
    uint32_t unit;                 /* the place */
    uint32_t bind_first, bind_end; /* units of the binding, [first, end); without one the place */
};

/* What goes with a position where GPUs are given out; it takes one task then. */
struct pair {
    uint32_t number; /* whose GPUs */
    uint32_t turn;   /* positions of a later turn come behind all of an earlier one, */
    bool remote;     /* those whose GPUs are not near behind the others of a group */
};

struct group {
    uint32_t id;
    uint32_t first; /* positions [first, next group's first) */
};

struct positions {
    const struct node_class *class;
    uint32_t nunits;
    bool has_slots;
    uint32_t *first_row, *end_row;  /* [nunits]; without slots the same for all plans */
    uint32_t *object[TOPO_NLEVELS]; /* [nunits], the class's, or with slots as there */
    uint32_t *start[TOPO_NLEVELS];  /* [count + 1] first unit of each object; shared likewise */
    uint32_t count[TOPO_NLEVELS];
    bool exists[TOPO_NLEVELS]; /* the level is there, and no smaller than a unit */
    struct position *positions;
    uint32_t npositions;
    struct group *groups; /* [ngroups + 1], the last one only closes the one before */
    uint32_t ngroups;
    struct pair *pairs; /* [npositions] beside the positions; NULL: no GPUs are given out */
    uint32_t unpaired;  /* positions that there were before */
    uint32_t *gpus;     /* [numbers of pairs * gpus_per_task] ids */
};

struct all_positions {
    struct positions *plans; /* [classes] */
    uint32_t nplans;
    uint32_t ngroups;  /* ids given out */
    uint32_t *numbers; /* 0, 1, 2, ... */
};

/* Never fails: what cannot be placed has no positions. */
void all_positions_make(struct all_positions *plans, const struct node_classes *classes,
                        const struct policy *policy);
void all_positions_free(struct all_positions *plans); /* a zeroed one is fine */

/*
 * walk - all positions of some nodes in loop order, one after the other.
 */

struct position_iterator {
    const struct all_positions *plans;
    const uint32_t *plan_of; /* by node */
    uint32_t *nodes;         /* the n loop goes over these, in this order */
    uint32_t nnodes;         /* of them, those with turns to come */
    uint32_t nkept;          /* of them, those that have a turn after this one too */
    uint32_t group, turn;    /* the group, and whose turn in it is next */
    uint32_t *reached;       /* [plans] the group that a plan has to do with next */
    uint32_t node;           /* whose positions come now, */
    uint32_t at, end;        /* which of them */
};

/* `plans` and `plan_of` are borrowed until position_iterator_free. */
void position_iterator_start(struct position_iterator *walk, const struct all_positions *plans,
                             const uint32_t *plan_of, const uint32_t *nodes, uint32_t nnodes);
/* False after the last position. */
bool position_iterator_next(struct position_iterator *walk, uint32_t *node, uint32_t *position);
void position_iterator_free(struct position_iterator *walk);

#endif
