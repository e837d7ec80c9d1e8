/*
 * used_nodes - the last step of a layout: ids of the nodes that are used, local ranks, claims, the
 * task map. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_USED_NODES_H
#define AFFINITY_LAYOUT_USED_NODES_H

struct layout_build;

/* Number the nodes that are used, count local ranks, make the claims and the task map, and take the
 * tables: from here on the layout is as layout.h has it. */
void used_nodes_finish(struct layout_build *build);

#endif
