/*
 * treepool - slots out of a resource set: the TreePool allocator (RFC 49).
 *
 * A pure function of (R, what is held, request): same values, same slots. Where R has a TreePool
 * topology slots keep to its localities; where it has none a node is one locality.
 *
 * Rules and where they go further than the RFC: tprun-shape(7).
 */
#ifndef AFFINITY_TREEPOOL_TREEPOOL_H
#define AFFINITY_TREEPOOL_TREEPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "affinity/resource/constraint.h"
#include "affinity/resource/rset.h"
#include "affinity/treepool/request.h"
#include "base/error.h"

struct treepool_slot {
    uint32_t rank;       /* execution target, as in R */
    struct idset *cores; /* logical, as in R; may be empty only where the slot needs no core */
    struct idset *gpus;  /* never NULL */
};

/* What was allocated. R has nslots set and `scheduling` trimmed as RFC 49 says; the slots say which
 * of its cores and GPUs belong together, in order: by node as chosen, then as they were found. An
 * exclusive node or locality holds more than its slots do. */
struct treepool_grant {
    struct rset *R;
    struct treepool_slot *slots;
    size_t nslots;
};

enum treepool_answer {
    TREEPOOL_GRANTED,
    TREEPOOL_BUSY, /* not now: others hold what it needs */
    TREEPOOL_NEVER /* not even with everything free */
};

/* `held` (matched by host name; may be NULL) is what others have; `constraint` (may be NULL) says
 * which nodes may be used. *grant is set with TREEPOOL_GRANTED only; err says why not otherwise. */
enum treepool_answer treepool_allocate(const struct rset *R, const struct rset *held,
                                       const struct request *request,
                                       const struct constraint *constraint,
                                       struct treepool_grant **grant, struct error *err);
void treepool_grant_free(struct treepool_grant *grant); /* NULL is fine */

#endif
