/*
 * barrier - who of this node is in a barrier, and whether it can still complete.
 *
 * A barrier is entered round after round, counted from 0; `sequence` is the number of the open (or
 * next) one. A member with threads may enter the next round before the open one is over. Whoever
 * leaves is missing from a number on; the lowest such number is kept, with its rank.
 */
#ifndef PMI_SERVER_PMI_BARRIER_H
#define PMI_SERVER_PMI_BARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmi_request;

/* The ranks that have left, here or elsewhere: zeroed but for its size, nobody has. */
struct left_ranks {
    unsigned char *bits; /* by rank; NULL: nobody */
    uint32_t size;       /* ranks of all nodes */
    uint32_t last;       /* one of them */
};

struct barrier {
    char *name;        /* of its group; NULL: all take part */
    uint32_t nnodes;   /* that have members; 0: all */
    uint64_t id;       /* of its rounds in the exchange, see barrier_id() */
    uint32_t nlocal;   /* members of this node */
    uint64_t *entered; /* [room] rounds that each member of this node has entered, by its index */
    size_t room;
    struct pmi_request *first, *last; /* that wait in it, the oldest first */
    uint32_t ready;                   /* members that have entered the open round */
    uint64_t sequence;
    bool exchanging; /* all are in; the owner has been asked for the exchange */
    uint32_t stamp;  /* of the pairs that it carries */
    bool missing;    /* missing_rank will not enter missing_from, nor what follows */
    uint32_t missing_rank;
    uint64_t missing_from;
};

void barrier_free(struct barrier *barrier);

/* Of the open round: those of all are counted, as late words of one must not be taken for the next;
 * those of a group have one id, as groups come and go. */
uint64_t barrier_id(const struct barrier *barrier);

/* The member of that index enters its next round, whose number this is. */
uint64_t barrier_enter(struct barrier *barrier, size_t index);
/* Rounds that it has entered. */
uint64_t barrier_entered(const struct barrier *barrier, size_t index);
/* All members are in the open round, and its exchange has not begun: it has now. */
bool barrier_begin_exchange(struct barrier *barrier);
void barrier_next(struct barrier *barrier);

void barrier_leave(struct barrier *barrier, uint32_t rank, uint64_t from);
/* The open round can't complete. */
bool barrier_is_stuck(const struct barrier *barrier);

void left_ranks_add(struct left_ranks *left, uint32_t rank); /* one of `size` or more is ignored */
bool left_ranks_has(const struct left_ranks *left, uint32_t rank);
void left_ranks_free(struct left_ranks *left);

#endif
