/*
 * group_fence - a task group's collective over its nodes: what each node enters goes up, the whole
 * comes down to all (pmi-server/exchange). PMI-1 and PMI-2 barriers and PMIx fences all go through
 * it.
 */
#ifndef LAUNCHER_AGENT_GROUP_FENCE_H
#define LAUNCHER_AGENT_GROUP_FENCE_H

#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/error.h"
#include "launcher/agent/downlink.h"
#include "launcher/agent/uplink.h"
#include "launcher/protocol/launch.h"

struct group_fence;

struct group_fence_ops {
    /* A round is complete: what all nodes entered. */
    void (*done)(void *owner, uint64_t id, const void *bytes, size_t len);
    void (*failed)(void *owner, const struct error *err);
};

/* `nodes` below this one take part. All are borrowed. */
struct group_fence *group_fence_new(struct uplink *uplink, struct downlink *downlink,
                                    const struct launch *launch, const struct idset *nodes,
                                    const struct group_fence_ops *ops, void *owner);
void group_fence_free(struct group_fence *fence); /* NULL is fine */

/* This node enters a round of `nnodes` nodes, 0: of all. */
void group_fence_enter(struct group_fence *fence, uint64_t id, uint32_t nnodes, const void *bytes,
                       size_t len);
/* FRAME_FENCE_UP of a node below; FRAME_FENCE_DOWN from above. */
void group_fence_up(struct group_fence *fence, const struct frame *frame);
void group_fence_down(struct group_fence *fence, const struct frame *frame);

/* Other nodes have to know that this rank of the group enters none from this number on:
 * FRAME_MISSING. */
void group_fence_report_missing(struct group_fence *fence, uint32_t rank, uint64_t from,
                                uint16_t flags);

#endif
