/*
 * boxes - the levels that divide a machine. Private to picture/.
 */
#ifndef AFFINITY_PICTURE_BOXES_H
#define AFFINITY_PICTURE_BOXES_H

#include "affinity/picture/node_groups.h"

/* Levels that can be a box: board, socket, NUMA domain, L3 */
enum { PICTURE_MAX_LEVELS = 4 };

/* Those with more than one object, fewest first; of two with as many, the outer one. */
size_t levels_dividing(const struct topo *topo, enum topo_level *levels);
/* Within the innermost of these, cores in groups around a common L2. */
bool levels_have_l2(const struct topo *topo);
bool levels_same(const struct topo *topo, const enum topo_level *levels, size_t n, uint32_t a,
                 uint32_t b);
/* "numa 3", padded to the widest number of its level where `pad`; "no numa" outside of all. */
char *levels_label(const struct topo *topo, enum topo_level level, uint32_t row, bool pad);
/* "socket 0, numa 1-2": the objects that hold these cores. Caller frees. */
char *levels_where(const struct topo *topo, const struct idset *cores);
bool levels_begin_core(const struct topo *topo, uint32_t row);
uint32_t levels_core_end(const struct topo *topo, uint32_t row); /* behind the core's last row */

#endif
