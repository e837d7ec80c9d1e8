/*
 * slot_ids - ids of cores and GPUs for the counts of a packing. Private to treepool/.
 */
#ifndef AFFINITY_TREEPOOL_SLOT_IDS_H
#define AFFINITY_TREEPOOL_SLOT_IDS_H

#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"

/* The first so many pieces of a class's plan with ids. */
struct treepool_fill {
    struct treepool_fill *next;
    uint32_t npieces;
    struct idset **cores, **gpus; /* by slot */
    uint32_t nslots;
    struct idset *all_cores, *all_gpus; /* slots and claims */
};

const struct treepool_fill *treepool_fill(struct treepool_class *class,
                                          const struct treepool_ask *ask, uint32_t npieces);
void treepool_fill_free(struct treepool_fill *fill); /* and all behind it */

#endif
