/*
 * gpu_left - what earlier placements left of GPUs and of the cores beside them. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_GPU_LEFT_H
#define AFFINITY_LAYOUT_GPU_LEFT_H

#include "affinity/layout/build.h"
#include "affinity/layout/node_class.h"

/* Classes of nodes for a placement that gives out GPUs: by what is left there. 0, or -1 with a sentence;
 * to be freed in either case. */
int gpu_left_classes(const struct layout_build *build, struct node_classes *classes,
                     struct error *err);

#endif
