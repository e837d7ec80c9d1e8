/*
 * topo_json - the wire form of topologies; topo.h has what others use of it. Private to topology/.
 */
#ifndef AFFINITY_TOPOLOGY_TOPO_JSON_H
#define AFFINITY_TOPOLOGY_TOPO_JSON_H

#include <jansson.h>
#include "affinity/sets/idset.h"

/* A set as text; a new reference. */
json_t *topo_set_to_json(const struct idset *set);

#endif
