/*
 * gpu_sets - the distinct GPU sets of a layout in the making, and the GPUs left on each node. Private to
 * layout/.
 */
#ifndef AFFINITY_LAYOUT_GPU_SETS_H
#define AFFINITY_LAYOUT_GPU_SETS_H

#include "affinity/layout/build.h"

/* Kinds of nodes for a run that gives out GPUs: by what earlier runs left. The two
 * are to be freed with layout_build_free_gpus() when the kinds are not needed any more. */
struct placement_gpus {
    struct node_class_gpus *nodes; /* by node of the request */
    struct idset **owned;          /* the sets that were made for it, two a node; may be NULL */
};
int layout_build_find_gpus(const struct layout_build *builder, struct placement_gpus *gpus,
                           struct kinds *kinds, struct error *err);
void layout_build_free_gpus(const struct layout_build *builder, struct placement_gpus *gpus);
/* The number of a set in layout->gpu_sets. */
uint32_t layout_build_gpu_set(struct layout_build *builder, const uint32_t *ids, uint32_t n);
/* The GPUs that a task at a position of a paired plan gets, which the program claims on the node from now on. */
uint32_t layout_build_give_gpus(struct layout_build *builder, const struct policy *policy,
                                const struct positions *plan, uint32_t position, uint32_t node);
/* The same for a set. */
uint32_t layout_build_give_set(struct layout_build *builder, const struct idset *gpus,
                               uint32_t node);
/* --gpu-bind closest: when all tasks are bound. */
int layout_build_share_gpus(struct layout_build *builder, struct error *err);

#endif
