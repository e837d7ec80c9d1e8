/*
 * place_taskmap - placement by --taskmap. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_PLACE_TASKMAP_H
#define AFFINITY_LAYOUT_PLACE_TASKMAP_H

#include "affinity/layout/build.h"

struct passes;

/* Seats for a run with a task map, in the order of its ranks. */
int layout_build_deal(struct layout_build *builder, struct passes *placing,
                      const struct placement *run, struct error *err);

#endif
