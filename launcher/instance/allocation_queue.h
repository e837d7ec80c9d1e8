/*
 * allocation_queue - the wait for resources that others hold, in order of arrival.
 *
 * A program that cannot be placed now waits. When something may have become free, retry() asks the
 * owner to try again; where that was not enough, the owner calls allocation_queue_wait() again. The
 * ledger has the order, and what each program in line keeps from later ones
 * (launcher/ledger/claim_queue.h). What this one keeps is found by trials of the owner's plan, by
 * fit(). --wait limits the time.
 */
#ifndef LAUNCHER_INSTANCE_ALLOCATION_QUEUE_H
#define LAUNCHER_INSTANCE_ALLOCATION_QUEUE_H

#include <ev.h>
#include <stdbool.h>

#include "launcher/instance/resources.h"

struct allocation_queue_ops { /* `owner` is what allocation_queue_new() was given */
    /* Nothing is to be placed any more: then no other function is called. */
    bool (*is_over)(void *owner);
    void (*retry)(void *owner);
    void (*expired)(void *owner, const struct error *err); /* --wait is over */
    void (*say)(void *owner, const char *text);            /* with -v: what it waits for */
    void (*note)(void *owner, const char *text);           /* the same after a while */
    void (*waits)(void *owner, const char *what);          /* "4 cores on node0" */
    /* A trial: what would be claimed if others held this and no more (NULL: nothing). The queue
     * frees the result. NULL with the reason: there would not be enough; *known is false where that
     * cannot be told. */
    struct rset *(*fit)(void *owner, const struct rset *held, bool *known, struct error *err);
};

struct allocation_queue;

/* All is borrowed. It waits for nothing yet. */
struct allocation_queue *allocation_queue_new(struct ev_loop *loop, const struct spec *spec,
                                              struct resources *resources,
                                              const struct allocation_queue_ops *ops, void *owner);
void allocation_queue_free(struct allocation_queue *queue); /* NULL is fine */

/* The program cannot be placed now, for the reason in *err. 0: it waits. -1 with a sentence: it
 * does not wait, because of --no-wait, or because it could never be placed, or nobody holds
 * anything. */
int allocation_queue_wait(struct allocation_queue *queue, struct error *err);
void allocation_queue_leave(struct allocation_queue *queue); /* also where it does not wait */
bool allocation_queue_waits(const struct allocation_queue *queue);
/* "4 cores on node0: program 17 (./app, since 12:03) holds cores 0-3 of node0; 2 programs are
 * before this one; --overlap shares them"; caller frees. NULL where it does not wait, or without a
 * queue. */
char *allocation_queue_describe(struct allocation_queue *queue);

#endif
