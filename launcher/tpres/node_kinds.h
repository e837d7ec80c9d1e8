/*
 * node_kinds - the nodes of an R, those that are alike but for their names as one.
 */
#ifndef LAUNCHER_TPRES_NODE_KINDS_H
#define LAUNCHER_TPRES_NODE_KINDS_H

#include "affinity/resource/rset.h"
#include "affinity/resource/scheduling.h"
#include "affinity/sets/hostlist.h"
#include "base/buf.h"

struct tpres_kind {
    const struct rset_children *children; /* borrowed from R */
    int32_t tree;                         /* in the localities; -1: none */
    uint32_t properties;                  /* number of the set of them that these nodes have */
    struct idset *ranks;
    struct hostlist *hosts;
};

struct tpres_kinds {
    const struct rset *R;
    struct scheduling *localities;
    struct tpres_kind *list; /* by lowest rank */
    size_t count;
};

/* 0, or -1 with a sentence. */
int tpres_kinds_read(const struct rset *R, struct tpres_kinds *kinds, struct error *err);
void tpres_kinds_clear(struct tpres_kinds *kinds);

/* Names of properties, in the order of R, that nodes of a kind have: "fast,ssd". Caller frees. */
char *tpres_kind_properties(const struct tpres_kinds *kinds, const struct tpres_kind *kind);

/* "2 socket, 8 numa": domains by name; "" where nothing divides the nodes. Caller frees. */
char *tpres_kind_topology(const struct tpres_kinds *kinds, const struct tpres_kind *kind);

/* The domains of a kind, a line each, with what R has of their cores and GPUs. */
void tpres_kind_draw(const struct tpres_kinds *kinds, const struct tpres_kind *kind,
                     struct buf *out);

#endif
