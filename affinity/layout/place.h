/*
 * place - one placement: its parts over the positions of all nodes. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_PLACE_H
#define AFFINITY_LAYOUT_PLACE_H

struct error;
struct layout_build;
struct placement;

/* Place the tasks of a placement behind those before. 0, or -1 with a sentence. A placement that
 * fills has its number of tasks after that. */
int place_placement(struct layout_build *build, struct placement *placement, struct error *err);

#endif
