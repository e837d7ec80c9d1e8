/*
 * deal - which rank goes to which node: the schemes of --taskmap.
 *
 *     block        ranks fill one node after the other
 *     cyclic[:N]   ranks go round the nodes, N at a time; nodes that are full are passed over
 *     manual:MAP   as the task map says (RFC 34, any of its forms); so does a bare MAP
 */
#ifndef AFFINITY_TASKMAP_TASKMAP_SCHEME_H
#define AFFINITY_TASKMAP_TASKMAP_SCHEME_H

#include <stdint.h>

#include "affinity/taskmap/taskmap.h"

enum deal_scheme { DEAL_NONE, DEAL_BLOCK, DEAL_CYCLIC, DEAL_MAP };

struct deal {
    enum deal_scheme scheme;
    uint32_t chunk;      /* of DEAL_CYCLIC */
    struct taskmap *map; /* of DEAL_MAP; owned */
};

/* NULL gives DEAL_NONE. -1 with a sentence of kind ERROR_USAGE, and nothing to free. */
int deal_parse(const char *text, struct deal *deal, struct error *err);
void deal_free(struct deal *deal);

/* Into order[rank] (of ntasks) the node, 0..n-1, where node i takes count[i] at most. Returns how
 * many were dealt: fewer than ntasks where all are full. Not for DEAL_MAP. */
uint32_t deal_out(const struct deal *deal, const uint32_t *count, uint32_t n, uint32_t ntasks,
                  uint32_t *order);
/* The same as the map says, for its first ntasks ranks. */
void deal_map(const struct taskmap *map, uint32_t ntasks, uint32_t *order);

#endif
