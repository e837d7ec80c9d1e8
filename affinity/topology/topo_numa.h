/*
 * topo_numa - which NUMA node of hwloc's holds a thread, and whose memory it has; nobody but the
 * loader needs this.
 */
#ifndef AFFINITY_TOPOLOGY_TOPO_NUMA_H
#define AFFINITY_TOPOLOGY_TOPO_NUMA_H

#include "affinity/topology/topo.h"

struct hwloc_obj;
struct hwloc_topology;

/* What stands for a thread's domain, or NULL: its NUMA node, or else the largest object that is of
 * that domain alone. A domain without memory has no NUMA node in an export, nor where only what is
 * allowed is seen. */
struct hwloc_obj *numa_domain_of_thread(struct hwloc_obj *pu);

/* The topology's columns `memory` and `gib`. Nodes that have none do not count, unless no thread's
 * node says how much it has. */
void numa_fill_memory(struct topo *topo, struct hwloc_topology *machine);

#endif
