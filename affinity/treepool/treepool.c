#include "affinity/treepool/treepool.h"

#include <stdlib.h>

#include "affinity/treepool/treepool_private.h"
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

/* The R of what was chosen, and its slots. */

static const struct pool_fill *grant_fill(struct pool_nodes *nodes, const struct pool_ask *ask,
                                          const struct pool_choice *choice)
{
    struct pool_class *class = &nodes->classes[nodes->nodes[choice->node].class];
    return pool_fill(class, ask, choice->npieces);
}

static void grant_slots(struct pool_grant *grant, struct pool_nodes *nodes,
                        const struct pool_ask *ask, const struct pool_choice *choice)
{
    const struct pool_fill *fill = grant_fill(nodes, ask, choice);
    uint32_t rank = nodes->nodes[choice->node].node->rank;
    for (uint32_t i = 0; i < fill->nslots; i++)
        grant->slots[grant->nslots++] =
            (struct pool_slot){rank, idset_copy(fill->cores[i]), idset_copy(fill->gpus[i])};
}

static bool grant_keep(const struct rset_node *node, void *arg)
{
    return rset_find_rank(arg, node->rank) != NULL;
}

/* Properties of the ranks that are granted, less those of the instance. */
static json_t *grant_properties(const struct rset *R, struct rset *granted)
{
    if (!R->properties)
        return NULL;
    struct rset *kept = rset_select(R, grant_keep, granted);
    rset_drop_local_properties(kept);
    json_t *properties = json_incref(kept->properties);
    rset_free(kept);
    return properties;
}

static struct rset *grant_R(const struct rset *R, struct pool_nodes *nodes,
                            const struct pool_ask *ask, const struct pool_chosen *chosen)
{
    struct rset *granted = rset_new();
    const struct pool_choice **order = mem_array(nodes->nnodes, sizeof(*order));
    for (size_t i = 0; i < chosen->nchoices; i++)
        order[chosen->choices[i].node] = &chosen->choices[i];
    for (size_t i = 0; i < nodes->nnodes; i++) {
        if (!order[i])
            continue;
        const struct pool_fill *fill = grant_fill(nodes, ask, order[i]);
        const struct rset_node *node = nodes->nodes[i].node;
        rset_append(granted, node->rank, node->host, fill->all_cores, fill->all_gpus);
    }
    free(order);
    granted->starttime = R->starttime;
    granted->expiration = R->expiration;
    granted->nslots = chosen->nslots;
    granted->properties = grant_properties(R, granted);
    granted->scheduling = locality_trim(R->scheduling, granted);
    return granted;
}

struct pool_grant *pool_grant_new(const struct rset *R, struct pool_nodes *nodes,
                                  const struct pool_ask *ask, const struct pool_chosen *chosen)
{
    struct pool_grant *grant = mem_alloc(sizeof(*grant));
    grant->R = grant_R(R, nodes, ask, chosen);
    grant->slots = mem_array(chosen->nslots, sizeof(*grant->slots));
    for (size_t i = 0; i < chosen->nchoices; i++)
        grant_slots(grant, nodes, ask, &chosen->choices[i]);
    return grant;
}

void pool_grant_free(struct pool_grant *grant)
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
