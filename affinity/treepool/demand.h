/*
 * demand - a request in plain numbers, with every range at one value. Private to treepool/.
 */
#ifndef AFFINITY_TREEPOOL_DEMAND_H
#define AFFINITY_TREEPOOL_DEMAND_H

#include "affinity/treepool/request.h"
#include "base/error.h"

#define TREEPOOL_MAX_SLOTS (1u << 22)
#define TREEPOOL_MAX_ITEMS 16384u
#define TREEPOOL_TRIES 200000u /* domains tried in an allocation, beyond the greedy ways */
#define TREEPOOL_WORK (UINT64_C(1) << 28) /* domains looked at in an allocation: a second or two */
#define TREEPOOL_NONE UINT32_MAX

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

#endif
