/*
 * topo - how the sources of a topology make the table. Private to topology/.
 *
 * Beyond what topo.h says every table keeps two rules that make the engine simple: along the rows
 * the numbers of a level never fall, so an object is one run of rows; and objects of two levels are
 * nested or apart, never astride. hwloc's tree has both by nature (should a NUMA node be cut in
 * two by a smaller one inside, its two ends count as two). The core level is there for all rows or
 * for none.
 */
#ifndef AFFINITY_TOPOLOGY_TOPO_PRIVATE_H
#define AFFINITY_TOPOLOGY_TOPO_PRIVATE_H

#include "affinity/topology/topo.h"

/* One reference; the node and the hardware threads filled in, all other levels and all memory
 * absent, nothing allowed. */
struct topo *topo_new(uint32_t npus);

#endif
