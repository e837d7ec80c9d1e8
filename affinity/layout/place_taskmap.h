/*
 * place_taskmap - placement by --taskmap. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_PLACE_TASKMAP_H
#define AFFINITY_LAYOUT_PLACE_TASKMAP_H

struct error;
struct layout_build;
struct passes;
struct placement;

/* Take seats as the task map or scheme deals them out; passes->seats are then in the order of
 * ranks. 0, or -1 with a sentence. */
int place_taskmap(struct layout_build *build, struct passes *passes,
                  const struct placement *placement, struct error *err);

#endif
