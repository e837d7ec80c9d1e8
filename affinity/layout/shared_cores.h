/*
 * shared_cores - cores that several tasks are bound to. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_SHARED_CORES_H
#define AFFINITY_LAYOUT_SHARED_CORES_H

struct layout_build;

/* Fill layout->crowd, when all else is there. */
void shared_cores_find(const struct layout_build *build);

#endif
