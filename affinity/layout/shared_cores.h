/*
 * shared_cores - cores that several tasks are bound to. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_SHARED_CORES_H
#define AFFINITY_LAYOUT_SHARED_CORES_H

#include "affinity/layout/build.h"

/* Fill layout->crowd, when all else is there. */
void layout_build_find_crowd(const struct layout_build *builder);

#endif
