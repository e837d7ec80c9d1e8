/*
 * gpu_closest - --gpu-bind closest: tasks see the GPUs nearest to what they are bound to. Private
 * to layout/.
 */
#ifndef AFFINITY_LAYOUT_GPU_CLOSEST_H
#define AFFINITY_LAYOUT_GPU_CLOSEST_H

#include "affinity/layout/build.h"

/* For the tasks of placements that ask for it, when all tasks are bound. 0, or -1 with a
 * sentence. */
int gpu_closest_share(struct layout_build *build, struct error *err);

#endif
