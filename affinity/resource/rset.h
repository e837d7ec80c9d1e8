/*
 * rset - a resource set R (RFC 20 version 1).
 *
 * A list of nodes, ascending by execution target (rank). Each node has a host and borrows its
 * children (cores, GPUs) from a table of distinct ones, so memory grows with the number of
 * distinct nodes. Core and GPU ids are logical (hwloc's logical index of the whole machine).
 *
 * The key `scheduling` is carried through untouched (RFC 49 is read elsewhere); so are the
 * properties, trimmed with the ranks.
 */
#ifndef AFFINITY_RESOURCE_RSET_H
#define AFFINITY_RESOURCE_RSET_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/host_index.h"
#include "affinity/sets/hostlist.h"
#include "affinity/sets/idset.h"
#include "base/error.h"

/* Several times what the largest machines need, were all of their nodes different; a parsed object
 * takes some 400 bytes, any other value 60. */
#define RSET_MAX_TEXT (128u << 20)     /* bytes of R that are read at all */
#define RSET_MAX_VALUES (4u << 20)     /* JSON values in it */
#define RSET_MAX_CONTAINERS (1u << 20) /* of these, objects and arrays */

struct rset_children {
    struct idset *cores; /* never NULL, never empty in a decoded R */
    struct idset *gpus;  /* never NULL, may be empty */
};

struct rset_node {
    uint32_t rank;
    const char *host;                     /* borrowed from the rset */
    const struct rset_children *children; /* borrowed from the rset */
};

struct rset {
    struct rset_node *nodes;
    size_t nnodes;
    double starttime;          /* seconds since the epoch; 0 is unset */
    double expiration;         /* likewise */
    uint64_t nslots;           /* 0 is unset */
    json_t *properties;        /* object of name -> idset text, or NULL */
    json_t *scheduling;        /* untouched, or NULL */
    struct rset_private *priv; /* who owns the hosts and the children */
};

struct rset *rset_new(void); /* no nodes */
struct rset *rset_copy(const struct rset *set);
void rset_free(struct rset *set); /* NULL is fine */

/* From text or from a parsed value (borrowed). NULL with a sentence that names the key, the rank
 * or the host that is wrong, and what would be right. Times are not looked at. */
struct rset *rset_decode(const char *text, size_t len, struct error *err);
struct rset *rset_from_json(const json_t *R, struct error *err);

/* A new reference: {"version": 1, "execution": {...}}; equal children share an R_lite entry,
 * entries ascend by lowest rank. */
json_t *rset_to_json(const struct rset *set);

/* Add a node at the end; rank must be larger than all before. Sets are copied; gpus may be
 * NULL. */
void rset_append(struct rset *set, uint32_t rank, const char *host, const struct idset *cores,
                 const struct idset *gpus);

#define RSET_TIME_SIZE 64

/* "2023-02-16T16:39:02Z", or plain seconds for a year that no calendar has. */
void rset_write_time(double seconds, char text[RSET_TIME_SIZE]);

/* 0 when `now` lies within [starttime, expiration); -1 with a sentence otherwise. */
int rset_check_time(const struct rset *set, double now, struct error *err);

struct idset *rset_ranks(const struct rset *set);                              /* caller frees */
const struct rset_node *rset_find_rank(const struct rset *set, uint32_t rank); /* or NULL */
/* The first node of the host, or NULL; looks at all nodes. */
const struct rset_node *rset_find_host(const struct rset *set, const char *host);
/* The places of hosts in `nodes`; of a host that has several nodes, the first. The caller frees it
 * before the set. */
struct host_index *rset_host_index(const struct rset *set);

/* A new rset with only the nodes that keep() is true for. Ranks, times, scheduling stay;
 * properties are trimmed to the ranks that stay; nslots is unset unless all do. */
struct rset *rset_select(const struct rset *set,
                         bool (*keep)(const struct rset_node *node, void *arg), void *arg);

/* Properties whose name starts with '+' describe an instance, not its hardware: they do not go
 * into the R of an allocation (RFC 20). */
void rset_drop_local_properties(struct rset *set);

/* A new rset: `set` less what `held` holds, matched by HOST name (two resource sets may number
 * the same host differently). Nodes without cores left are dropped. */
struct rset *rset_subtract_hosts(const struct rset *set, const struct rset *held);

/* The first host (borrowed from a) on which both hold a core or a GPU, with these in *common (the
 * caller frees both sets) when common is not NULL; or NULL. */
const char *rset_overlap(const struct rset *a, const struct rset *b, struct rset_children *common);

/* All that any of these sets holds, a node a host in order of host names. Ranks are positions
 * there: sets may number hosts differently. No times, no properties. */
struct rset *rset_union_hosts(const struct rset *const *sets, size_t nsets);

/* What both hold, matched by HOST name. Ranks and properties are those of `set`; it is valid while
 * both are. Nodes without common cores are dropped. NULL with a sentence where the two are never
 * valid together. */
struct rset *rset_intersect_hosts(const struct rset *set, const struct rset *other,
                                  struct error *err);

/* All of `set` and all of `more`, where they hold nothing in common. A host that both have is one
 * node, with the rank that it has in `set`. The other hosts of `more` keep their ranks where none
 * of these is taken; else they come behind the last rank of `set`, in order. Properties are those
 * of either; it is valid while both are.
 *
 * ranks[i] (caller frees) becomes the rank of the i-th node of `more`. What is under `scheduling`
 * goes by ranks, and is left out. NULL with a sentence: what both hold of which host, or times
 * without a common moment. */
struct rset *rset_append_set(const struct rset *set, const struct rset *more, uint32_t **ranks,
                             struct error *err);

/* The same nodes, properties, times and slots, where the i-th node has rank ranks[i]; all of these
 * are different. What is under `scheduling` is left out. */
struct rset *rset_renumber(const struct rset *set, const uint32_t *ranks);

#endif
