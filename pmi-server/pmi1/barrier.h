/*
 * barrier - who is in the barrier of one server, and whether it can still complete.
 *
 * Barriers count from 0; `sequence` is the number of the open (or next) one. Whoever leaves is
 * missing from a number on; the lowest such number is kept, with its rank.
 */
#ifndef PMI_SERVER_PMI1_BARRIER_H
#define PMI_SERVER_PMI1_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

struct pmi1_barrier {
    uint32_t nlocal;  /* clients that take part */
    uint32_t entered; /* of these */
    uint64_t sequence;
    bool exchanging; /* all are in; the owner has been asked for the exchange */
    bool missing;    /* missing_rank will not enter missing_from, nor what follows */
    uint32_t missing_rank;
    uint64_t missing_from;
};

/* A client enters; true when it was the last. */
static inline bool pmi1_barrier_enter(struct pmi1_barrier *barrier)
{
    barrier->exchanging = ++barrier->entered == barrier->nlocal;
    return barrier->exchanging;
}

static inline void pmi1_barrier_next(struct pmi1_barrier *barrier)
{
    barrier->sequence++;
    barrier->entered = 0;
    barrier->exchanging = false;
}

static inline void pmi1_barrier_leave(struct pmi1_barrier *barrier, uint32_t rank, uint64_t from)
{
    if (barrier->missing && barrier->missing_from <= from)
        return;
    barrier->missing = true;
    barrier->missing_rank = rank;
    barrier->missing_from = from;
}

/* The open barrier can't complete. */
static inline bool pmi1_barrier_is_stuck(const struct pmi1_barrier *barrier)
{
    return barrier->entered && barrier->missing && barrier->missing_from <= barrier->sequence;
}

#endif
