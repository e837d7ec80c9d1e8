/*
 * slots - -c N: the machine cut into slots of N cores; without it a unit is a hardware thread.
 * Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_SLOTS_H
#define AFFINITY_LAYOUT_SLOTS_H

#include "affinity/layout/positions.h"

/* Fills the units of a plan; `numbers` as in struct all_positions. */
void positions_cut_units(struct positions *plan, const struct policy *policy, uint32_t *numbers);
void positions_free_units(struct positions *plan);

#endif
