/*
 * place_rankfile - placement by a rank file. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_PLACE_RANKFILE_H
#define AFFINITY_LAYOUT_PLACE_RANKFILE_H

#include "affinity/layout/build.h"

/* The same as layout_build_place_run for a run with a rank file. */
int layout_build_place_rankfile(struct layout_build *builder, const struct placement *run,
                                struct error *err);

#endif
