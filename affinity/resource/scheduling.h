/*
 * scheduling - the sub-node topology that an R may carry (RFC 49, key `scheduling`, writer
 * TreePool).
 *
 *     "scheduling": {"writer": "TreePool",
 *                    "children": [{"ranks": "0-15", "topo": {"socket": [{"numa": [...]}, ...]}}]}
 *
 * Another writer, or none, is not interpreted: scheduling_read() gives an empty set of trees then.
 *
 * A domain is a list entry under a name; its cores and GPUs are all at and below it. Domains lie
 * within one another or apart, never across. What R_lite does not have of them is not owned; ranks
 * that R_lite does not have are passed over, since an R that was cut down may still name them.
 */
#ifndef AFFINITY_RESOURCE_SCHEDULING_H
#define AFFINITY_RESOURCE_SCHEDULING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/resource/rset.h"
#include "affinity/sets/idset.h"
#include "base/error.h"

#define SCHEDULING_WRITER "TreePool"
#define SCHEDULING_MAX_DEPTH 32
#define SCHEDULING_MAX_DOMAINS 4096         /* in the tree of a node */
#define SCHEDULING_MAX_ALL_DOMAINS 1048576u /* in all trees that differ */

struct scheduling_domain {
    char *name;          /* NULL for the node itself */
    uint32_t up;         /* index of the domain around it; its own for the node */
    uint32_t end;        /* those below it are the next ones, up to here */
    uint32_t height;     /* 0: none smaller below; one more where it has more than any below */
    struct idset *cores; /* at and below it */
    struct idset *gpus;  /* likewise */
};

/* The node, then every domain in document order, those below a domain right behind it. */
struct scheduling_tree {
    struct scheduling_domain *domains;
    uint32_t ndomains;
    uint64_t memory;  /* bytes that the node states, or its domains in all; 0: not stated */
    uint64_t storage; /* the largest capacity, in bytes; 0: not stated */
};

struct scheduling_span {
    uint32_t first, last; /* ranks */
    uint32_t entry;       /* in children */
    uint32_t tree;        /* its number */
};

/* Trees are as many as there are distinct topologies. */
struct scheduling {
    struct scheduling_tree *trees;
    uint32_t ntrees;
    struct scheduling_span *spans; /* ascending, disjoint */
    size_t nspans;
};

/* NULL with a sentence: names the ranks, the place in the topology, and what is right. */
struct scheduling *scheduling_read(const json_t *scheduling, struct error *err);
void scheduling_free(struct scheduling *locality);                         /* NULL is fine */
int32_t scheduling_find(const struct scheduling *locality, uint32_t rank); /* tree, or -1 */
int scheduling_read_topo(const json_t *topo, const char *ranks, struct scheduling_tree *tree,
                         struct error *err);
void scheduling_tree_clear(struct scheduling_tree *tree);

/* 0, or -1 with a sentence as scheduling_read() has it. */
int scheduling_check(const struct rset *R, struct error *err);

/* `scheduling` for the nodes that `kept` has: ranks trimmed (parent's numbering), empty entries
 * dropped, topologies unchanged; another writer's value as it is. New reference, or NULL. */
json_t *scheduling_trim(const json_t *scheduling, const struct rset *kept);

/* `part` has nodes of R: with it go the times of R, and of properties and topology what is about
 * these nodes. */
void scheduling_describe(struct rset *part, const struct rset *R);

/* R becomes what a sub-instance sees: i-th rank becomes i, in R_lite, properties and scheduling
 * alike; nslots unset. */
void scheduling_rerank(struct rset *R);

#endif
