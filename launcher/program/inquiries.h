/*
 * inquiries - questions to agents about their tasks, and signals for some of these, each answered
 * within a time.
 *
 * Whoever has not answered by then, or is lost, is named. Nodes are those of the tree. `done` is
 * called once, from the loop or from inquiries_free().
 */
#ifndef LAUNCHER_PROGRAM_INQUIRIES_H
#define LAUNCHER_PROGRAM_INQUIRIES_H

#include <ev.h>
#include <jansson.h>

#include "affinity/sets/idset.h"
#include "launcher/protocol/inquiry.h"
#include "launcher/tree/frame.h"

struct inquiries;

struct inquiry_node { /* one that answered */
    uint32_t node;
    struct inquiry_answer answer;
};

struct inquiry_result { /* borrowed; who is told may take what is in it, and leaves zeroes there */
    struct inquiry_node *nodes; /* by node */
    size_t nnodes;
    const struct idset *silent; /* nodes that did not answer */
};

typedef void inquiry_done_fn(void *owner, struct inquiry_result *result);

/* send() sends a frame to these nodes, and may answer at once. All is borrowed. */
struct inquiries *inquiries_new(struct ev_loop *loop,
                                void (*send)(void *arg, const struct idset *nodes,
                                             const struct frame *frame),
                                void *arg);
void inquiries_free(struct inquiries *inquiries); /* NULL is fine; those that are open are done */

/* Takes nothing of the inquiry. Nodes have `patience` s. */
void inquiries_ask(struct inquiries *inquiries, const struct inquiry *inquiry, double patience,
                   inquiry_done_fn *done, void *owner);

/* FRAME_INQUIRY_ANSWER, which frame_check.h has passed. */
void inquiries_answer(struct inquiries *inquiries, const struct frame *frame, const json_t *value);
void inquiries_lost(struct inquiries *inquiries, const struct idset *nodes);
void inquiries_settle(struct inquiries *inquiries); /* nobody is waited for any more */

#endif
