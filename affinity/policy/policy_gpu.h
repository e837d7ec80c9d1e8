/*
 * policy_gpu - -g, --gpu-bind and --per N:gpu of one part.
 */
#ifndef AFFINITY_POLICY_POLICY_GPU_H
#define AFFINITY_POLICY_POLICY_GPU_H

#include "affinity/policy/policy.h"

/* What of a policy is said by these options. 0, or -1 with a sentence of kind ERROR_USAGE. */
int policy_parse_gpus(const struct layout_part *part, struct policy *policy, struct error *err);

/* Whether a part asks for GPUs: -g, --per N:gpu, or --gpu-bind closest. */
bool layout_part_uses_gpus(const struct layout_part *part);

#endif
