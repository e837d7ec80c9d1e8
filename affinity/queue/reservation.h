/*
 * reservation - what a program that waits keeps free, so that later ones may start before it and do
 * not delay it (backfill).
 *
 * The rule: a program may start before an earlier one that waits if it takes nothing that the
 * earlier one keeps (`kept`), or if it ends before the earlier one can start (`start`).
 *
 * The earliest start is the moment from which on the waiting program fits, where all that is held
 * is free at its known end, and what has no known end is free already: it may be at any moment.
 * What it does not keep is free now, and of no use to it: whatever ends first, it starts at the
 * same moment without it.
 *
 * Times are seconds of one clock. Source: EASY backfilling (Lifka, The ANL/IBM SP Scheduling
 * System, 1995).
 */
#ifndef AFFINITY_QUEUE_RESERVATION_H
#define AFFINITY_QUEUE_RESERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/resource/rset.h"

#define RESERVATION_ANY_MOMENT 1 /* a start: nothing is known that it would have to wait for */

struct reservation_hold { /* what another program holds, or keeps because it waits and came first */
    struct rset *set;     /* borrowed */
    uint64_t end;  /* the earliest time at which it can be free; `now` or less: at any moment */
    bool is_known; /* at `end` it is free for certain */
};

struct reservation_question {
    const struct reservation_hold *holds;
    size_t nholds;
    uint64_t now;
    const struct rset *scope; /* all that the program could use */
    bool is_first; /* no other program that waits is before it; else it keeps all of its scope */
    /* What it would take were all of its scope free but `taken` (NULL: nothing is taken); the
     * caller frees it. NULL: it does not fit. */
    struct rset *(*fit)(void *owner, const struct rset *taken);
    void *owner;
};

struct reservation {
    uint64_t start;    /* not before it; or RESERVATION_ANY_MOMENT */
    struct rset *kept; /* the caller frees it */
};

/* Asks fit() a hundred times at most: where that does not tell what can be spared, nothing is. */
struct reservation reservation_make(const struct reservation_question *question);

/* Whether what ends then (0: not known) is over when the other starts (0: not known). */
bool reservation_lets_pass(uint64_t end, uint64_t start);

#endif
