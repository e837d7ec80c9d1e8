/*
 * scheduling_ranks - topologies (RFC 49) under other ranks, and those of two resource sets as one.
 */
#ifndef AFFINITY_RESOURCE_SCHEDULING_RANKS_H
#define AFFINITY_RESOURCE_SCHEDULING_RANKS_H

#include <jansson.h>
#include <stdint.h>

#include "affinity/resource/rset.h"
#include "base/error.h"

/* Both keep to what scheduling_check() takes; equal topologies share an entry, entries ascend by
 * lowest rank. What another writer than TreePool put under `scheduling` is refused, since its ranks
 * are its own matter: 0, or -1 with a sentence. */

/* The `scheduling` of `set` into `to`, whose nodes are the same under new ranks: ranks[i] is that
 * of the i-th node of `set`. */
int scheduling_renumber(struct rset *to, const struct rset *set, const uint32_t *ranks,
                        struct error *err);

/* That of `set` and of `more` into `sum`, which rset_append_set() made of them, with the ranks that
 * it gave. Where both have a topology for one node it has to be the same. */
int scheduling_append(struct rset *sum, const struct rset *set, const struct rset *more,
                      const uint32_t *ranks, struct error *err);

#endif
