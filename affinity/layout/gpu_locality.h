/*
 * gpu_locality - how near GPUs are: rows of a node class next to each GPU, by level. Private to
 * layout/.
 */
#ifndef AFFINITY_LAYOUT_GPU_LOCALITY_H
#define AFFINITY_LAYOUT_GPU_LOCALITY_H

#include "affinity/layout/node_class.h"

/* The GPUs of a class that may be given out. 0, or -1 with a sentence that names the host. */
int node_class_find_gpus(struct node_class *class, const struct idset *gpus, const char *host,
                         struct error *err);
/* The levels that a GPU may share with a task, finest first; TOPO_NODE is the last. */
enum { NODE_CLASS_NEAR_LEVELS = 5 };
void node_class_near_levels(const struct topo *topo,
                            enum topo_level levels[NODE_CLASS_NEAR_LEVELS]);

#endif
