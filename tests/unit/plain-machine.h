/*
 * plain-machine - a node as plain sets, for lama-plain.
 *
 * A thing of hardware is the set of its hardware threads (a bit for each row of the topo), a level
 * the list of its things. Only what was allocated is there; a level that the machine lacks is a
 * copy of its neighbour, as LAMA says.
 */
#ifndef TESTS_UNIT_PLAIN_MACHINE_H
#define TESTS_UNIT_PLAIN_MACHINE_H

#include "affinity/layout/layout.h"

struct plain_level {
    uint64_t sets[64];
    uint32_t count;
};

struct plain_machine {
    const struct topo *topo;
    struct plain_level levels[TOPO_NLEVELS];
    uint32_t digits[TOPO_NLEVELS][64]; /* for lama-plain: by loop and by hardware thread */
};

void plain_machine_read(struct plain_machine *machine, const struct layout_node *node);
/* -c: from now on cores and hardware threads are slots of so many cores. */
void plain_machine_cut(struct plain_machine *machine, uint32_t cores);

/* The thing with this thread in it, and its number. */
uint64_t plain_set(const struct plain_level *level, uint64_t bit);
uint32_t plain_index(const struct plain_level *level, uint64_t bit);

static inline bool plain_inside(uint64_t inner, uint64_t outer)
{
    return (inner & ~outer) == 0;
}

static inline uint64_t plain_lowest(uint64_t set)
{
    return set & -set;
}

#endif
