/* What the files of rset share, and nobody else. */
#ifndef AFFINITY_RESOURCE_RSET_PRIVATE_H
#define AFFINITY_RESOURCE_RSET_PRIVATE_H

#include "affinity/resource/rset.h"

/* A distinct pair of sets; `sets` is first, so that a node's pointer leads here. */
struct rset_shared {
    struct rset_children sets;
    size_t index; /* in priv->shared */
    uint64_t hash;
};

struct rset_private {
    struct hostlist *hosts;      /* owns the names */
    struct rset_shared **shared; /* in order of appearance */
    size_t nshared, shared_room;
    struct rset_shared **table; /* by hash, open addressing, at most half full */
    size_t table_size;          /* a power of two */
    size_t nodes_room;
};

/* The set's own copy of these children, shared with all nodes that have equal ones. */
const struct rset_children *rset_share(struct rset *set, const struct idset *cores,
                                       const struct idset *gpus);
/* Index of a node's children among the distinct ones. */
size_t rset_children_index(const struct rset_children *children);

/* rset_append() with children from rset_share(); the host is borrowed from priv->hosts. */
void rset_push(struct rset *set, uint32_t rank, const char *host,
               const struct rset_children *children);

/* The properties of `set` for the ranks that `kept` has: a new reference, or NULL. */
json_t *rset_trim_properties(const struct rset *set, const struct rset *kept);

struct idset *rset_ranks(const struct rset *set); /* caller frees */

#endif
