/*
 * packing - as many slots as wanted onto one node, finest domains first. Private to treepool/.
 */
#ifndef AFFINITY_TREEPOOL_PACKING_H
#define AFFINITY_TREEPOOL_PACKING_H

#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"
#include "affinity/treepool/domain_counts.h"

struct treepool_seat { /* a slot of a plan */
    uint32_t level;    /* height of the domain it lies in */
    uint32_t end;      /* of its shares, which begin where the last slot's end */
};

struct treepool_piece { /* what is counted: a slot, or an outermost `within` with its slots */
    uint32_t level;     /* the coarsest of its slots */
    uint32_t nslots;
    uint32_t seats_end, shares_end; /* of these and all pieces before */
};

/* What a node of a class would hold: slots and their shares, in pieces that are taken from the
 * first on. */
struct treepool_plan {
    struct treepool_piece *pieces;
    struct treepool_seat *seats;
    struct treepool_share *shares;
    uint32_t npieces;
};

/* What the plans of one allocation share: the search over all of them has one limit. */
struct packing;

/* The demand is borrowed until packing_free(). */
struct packing *packing_new(const struct treepool_ask *ask);
void packing_free(struct packing *packing);
/* Never NULL; without pieces where nothing fits. */
struct treepool_plan *packing_plan(struct packing *packing, const struct treepool_class *class);
void treepool_plan_free(struct treepool_plan *plan); /* NULL is fine */

#endif
