/*
 * gpu_assign - which GPUs go with which position (-g, --per N:gpu). Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_GPU_ASSIGN_H
#define AFFINITY_LAYOUT_GPU_ASSIGN_H

#include "affinity/layout/positions.h"

/* Of positions in the order of their units, keep those that GPUs go with. */
void positions_pair_gpus(struct positions *plan, const struct policy *policy);

#endif
