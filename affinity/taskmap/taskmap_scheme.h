/*
 * taskmap_scheme - which rank goes to which node: the schemes of --taskmap.
 *
 *     block        ranks fill one node after the other
 *     cyclic[:N]   ranks go round the nodes, N at a time; nodes that are full are passed over
 *     manual:MAP   as the task map says (RFC 34, any of its forms); so does a bare MAP
 */
#ifndef AFFINITY_TASKMAP_TASKMAP_SCHEME_H
#define AFFINITY_TASKMAP_TASKMAP_SCHEME_H

#include <stdint.h>

#include "affinity/taskmap/taskmap.h"

enum taskmap_scheme_scheme {
    TASKMAP_SCHEME_NONE,
    TASKMAP_SCHEME_BLOCK,
    TASKMAP_SCHEME_CYCLIC,
    TASKMAP_SCHEME_MAP
};

struct taskmap_scheme {
    enum taskmap_scheme_scheme scheme;
    uint32_t chunk;      /* of TASKMAP_SCHEME_CYCLIC */
    struct taskmap *map; /* of TASKMAP_SCHEME_MAP; owned */
};

/* NULL gives TASKMAP_SCHEME_NONE. -1 with a sentence of kind ERROR_USAGE, and nothing to free. */
int taskmap_scheme_parse(const char *text, struct taskmap_scheme *deal, struct error *err);
void taskmap_scheme_free(struct taskmap_scheme *deal);

/* Into order[rank] (of ntasks) the node, 0..n-1, where node i takes count[i] at most. Returns how
 * many were dealt: fewer than ntasks where all are full. Not for TASKMAP_SCHEME_MAP. */
uint32_t taskmap_scheme_deal(const struct taskmap_scheme *deal, const uint32_t *count, uint32_t n,
                             uint32_t ntasks, uint32_t *order);
/* The same as the map says, for its first ntasks ranks. */
void taskmap_deal(const struct taskmap *map, uint32_t ntasks, uint32_t *order);

#endif
