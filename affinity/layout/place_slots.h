/*
 * place_slots - one task for each slot of a shape. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_PLACE_SLOTS_H
#define AFFINITY_LAYOUT_PLACE_SLOTS_H

#include "affinity/layout/build.h"

/* The same for a run with slots. */
int layout_build_place_slots(struct layout_build *builder, const struct placement *run,
                             struct error *err);

#endif
