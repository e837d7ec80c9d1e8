/*
 * topo_treepool - a machine's sockets and NUMA domains as R has them (RFC 49, key `topo`).
 *
 *     {"socket": [{"numa": [{"cores": "0-7", "gpus": "0", "memory": 62}, ...]}, ...]}
 *
 * Whichever level holds the other is outside. A level whose domains are those of the level around
 * it, everywhere on the machine, is left out: sockets with one NUMA domain each are sockets alone,
 * and one socket is the node. Cores, GPUs and memory stand once, at the innermost domain that has
 * all of what is next to them; a GPU whose domain gives no core, further out. NUMA nodes without
 * processors are no domains. Memory is in whole GiB, and left out where it is less or not known.
 */
#ifndef AFFINITY_TOPOLOGY_TOPO_TREEPOOL_H
#define AFFINITY_TOPOLOGY_TOPO_TREEPOOL_H

#include <jansson.h>

#include "affinity/sets/idset.h"
#include "affinity/topology/topo.h"

/* What these cores and GPUs are in, domains without any of the cores left out; NULL: all of them.
 * What the machine does not have is left out, too. A new reference. */
json_t *topo_to_treepool(const struct topo *topo, const struct idset *cores,
                         const struct idset *gpus);

#endif
