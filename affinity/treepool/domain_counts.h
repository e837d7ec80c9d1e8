/*
 * domain_counts - what is left in every domain of one node, as counts; how many of a need a domain can
 * hold. Private to treepool/.
 */
#ifndef AFFINITY_TREEPOOL_DOMAIN_COUNTS_H
#define AFFINITY_TREEPOOL_DOMAIN_COUNTS_H

#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"
#include "base/hash_table.h"

/* What a slot, or a claim, takes from a domain. */
struct treepool_share {
    uint32_t domain;
    uint32_t slot; /* in the plan; TREEPOOL_NONE: claimed, for no slot by itself */
    uint32_t cores, gpus;
    uint32_t stop;  /* domain: those around it, or it itself, are claimed for this share */
    bool exclusive; /* all of the domain */
    bool inside;    /* the claim of the same slot around it has these already */
};

struct treepool_seat { /* a slot of a plan */
    uint32_t level;    /* height of the domain it lies in */
    uint32_t end;      /* of its shares, which begin where the last slot's end */
};

struct treepool_piece { /* what is counted: a slot, or an outermost `within` with its slots */
    uint32_t level;     /* the coarsest of its slots */
    uint32_t nslots;
    uint32_t seats_end, shares_end; /* of these and all pieces before */
};

/* How often a need fits into a domain, and when that was found. */
struct treepool_known {
    uint64_t when; /* 0: never */
    uint32_t room;
};

/* What a domain would hold by itself as one of those counted at a depth of `within`. */
struct treepool_trial {
    uint32_t domain, level, nslots; /* 0 slots: it does not fit */
};

/* A trial, and what there was to take from: all within `stop`, which has this mark. */
struct treepool_tried {
    uint32_t depth, stop;
    uint64_t mark;
    struct treepool_trial trial;
};

struct treepool_board {
    const struct treepool_ask *ask;
    const struct scheduling_tree *tree;
    uint32_t *cores, *gpus;         /* left, by domain */
    uint32_t *own_cores, *own_gpus; /* by domain; only where something is exclusive */
    bool *claimed;
    uint64_t now;      /* counts what changed */
    uint64_t *changed; /* by domain: when what it has, or one below it has, last changed */
    struct treepool_known **known; /* by need, then domain; NULL where nothing is known */
    uint64_t *marks;               /* by domain: a sum of what was taken from it and all below it;
                                  only where `within` has several localities */
    struct treepool_tried *tried;  /* by number in the table */
    struct hash_table trials;
    struct treepool_share *shares;
    size_t nshares, shares_capacity;
    struct treepool_seat *seats;
    size_t nseats, seats_capacity;
    struct treepool_piece *pieces;
    size_t npieces, pieces_capacity;
    uint32_t room;  /* domains there is memory for */
    uint32_t tries; /* left, of the allocation */
};

void treepool_board_set(struct treepool_board *board, const struct treepool_class *class);
void treepool_board_clear(struct treepool_board *board);
/* Take what a share says, or false and nothing is changed. */
bool treepool_board_take(struct treepool_board *board, struct treepool_share share);
bool treepool_board_can_claim(const struct treepool_board *board, uint32_t domain);
/* Keep the first nshares shares and nseats seats, and give back the others. */
void treepool_board_undo(struct treepool_board *board, size_t nshares, size_t nseats);
void treepool_board_add_seat(struct treepool_board *board, uint32_t level);
/* The trial of trial->domain, if this board, or one that held the same within `stop`, had it before. */
bool treepool_board_recall(struct treepool_board *board, uint32_t depth, uint32_t stop,
                           struct treepool_trial *trial);
void treepool_board_remember(struct treepool_board *board, uint32_t depth, uint32_t stop,
                             const struct treepool_trial *trial);

/* At most so many of a need fit into a domain and what is below it; UINT32_MAX: any number. What is
 * found is kept on the board until the domain changes, since needs within one another ask for the
 * same again and again. */
uint32_t treepool_room(struct treepool_board *board, const struct treepool_need *need,
                       uint32_t domain);

#endif
