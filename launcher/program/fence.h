/*
 * fence - the barriers and fences of a task group over its nodes, as the manager sees them.
 *
 * Agents send up what their tasks put in; once all nodes have, the whole goes down to each of them.
 * The manager gathers and takes no part itself. A rank that will never enter again is passed on to
 * all nodes, so that nobody waits for it for ever.
 */
#ifndef LAUNCHER_PROGRAM_FENCE_H
#define LAUNCHER_PROGRAM_FENCE_H

#include <stdint.h>

#include "base/error.h"
#include "launcher/tree/frame.h"

struct fence;

struct fence_ops {
    void (*send)(void *owner, const struct frame *frame); /* to all agents of the group */
};

/* For a group on this many nodes. ops and owner are borrowed. */
struct fence *fence_new(uint32_t nnodes, const struct fence_ops *ops, void *owner);
void fence_free(struct fence *fence); /* NULL is fine */

/* FRAME_FENCE_UP: frame->rank nodes have entered. -1 with a sentence: it cannot be, and the agent
 * is broken. */
int fence_enter(struct fence *fence, const struct frame *frame, struct error *err);
/* FRAME_MISSING: some rank will not enter. Sent on where it says something new. */
void fence_missing(struct fence *fence, const struct frame *frame);

#endif
