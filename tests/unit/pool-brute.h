/*
 * pool-brute - small machines, and whether a request fits on them, found by trying everything.
 *
 * Shares nothing with the pool: every locality that is counted tries every domain, and cores and
 * GPUs are matched one by one.
 */
#ifndef TESTS_UNIT_POOL_BRUTE_H
#define TESTS_UNIT_POOL_BRUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/treepool/request.h"

#define BRUTE_DOMAINS 24

/* Sets are bits. Domain 0 is the node. */
struct brute_domain {
    const char *name;
    int up;
    uint32_t cores, gpus; /* at and below it */
};

struct brute_node {
    struct brute_domain domains[BRUTE_DOMAINS];
    int ndomains;
    uint32_t own_cores, own_gpus;
    uint32_t free_cores, free_gpus;
};

/* How many there can be of what is counted outermost on a node (of the first `within`, or of
 * slots), each slot with the least of every range; at most `most`. */
uint32_t brute_capacity(const struct brute_node *node, const struct request *request,
                        uint32_t most);

#endif
