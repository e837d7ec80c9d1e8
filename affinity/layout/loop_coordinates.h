/*
 * loop_coordinates - what a letter of a map string counts. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_LOOP_COORDINATES_H
#define AFFINITY_LAYOUT_LOOP_COORDINATES_H

#include "affinity/layout/positions.h"

/* [nloops][nunits], caller frees; the row of n is all 0. */
uint32_t *positions_coordinates(const struct positions *plan, const struct policy *policy);
/* The loop along which a wide binding takes further objects; nloops if no loop does. */
uint32_t positions_step_loop(const struct positions *plan, const struct policy *policy);

#endif
