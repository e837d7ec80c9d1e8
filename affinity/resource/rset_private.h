/* What the files of rset share, and nobody else. */
#ifndef AFFINITY_RESOURCE_RSET_PRIVATE_H
#define AFFINITY_RESOURCE_RSET_PRIVATE_H

#include <stdbool.h>

#include "affinity/resource/rset.h"
#include "base/hash_table.h"

/* A distinct pair of sets; `sets` is first, so that a node's pointer leads here. */
struct rset_shared {
    struct rset_children sets;
    size_t index; /* in priv->shared */
};

struct rset_private {
    struct hostlist *hosts;      /* owns the names */
    struct rset_shared **shared; /* in order of appearance */
    size_t nshared;
    struct hash_table table; /* of shared */
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

/* A set under construction from the nodes of another; children that were shared stay so, at the
 * cost of one look. */
struct rset_draft {
    const struct rset *from;
    struct rset *set;
    const struct rset_children **twins; /* by index in `from` */
};

struct rset_draft rset_draft_new(const struct rset *from);
/* A node as it is, at the end. */
void rset_draft_keep(struct rset_draft *draft, const struct rset_node *node);
/* `same`: the set is still the whole of what it came from, and nslots still counts its slots. */
struct rset *rset_draft_done(struct rset_draft *draft, bool same);

/* The nodes of a set in order of their hosts. */
struct rset_index {
    const struct rset_node **nodes; /* the caller frees */
    size_t count;
};

struct rset_index rset_index_new(const struct rset *set);
/* Where the nodes of a host start; `count` where it has none. */
size_t rset_index_find(const struct rset_index *index, const char *host);
/* Whether there is one more of the host. */
bool rset_index_same(const struct rset_index *index, size_t at, const char *host);
/* What a node and the nodes at `at` of the index both hold; the caller frees both sets. */
struct rset_children rset_common(const struct rset_node *node, const struct rset_index *index,
                                 size_t at);
void rset_free_children(struct rset_children *children); /* the sets */

#endif
