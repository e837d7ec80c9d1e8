/*
 * What the rooms of the pool share, in the order in which an allocation passes through them:
 *
 *     nodes    which nodes may be used, and what is free there; nodes of like state are one class
 *     ask      the request in plain numbers
 *     board    what is left in every domain of one node, as counts
 *     room     how many slots a domain can hold at most
 *     seat     one slot onto a board; several, by trying everything
 *     plan     as many slots as wanted onto a node, finest domains first
 *     choose   which nodes, and how much of each one's plan
 *     fill     ids for the counts of a plan
 *     grant    R and its slots
 *     why      the sentence, where nothing is granted
 */
#ifndef AFFINITY_TREEPOOL_TREEPOOL_PRIVATE_H
#define AFFINITY_TREEPOOL_TREEPOOL_PRIVATE_H

#include "affinity/resource/scheduling.h"
#include "affinity/treepool/treepool.h"
#include "base/hash_table.h"

#define TREEPOOL_MAX_SLOTS (1u << 22)
#define TREEPOOL_MAX_ITEMS 16384u
#define TREEPOOL_TRIES 200000u /* domains tried in an allocation, beyond the greedy ways */
#define TREEPOOL_WORK (UINT64_C(1) << 28) /* domains looked at in an allocation: a second or two */
#define TREEPOOL_NONE UINT32_MAX

/* ---- ask ---- */

/* request_need in plain numbers. */
struct treepool_need {
    const char *locality; /* NULL: the slot itself */
    uint32_t count;
    bool exclusive;
    uint32_t cores, gpus;         /* directly here */
    uint64_t all_cores, all_gpus; /* of one, with what is below */
    struct treepool_need *inner;
    size_t ninner;
    uint32_t number; /* of all needs of the slot */
};

/* A locality that a slot needs, once for each time it is counted; those around it come before. */
struct treepool_item {
    const struct treepool_need *need;
    uint32_t around; /* item; TREEPOOL_NONE: the slot */
    uint32_t before; /* the item counted before it for the same need, or TREEPOOL_NONE */
    uint32_t after;  /* how many are counted after it */
    uint32_t claim;  /* item: the exclusive one that it is in, or itself is, or TREEPOOL_NONE */
};

struct treepool_ask {
    const struct request *request;
    uint64_t *work; /* domains that may still be looked at; 0: nothing fits any more */
    struct treepool_need slot;
    uint32_t nneeds; /* the slot and all below it */
    struct treepool_item *items;
    uint32_t nitems;
    bool exclusive;     /* whole nodes */
    bool has_exclusive; /* whole domains, anywhere */
    bool whole_slot;    /* a slot that asks for nothing gets the whole node */
    const struct count *slots;
    const struct count
        *pieces; /* of the outermost `within`, or of slots: on each node, or in all */
};

/* 0, or -1 where the slot is larger than anything can be. *work is counted down as long as the ask
 * is in use. */
int treepool_ask_make(struct treepool_ask *ask, const struct request *request, uint64_t *work,
                      struct error *err);
/* Take this number of domains from what may still be looked at. False: fewer are left. */
static inline bool treepool_ask_spend(const struct treepool_ask *ask, uint64_t ndomains)
{
    bool enough = *ask->work > ndomains;
    *ask->work = enough ? *ask->work - ndomains : 0;
    return enough;
}
void treepool_ask_clear(struct treepool_ask *ask);
/* The numbers of a slot that are ranges, each with its place in the ask, in order. */
struct treepool_range {
    const struct count *count;
    uint32_t *value;
};
size_t treepool_ask_ranges(struct treepool_ask *ask,
                           struct treepool_range **ranges);           /* caller frees */
int treepool_ask_update(struct treepool_ask *ask, struct error *err); /* after values changed */

/* ---- nodes ---- */

struct treepool_plan;
struct treepool_fill;

/* Nodes that have the same and of that the same free. */
struct treepool_class {
    const struct rset_children *own;
    const struct scheduling_tree *tree;
    struct idset *cores, *gpus; /* free */
    uint32_t ncores, ngpus;     /* free */
    bool whole;                 /* all is free */
    struct treepool_plan *plan;
    struct treepool_fill *fills; /* by how much of the plan they fill; a list */
};

struct treepool_node {
    const struct rset_node *node;
    uint32_t class;
};

struct treepool_nodes {
    struct treepool_node *nodes; /* by rank */
    size_t nnodes;
    struct treepool_class *classes;
    uint32_t nclasses;
    uint32_t nstated;         /* nodes passed over, which state too little memory or storage */
    uint32_t nmatched;        /* nodes that match the constraint */
    uint64_t memory, storage; /* the most any of these states */
    uint64_t own_cores, own_gpus, free_cores, free_gpus;
    struct scheduling *locality;
    struct scheduling_tree alone; /* of nodes without topology */
};

/* NULL with a sentence where the topology of R is not right. */
struct treepool_nodes *treepool_nodes_new(const struct rset *R, const struct rset *held,
                                          const struct request *request,
                                          const struct constraint *constraint, struct error *err);
void treepool_nodes_free(struct treepool_nodes *nodes);

/* ---- board ---- */

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
/* Give back all shares and seats but the first so many. */
void treepool_board_undo(struct treepool_board *board, size_t nshares, size_t nseats);
void treepool_board_add_seat(struct treepool_board *board, uint32_t level);
/* The trial of trial->domain, if this board, or one that held the same within `stop`, had it before. */
bool treepool_board_recall(struct treepool_board *board, uint32_t depth, uint32_t stop,
                           struct treepool_trial *trial);
void treepool_board_remember(struct treepool_board *board, uint32_t depth, uint32_t stop,
                             const struct treepool_trial *trial);

/* ---- room ---- */

/* At most so many of a need fit into a domain and what is below it; UINT32_MAX: any number. What is
 * found is kept on the board until the domain changes, since needs within one another ask for the
 * same again and again. */
uint32_t treepool_room(struct treepool_board *board, const struct treepool_need *need,
                       uint32_t domain);

/* ---- seat ---- */

enum treepool_manner {
    TREEPOOL_FIRST,   /* the first domains that fit */
    TREEPOOL_ROOMIEST /* those where most is left, so that slots of several domains come out even */
};

/* One slot into `home`, or false and nothing is changed. */
bool treepool_seat(struct treepool_board *board, uint32_t home, uint32_t stop,
                   enum treepool_manner manner);
/* So many slots into `home`, whichever way they fit. */
bool treepool_seat_exactly(struct treepool_board *board, uint32_t home, uint32_t stop,
                           uint32_t nslots);

/* ---- plan ---- */

struct treepool_plan {
    struct treepool_piece *pieces;
    struct treepool_seat *seats;
    struct treepool_share *shares;
    uint32_t npieces;
};

struct treepool_plan *treepool_plan_new(struct treepool_board *board,
                                        const struct treepool_class *class);
void treepool_plan_free(struct treepool_plan *plan);

/* ---- choose ---- */

struct treepool_choice {
    uint32_t node;
    uint32_t npieces; /* of its plan */
};

struct treepool_chosen {
    struct treepool_choice *choices; /* in order of the slots */
    size_t nchoices;
    uint64_t nslots;
    uint64_t found; /* nodes that fit, or pieces in all */
    uint32_t best;  /* the most pieces that a node holds */
};

/* True when the request is met. */
bool treepool_choose(struct treepool_nodes *nodes, const struct treepool_ask *ask,
                     struct treepool_chosen *chosen);
void treepool_chosen_clear(struct treepool_chosen *chosen);

/* ---- fill ---- */

/* The first so many pieces of a class's plan with ids. */
struct treepool_fill {
    struct treepool_fill *next;
    uint32_t npieces;
    struct idset **cores, **gpus; /* by slot */
    uint32_t nslots;
    struct idset *all_cores, *all_gpus; /* slots and claims */
};

const struct treepool_fill *treepool_fill(struct treepool_class *class,
                                          const struct treepool_ask *ask, uint32_t npieces);
void treepool_fill_free(struct treepool_fill *fill); /* and all behind it */

/* ---- grant ---- */

struct treepool_grant *treepool_grant_new(const struct rset *R, struct treepool_nodes *nodes,
                                          const struct treepool_ask *ask,
                                          const struct treepool_chosen *chosen);

/* ---- why ---- */

/* `nodes` with everything free, and what was found there. */
void treepool_why_never(const struct treepool_nodes *nodes, const struct treepool_ask *ask,
                        const struct treepool_chosen *found, const struct constraint *constraint,
                        struct error *err);
/* `nodes` as they are. */
void treepool_why_busy(const struct treepool_nodes *nodes, const struct treepool_ask *ask,
                       const struct treepool_chosen *found, struct error *err);

#endif
