/*
 * place - one placement: its parts over the positions of all nodes. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_PLACE_H
#define AFFINITY_LAYOUT_PLACE_H

#include "affinity/layout/build.h"

/* Place one run behind those before; 0 or -1 with a sentence. */
int layout_build_place_run(struct layout_build *builder, struct placement *run, struct error *err);

#endif
