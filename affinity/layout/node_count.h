/*
 * node_count - -N: which nodes are used, and how many tasks each gets. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_NODE_COUNT_H
#define AFFINITY_LAYOUT_NODE_COUNT_H

#include "affinity/layout/build.h"

struct passes;

/* With node_count, choose so many nodes for the first run, each with room for its share;
 * or for one task, where as many as fit are to come. */
int layout_build_choose_nodes(struct layout_build *builder, struct passes *placing,
                              const struct placement *run, struct error *err);
int layout_build_choose_any(struct layout_build *builder, struct passes *placing,
                            struct placement *run, struct error *err);
/* Tasks by node, which the caller frees. */
uint32_t *layout_build_share_out(struct layout_build *builder, struct passes *placing,
                                 const struct placement *run);

#endif
