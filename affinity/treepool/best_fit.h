/*
 * best_fit - which nodes are taken, and how much of each one's packing. Private to treepool/.
 */
#ifndef AFFINITY_TREEPOOL_BEST_FIT_H
#define AFFINITY_TREEPOOL_BEST_FIT_H

#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"

struct treepool_choice {
    uint32_t node;
    uint32_t npieces; /* of its plan */
};

struct treepool_chosen {
    struct treepool_choice *choices; /* in order of the slots */
    size_t nchoices;
    uint64_t nslots;
    uint64_t found; /* nodes that fit, or pieces in all */
    uint32_t best;  /* the most pieces that a node holds */
};

/* True when the request is met. */
bool treepool_choose(struct treepool_nodes *nodes, const struct treepool_ask *ask,
                     struct treepool_chosen *chosen);
void treepool_chosen_clear(struct treepool_chosen *chosen);

#endif
