/*
 * place_slots - placement by the slots of a shape. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_PLACE_SLOTS_H
#define AFFINITY_LAYOUT_PLACE_SLOTS_H

struct error;
struct layout_build;
struct placement;

/* Bind task i of the placement to its slot i. 0, or -1 with a sentence. */
int place_slots(struct layout_build *build, const struct placement *placement, struct error *err);

#endif
