/*
 * random-world - nodes and policies that nobody would think of, from a seed.
 *
 * Machines are irregular: levels and parts of caches are missing, NUMA domains lie inside or
 * outside of sockets (now and then both on one machine), OS indexes are shuffled, cores are not
 * allocated. At most 64 hardware threads a node.
 */
#ifndef TESTS_UNIT_RANDOM_WORLD_H
#define TESTS_UNIT_RANDOM_WORLD_H

#include "affinity/layout/layout.h"
#include "tests/unit/random.h"

#define RANDOM_NODES 4

struct random_world {
    struct topo *topos[RANDOM_NODES];
    struct idset *cores[RANDOM_NODES];
    struct layout_node nodes[RANDOM_NODES];
    struct layout_part part;
    char map[32], bind[16], mppr[32]; /* what the part points to */
    struct layout_request request;
};

void random_world_make(struct random_world *world, uint64_t *seed);
/* The same with nodes of this one machine, which is borrowed. */
void random_world_make_of(struct random_world *world, struct topo *topo, uint64_t *seed);
void random_world_free(struct random_world *world);

/* The request as text, for failures. Caller frees. */
char *random_world_text(const struct random_world *world);

#endif
