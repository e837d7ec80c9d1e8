/*
 * request - what a shape asks of a pool, in the pool's own terms (RFC 46, RFC 14).
 *
 *     node=2/socket=2/slot=3/[core=4;gpu=1]
 *     \____/ \______/ \____/ \____________/
 *     nodes   within   slots     slot
 *
 * One kind of slot: what a pool cannot honour (a second kind of slot, a slot across nodes) has been
 * refused by name when there is a request.
 */
#ifndef AFFINITY_TREEPOOL_REQUEST_H
#define AFFINITY_TREEPOOL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/shape/count.h"
#include "affinity/shape/shape.h"
#include "base/error.h"

/* What one slot needs, or each of so many localities (socket, numa, a site's own) inside it. Where
 * localities are counted they are distinct ones, each giving what stands under it. */
struct request_need {
    char *locality;     /* NULL: the slot itself */
    struct count count; /* of the locality; 1 for the slot */
    bool exclusive;     /* the whole of it, all its cores and GPUs, which must be free */
    struct count cores; /* directly here, beside what `inner` needs; not given: none */
    struct count gpus;
    struct request_need *inner;
    size_t ninner;
};

/* A locality between node and slot: so many distinct ones, each holding the slots under it. */
struct request_within {
    char *locality;
    struct count count;
    bool exclusive;
};

struct request {
    struct count nodes;            /* distinct nodes; not given: slots are a total over any nodes */
    bool node_exclusive;           /* whole nodes, which must be free */
    struct request_within *within; /* outermost first */
    size_t nwithin;
    struct count slots; /* in each innermost `within`; else on each node; else in all */
    char *label;        /* of the slot */
    struct request_need slot;
    uint64_t memory;  /* bytes a node must state at least, where its topology states any; 0: any */
    uint64_t storage; /* likewise */
};

/* NULL with a sentence, a caret's place where the shape came from text. */
struct request *request_from_shape(const struct shape *shape, struct error *err);
void request_free(struct request *request); /* NULL is fine */

#endif
