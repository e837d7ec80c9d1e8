/*
 * gpu_sets - the distinct GPU sets of a layout in the making, numbered from 0 as they come, and the
 * GPUs that its tasks claim on each node. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_GPU_SETS_H
#define AFFINITY_LAYOUT_GPU_SETS_H

#include "affinity/layout/layout.h"

struct gpu_sets;

struct gpu_sets *gpu_sets_new(uint32_t nnodes);
void gpu_sets_free(struct gpu_sets *sets); /* NULL is fine */

/* The number of a set of n ids, or of a copy of a set. */
uint32_t gpu_sets_add_ids(struct gpu_sets *sets, const uint32_t *ids, uint32_t n);
uint32_t gpu_sets_add(struct gpu_sets *sets, const struct idset *gpus);
const struct idset *gpu_sets_get(const struct gpu_sets *sets, uint32_t number);

/* The program claims the GPUs of a set on this node of the request. */
void gpu_sets_claim(struct gpu_sets *sets, uint32_t node, uint32_t number);
/* What it claims there so far; NULL: nothing. take: the caller's from then on. */
const struct idset *gpu_sets_claimed(const struct gpu_sets *sets, uint32_t node);
struct idset *gpu_sets_take_claim(struct gpu_sets *sets, uint32_t node);

/* All sets, into the layout. Before gpu_sets_free(). */
void gpu_sets_take(struct gpu_sets *sets, struct layout *layout);

#endif
