#include "affinity/pool/pool.h"

#include <stdlib.h>

#include "affinity/pool/pool_private.h"
#include "base/mem.h"

/* As many slots, on as many nodes where these are counted, with another number in the slot. */
static bool pool_holds(struct pool_nodes *nodes, struct pool_ask *ask,
                       const struct pool_chosen *least)
{
    struct pool_chosen chosen;
    if (pool_ask_update(ask, NULL) < 0)
        return false;
    bool same = pool_choose(nodes, ask, &chosen) && chosen.nslots >= least->nslots &&
                (!ask->request->nodes.max || chosen.nchoices >= least->nchoices);
    pool_chosen_clear(&chosen);
    return same;
}

static uint32_t pool_most(const struct pool_nodes *nodes)
{
    uint32_t most = LOCALITY_MAX_DOMAINS;
    for (uint32_t i = 0; i < nodes->nclasses; i++) {
        const struct pool_class *class = &nodes->classes[i];
        most = class->ncores > most ? class->ncores : most;
        most = class->ngpus > most ? class->ngpus : most;
    }
    return most;
}

/* The largest value of a range that costs no slot. */
static void pool_raise(struct pool_nodes *nodes, struct pool_ask *ask,
                       const struct pool_range *range, const struct pool_chosen *least)
{
    uint32_t low = *range->value, high = pool_most(nodes);
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

static void pool_raise_all(struct pool_nodes *nodes, struct pool_ask *ask,
                           struct pool_chosen *chosen)
{
    struct pool_range *ranges;
    size_t n = pool_ask_ranges(ask, &ranges);
    for (size_t i = 0; i < n && *ask->work; i++)
        pool_raise(nodes, ask, &ranges[i], chosen);
    free(ranges);
    if (!n)
        return;
    pool_chosen_clear(chosen);
    pool_ask_update(ask, NULL);
    pool_choose(nodes, ask, chosen);
}

static enum pool_answer pool_give_up(struct error *err)
{
    error_set(err,
              "there are too many ways to place such slots on these nodes, and after %llu million "
              "domains the search ends: fewer localities within one another, or fewer ranges, "
              "take less",
              (unsigned long long)(POOL_WORK / 1000000));
    return POOL_NEVER;
}

/* Whether it is only that others hold what is asked for. */
static enum pool_answer pool_refuse(const struct rset *R, const struct rset *held,
                                    const struct pool_nodes *now, const struct pool_chosen *found,
                                    const struct pool_ask *ask, const struct constraint *constraint,
                                    struct error *err)
{
    struct pool_chosen chosen;
    struct pool_nodes *all = pool_nodes_new(R, NULL, ask->request, constraint, err);
    if (!all)
        return POOL_NEVER;
    bool fits = pool_choose(all, ask, &chosen);
    if (!*ask->work)
        pool_give_up(err);
    else if (fits && held)
        pool_why_busy(now, ask, found, err);
    else
        pool_why_never(all, ask, &chosen, constraint, err);
    pool_chosen_clear(&chosen);
    pool_nodes_free(all);
    return *ask->work && fits && held ? POOL_BUSY : POOL_NEVER;
}

static enum pool_answer pool_answer(const struct rset *R, const struct rset *held,
                                    struct pool_nodes *nodes, struct pool_ask *ask,
                                    const struct constraint *constraint, struct pool_grant **grant,
                                    struct error *err)
{
    struct pool_chosen chosen;
    enum pool_answer answer = POOL_GRANTED;
    if (!pool_choose(nodes, ask, &chosen)) {
        answer = pool_refuse(R, held, nodes, &chosen, ask, constraint, err);
    } else {
        pool_raise_all(nodes, ask, &chosen);
        if (!*ask->work) {
            answer = pool_give_up(err);
        } else if (chosen.nslots > POOL_MAX_SLOTS) {
            error_set(err, "%llu slots are asked for: %u are the most that is granted at a time",
                      (unsigned long long)chosen.nslots, POOL_MAX_SLOTS);
            answer = POOL_NEVER;
        } else {
            *grant = pool_grant_new(R, nodes, ask, &chosen);
        }
    }
    pool_chosen_clear(&chosen);
    return answer;
}

enum pool_answer pool_allocate(const struct rset *R, const struct rset *held,
                               const struct request *request, const struct constraint *constraint,
                               struct pool_grant **grant, struct error *err)
{
    struct pool_ask ask;
    uint64_t work = POOL_WORK;
    enum pool_answer answer = POOL_NEVER;
    struct pool_nodes *nodes = pool_nodes_new(R, held, request, constraint, err);
    *grant = NULL;
    if (!nodes)
        return POOL_NEVER;
    if (pool_ask_make(&ask, request, &work, err) == 0)
        answer = pool_answer(R, held, nodes, &ask, constraint, grant, err);
    pool_ask_clear(&ask);
    pool_nodes_free(nodes);
    return answer;
}
