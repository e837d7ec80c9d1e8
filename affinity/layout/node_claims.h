/*
 * node_claims - the last step: node ids, local ranks, claims, the task map. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_NODE_CLAIMS_H
#define AFFINITY_LAYOUT_NODE_CLAIMS_H

#include "affinity/layout/build.h"

/* Number the nodes that are used, count local ranks, make the claims and the task
 * map; from here on tasks are as layout.h has them. */
void layout_build_finish(struct layout_build *builder);

#endif
