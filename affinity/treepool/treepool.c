/*
 * An allocation passes through these, in this order:
 *
 *     candidates     nodes that may be used, and what is free there; nodes of like state are one class
 *     demand         the request in plain numbers
 *     domain_counts  what is left in every domain of one node; how many slots a domain can hold
 *     packing        slots onto one node: as many as wanted, finest domains first
 *     best_fit       which nodes, and how much of each one's packing
 *     slot_ids       ids for the counts of a packing
 *     infeasible     the sentence, where nothing is granted
 */
#include "affinity/treepool/treepool.h"

#include <stdlib.h>

#include "affinity/sets/idset.h"
#include "affinity/treepool/best_fit.h"
#include "affinity/treepool/candidates.h"
#include "affinity/treepool/demand.h"
#include "affinity/treepool/infeasible.h"
#include "affinity/treepool/slot_ids.h"
#include "base/mem.h"

/* As many slots, on as many nodes where these are counted, with another number in the slot. */
static bool pool_holds(struct treepool_nodes *nodes, struct treepool_ask *ask,
                       const struct treepool_chosen *least)
{
    struct treepool_chosen chosen;
    if (treepool_ask_update(ask, NULL) < 0)
        return false;
    bool same = treepool_choose(nodes, ask, &chosen) && chosen.nslots >= least->nslots &&
                (!ask->request->nodes.max || chosen.nchoices >= least->nchoices);
    treepool_chosen_clear(&chosen);
    return same;
}

/* The largest value of a range that costs no slot. */
static void pool_raise(struct treepool_nodes *nodes, struct treepool_ask *ask,
                       const struct treepool_range *range, const struct treepool_chosen *least)
{
    uint32_t low = *range->value, high = SCHEDULING_MAX_DOMAINS;
    for (uint32_t i = 0; i < nodes->nclasses; i++) {
        const struct treepool_class *class = &nodes->classes[i];
        high = class->ncores > high ? class->ncores : high;
        high = class->ngpus > high ? class->ngpus : high;
    }
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        uint32_t value = count_within(range->count, middle);
        *range->value = value;
        if (value <= low)
            high = middle - 1;
        else if (pool_holds(nodes, ask, least))
            low = value;
        else
            high = value - 1;
        *range->value = low;
    }
}

static void pool_raise_all(struct treepool_nodes *nodes, struct treepool_ask *ask,
                           struct treepool_chosen *chosen)
{
    struct treepool_range *ranges;
    size_t n = treepool_ask_ranges(ask, &ranges);
    for (size_t i = 0; i < n && *ask->work; i++)
        pool_raise(nodes, ask, &ranges[i], chosen);
    free(ranges);
    if (!n)
        return;
    treepool_chosen_clear(chosen);
    treepool_ask_update(ask, NULL);
    treepool_choose(nodes, ask, chosen);
}

static enum treepool_answer pool_give_up(struct error *err)
{
    error_set(err,
              "there are too many ways to place such slots on these nodes, and after %llu million "
              "domains the search ends: fewer localities within one another, or fewer ranges, "
              "take less",
              (unsigned long long)(TREEPOOL_WORK / 1000000));
    return TREEPOOL_NEVER;
}

/* Whether it is only that others hold what is asked for. */
static enum treepool_answer pool_refuse(const struct rset *R, const struct rset *held,
                                        const struct treepool_nodes *now,
                                        const struct treepool_chosen *found,
                                        const struct treepool_ask *ask,
                                        const struct constraint *constraint, struct error *err)
{
    struct treepool_chosen chosen;
    struct treepool_nodes *all = treepool_nodes_new(R, NULL, ask->request, constraint, err);
    if (!all)
        return TREEPOOL_NEVER;
    bool fits = treepool_choose(all, ask, &chosen);
    if (!*ask->work)
        pool_give_up(err);
    else if (fits && held)
        treepool_why_busy(now, ask, found, err);
    else
        treepool_why_never(all, ask, &chosen, constraint, err);
    treepool_chosen_clear(&chosen);
    treepool_nodes_free(all);
    return *ask->work && fits && held ? TREEPOOL_BUSY : TREEPOOL_NEVER;
}

/* The R of what was chosen, and its slots. */

static const struct treepool_fill *grant_fill(struct treepool_nodes *nodes,
                                              const struct treepool_ask *ask,
                                              const struct treepool_choice *choice)
{
    struct treepool_class *class = &nodes->classes[nodes->nodes[choice->node].class];
    return treepool_fill(class, ask, choice->npieces);
}

static bool grant_keep(const struct rset_node *node, void *arg)
{
    return rset_find_rank(arg, node->rank) != NULL;
}

static struct rset *grant_R(const struct rset *R, struct treepool_nodes *nodes,
                            const struct treepool_ask *ask, const struct treepool_chosen *chosen)
{
    struct rset *granted = rset_new();
    const struct treepool_choice **order = mem_array(nodes->nnodes, sizeof(*order));
    for (size_t i = 0; i < chosen->nchoices; i++)
        order[chosen->choices[i].node] = &chosen->choices[i];
    for (size_t i = 0; i < nodes->nnodes; i++) {
        if (!order[i])
            continue;
        const struct treepool_fill *fill = grant_fill(nodes, ask, order[i]);
        const struct rset_node *node = nodes->nodes[i].node;
        rset_append(granted, node->rank, node->host, fill->all_cores, fill->all_gpus);
    }
    free(order);
    granted->starttime = R->starttime;
    granted->expiration = R->expiration;
    granted->nslots = chosen->nslots;
    if (R->properties) { /* of the ranks that are granted, less those of the instance */
        struct rset *kept = rset_select(R, grant_keep, granted);
        rset_drop_local_properties(kept);
        granted->properties = json_incref(kept->properties);
        rset_free(kept);
    }
    granted->scheduling = scheduling_trim(R->scheduling, granted);
    return granted;
}

static struct treepool_grant *grant_new(const struct rset *R, struct treepool_nodes *nodes,
                                        const struct treepool_ask *ask,
                                        const struct treepool_chosen *chosen)
{
    struct treepool_grant *grant = mem_alloc(sizeof(*grant));
    grant->R = grant_R(R, nodes, ask, chosen);
    grant->slots = mem_array(chosen->nslots, sizeof(*grant->slots));
    for (size_t i = 0; i < chosen->nchoices; i++) {
        const struct treepool_choice *choice = &chosen->choices[i];
        const struct treepool_fill *fill = grant_fill(nodes, ask, choice);
        uint32_t rank = nodes->nodes[choice->node].node->rank;
        for (uint32_t slot = 0; slot < fill->nslots; slot++)
            grant->slots[grant->nslots++] = (struct treepool_slot){
                rank, idset_copy(fill->cores[slot]), idset_copy(fill->gpus[slot])};
    }
    return grant;
}

static enum treepool_answer pool_answer(const struct rset *R, const struct rset *held,
                                        struct treepool_nodes *nodes, struct treepool_ask *ask,
                                        const struct constraint *constraint,
                                        struct treepool_grant **grant, struct error *err)
{
    struct treepool_chosen chosen;
    enum treepool_answer answer = TREEPOOL_GRANTED;
    if (!treepool_choose(nodes, ask, &chosen)) {
        answer = pool_refuse(R, held, nodes, &chosen, ask, constraint, err);
    } else {
        pool_raise_all(nodes, ask, &chosen);
        if (!*ask->work) {
            answer = pool_give_up(err);
        } else if (chosen.nslots > TREEPOOL_MAX_SLOTS) {
            error_set(err, "%llu slots are asked for: %u are the most that is granted at a time",
                      (unsigned long long)chosen.nslots, TREEPOOL_MAX_SLOTS);
            answer = TREEPOOL_NEVER;
        } else {
            *grant = grant_new(R, nodes, ask, &chosen);
        }
    }
    treepool_chosen_clear(&chosen);
    return answer;
}

enum treepool_answer treepool_allocate(const struct rset *R, const struct rset *held,
                                       const struct request *request,
                                       const struct constraint *constraint,
                                       struct treepool_grant **grant, struct error *err)
{
    struct treepool_ask ask;
    uint64_t work = TREEPOOL_WORK;
    enum treepool_answer answer = TREEPOOL_NEVER;
    struct treepool_nodes *nodes = treepool_nodes_new(R, held, request, constraint, err);
    *grant = NULL;
    if (!nodes)
        return TREEPOOL_NEVER;
    if (treepool_ask_make(&ask, request, &work, err) == 0)
        answer = pool_answer(R, held, nodes, &ask, constraint, grant, err);
    treepool_ask_clear(&ask);
    treepool_nodes_free(nodes);
    return answer;
}

void treepool_grant_free(struct treepool_grant *grant)
{
    if (!grant)
        return;
    for (size_t i = 0; i < grant->nslots; i++) {
        idset_free(grant->slots[i].cores);
        idset_free(grant->slots[i].gpus);
    }
    free(grant->slots);
    rset_free(grant->R);
    free(grant);
}
