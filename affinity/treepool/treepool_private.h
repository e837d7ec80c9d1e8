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
#ifndef AFFINITY_POOL_PRIVATE_H
#define AFFINITY_POOL_PRIVATE_H

#include "affinity/resource/scheduling.h"
#include "affinity/treepool/treepool.h"
#include "base/hash_table.h"

#define POOL_MAX_SLOTS (1u << 22)
#define POOL_MAX_ITEMS 16384u
#define POOL_TRIES 200000u            /* domains tried in an allocation, beyond the greedy ways */
#define POOL_WORK (UINT64_C(1) << 28) /* domains looked at in an allocation: a second or two */
#define POOL_NONE UINT32_MAX

/* ---- ask ---- */

/* request_need in plain numbers. */
struct pool_need {
    const char *locality; /* NULL: the slot itself */
    uint32_t count;
    bool exclusive;
    uint32_t cores, gpus;         /* directly here */
    uint64_t all_cores, all_gpus; /* of one, with what is below */
    struct pool_need *inner;
    size_t ninner;
    uint32_t number; /* of all needs of the slot */
};

/* A locality that a slot needs, once for each time it is counted; those around it come before. */
struct pool_item {
    const struct pool_need *need;
    uint32_t around; /* item; POOL_NONE: the slot */
    uint32_t before; /* the item counted before it for the same need, or POOL_NONE */
    uint32_t after;  /* how many are counted after it */
    uint32_t claim;  /* item: the exclusive one that it is in, or itself is, or POOL_NONE */
};

struct pool_ask {
    const struct request *request;
    uint64_t *work; /* domains that may still be looked at; 0: nothing fits any more */
    struct pool_need slot;
    uint32_t nneeds; /* the slot and all below it */
    struct pool_item *items;
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
int pool_ask_make(struct pool_ask *ask, const struct request *request, uint64_t *work,
                  struct error *err);
/* Take this number of domains from what may still be looked at. False: fewer are left. */
static inline bool pool_ask_spend(const struct pool_ask *ask, uint64_t ndomains)
{
    bool enough = *ask->work > ndomains;
    *ask->work = enough ? *ask->work - ndomains : 0;
    return enough;
}
void pool_ask_clear(struct pool_ask *ask);
/* The numbers of a slot that are ranges, each with its place in the ask, in order. */
struct pool_range {
    const struct count *count;
    uint32_t *value;
};
size_t pool_ask_ranges(struct pool_ask *ask, struct pool_range **ranges); /* caller frees */
int pool_ask_update(struct pool_ask *ask, struct error *err);             /* after values changed */

/* ---- nodes ---- */

struct pool_plan;
struct pool_fill;

/* Nodes that have the same and of that the same free. */
struct pool_class {
    const struct rset_children *own;
    const struct locality_tree *tree;
    struct idset *cores, *gpus; /* free */
    uint32_t ncores, ngpus;     /* free */
    bool whole;                 /* all is free */
    struct pool_plan *plan;
    struct pool_fill *fills; /* by how much of the plan they fill; a list */
};

struct pool_node {
    const struct rset_node *node;
    uint32_t class;
};

struct pool_nodes {
    struct pool_node *nodes; /* by rank */
    size_t nnodes;
    struct pool_class *classes;
    uint32_t nclasses;
    uint32_t nstated;         /* nodes passed over, which state too little memory or storage */
    uint32_t nmatched;        /* nodes that match the constraint */
    uint64_t memory, storage; /* the most any of these states */
    uint64_t own_cores, own_gpus, free_cores, free_gpus;
    struct locality *locality;
    struct locality_tree alone; /* of nodes without topology */
};

/* NULL with a sentence where the topology of R is not right. */
struct pool_nodes *pool_nodes_new(const struct rset *R, const struct rset *held,
                                  const struct request *request,
                                  const struct constraint *constraint, struct error *err);
void pool_nodes_free(struct pool_nodes *nodes);

/* ---- board ---- */

/* What a slot, or a claim, takes from a domain. */
struct pool_share {
    uint32_t domain;
    uint32_t slot; /* in the plan; POOL_NONE: claimed, for no slot by itself */
    uint32_t cores, gpus;
    uint32_t stop;  /* domain: those around it, or it itself, are claimed for this share */
    bool exclusive; /* all of the domain */
    bool inside;    /* the claim of the same slot around it has these already */
};

struct pool_seat {  /* a slot of a plan */
    uint32_t level; /* height of the domain it lies in */
    uint32_t end;   /* of its shares, which begin where the last slot's end */
};

struct pool_piece { /* what is counted: a slot, or an outermost `within` with its slots */
    uint32_t level; /* the coarsest of its slots */
    uint32_t nslots;
    uint32_t seats_end, shares_end; /* of these and all pieces before */
};

/* How often a need fits into a domain, and when that was found. */
struct pool_known {
    uint64_t when; /* 0: never */
    uint32_t room;
};

/* What a domain would hold by itself as one of those counted at a depth of `within`. */
struct pool_trial {
    uint32_t domain, level, nslots; /* 0 slots: it does not fit */
};

/* A trial, and what there was to take from: all within `stop`, which has this mark. */
struct pool_tried {
    uint32_t depth, stop;
    uint64_t mark;
    struct pool_trial trial;
};

struct pool_board {
    const struct pool_ask *ask;
    const struct locality_tree *tree;
    uint32_t *cores, *gpus;         /* left, by domain */
    uint32_t *own_cores, *own_gpus; /* by domain; only where something is exclusive */
    bool *claimed;
    uint64_t now;              /* counts what changed */
    uint64_t *changed;         /* by domain: when what it has, or one below it has, last changed */
    struct pool_known **known; /* by need, then domain; NULL where nothing is known */
    uint64_t *marks;           /* by domain: a sum of what was taken from it and all below it;
                                  only where `within` has several localities */
    struct pool_tried *tried;  /* by number in the table */
    struct table trials;
    size_t tried_room;
    struct pool_share *shares;
    size_t nshares, shares_room;
    struct pool_seat *seats;
    size_t nseats, seats_room;
    struct pool_piece *pieces;
    size_t npieces, pieces_room;
    uint32_t room;  /* domains there is memory for */
    uint32_t tries; /* left, of the allocation */
};

void pool_board_set(struct pool_board *board, const struct pool_class *class);
void pool_board_clear(struct pool_board *board);
/* Take what a share says, or false and nothing is changed. */
bool pool_board_take(struct pool_board *board, struct pool_share share);
bool pool_board_can_claim(const struct pool_board *board, uint32_t domain);
/* Give back all shares and seats but the first so many. */
void pool_board_undo(struct pool_board *board, size_t nshares, size_t nseats);
void pool_board_add_seat(struct pool_board *board, uint32_t level);
/* The trial of trial->domain, if this board, or one that held the same within `stop`, had it before. */
bool pool_board_recall(struct pool_board *board, uint32_t depth, uint32_t stop,
                       struct pool_trial *trial);
void pool_board_remember(struct pool_board *board, uint32_t depth, uint32_t stop,
                         const struct pool_trial *trial);

/* ---- room ---- */

/* At most so many of a need fit into a domain and what is below it; UINT32_MAX: any number. What is
 * found is kept on the board until the domain changes, since needs within one another ask for the
 * same again and again. */
uint32_t pool_room(struct pool_board *board, const struct pool_need *need, uint32_t domain);

/* ---- seat ---- */

enum pool_manner {
    POOL_FIRST,   /* the first domains that fit */
    POOL_ROOMIEST /* those where most is left, so that slots of several domains come out even */
};

/* One slot into `home`, or false and nothing is changed. */
bool pool_seat(struct pool_board *board, uint32_t home, uint32_t stop, enum pool_manner manner);
/* So many slots into `home`, whichever way they fit. */
bool pool_seat_exactly(struct pool_board *board, uint32_t home, uint32_t stop, uint32_t nslots);

/* ---- plan ---- */

struct pool_plan {
    struct pool_piece *pieces;
    struct pool_seat *seats;
    struct pool_share *shares;
    uint32_t npieces;
};

struct pool_plan *pool_plan_new(struct pool_board *board, const struct pool_class *class);
void pool_plan_free(struct pool_plan *plan);

/* ---- choose ---- */

struct pool_choice {
    uint32_t node;
    uint32_t npieces; /* of its plan */
};

struct pool_chosen {
    struct pool_choice *choices; /* in order of the slots */
    size_t nchoices;
    uint64_t nslots;
    uint64_t found; /* nodes that fit, or pieces in all */
    uint32_t best;  /* the most pieces that a node holds */
};

/* True when the request is met. */
bool pool_choose(struct pool_nodes *nodes, const struct pool_ask *ask, struct pool_chosen *chosen);
void pool_chosen_clear(struct pool_chosen *chosen);

/* ---- fill ---- */

/* The first so many pieces of a class's plan with ids. */
struct pool_fill {
    struct pool_fill *next;
    uint32_t npieces;
    struct idset **cores, **gpus; /* by slot */
    uint32_t nslots;
    struct idset *all_cores, *all_gpus; /* slots and claims */
};

const struct pool_fill *pool_fill(struct pool_class *class, const struct pool_ask *ask,
                                  uint32_t npieces);
void pool_fill_free(struct pool_fill *fill); /* and all behind it */

/* ---- grant ---- */

struct pool_grant *pool_grant_new(const struct rset *R, struct pool_nodes *nodes,
                                  const struct pool_ask *ask, const struct pool_chosen *chosen);

/* ---- why ---- */

/* `nodes` with everything free, and what was found there. */
void pool_why_never(const struct pool_nodes *nodes, const struct pool_ask *ask,
                    const struct pool_chosen *found, const struct constraint *constraint,
                    struct error *err);
/* `nodes` as they are. */
void pool_why_busy(const struct pool_nodes *nodes, const struct pool_ask *ask,
                   const struct pool_chosen *found, struct error *err);

#endif
