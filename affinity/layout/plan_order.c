/*
 * The order of positions: as the loops run. Where GPUs are given out turns come first, and of the
 * positions of a group those whose GPUs are near.
 */
#include <stdlib.h>

#include "affinity/layout/plan.h"
#include "affinity/layout/plan_key.h"
#include "base/mem.h"

static int compare_positions(const void *a, const void *b, void *arg)
{
    const struct position *x = a, *y = b;
    const struct plan_key *keys = arg;
    int order = plan_key_compare(keys[x->unit], keys[y->unit]);
    return order ? order : x->unit < y->unit ? -1 : x->unit > y->unit;
}

struct paired {
    struct position position;
    struct pair pair;
};

struct order {
    const struct plan_key *keys;
    uint32_t nouter;
};

static int compare_numbers(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_paired(const void *a, const void *b, void *arg)
{
    const struct paired *x = a, *y = b;
    const struct order *order = arg;
    struct plan_key p = order->keys[x->position.unit], q = order->keys[y->position.unit];
    int found = compare_numbers(x->pair.turn, y->pair.turn);
    if (!found && x->pair.remote != y->pair.remote) {
        found =
            plan_key_compare(plan_key_outer(p, order->nouter), plan_key_outer(q, order->nouter));
        found = found ? found : x->pair.remote ? 1 : -1;
    }
    found = found ? found : plan_key_compare(p, q);
    found = found ? found : compare_numbers(x->position.unit, y->position.unit);
    return found ? found : compare_numbers(x->pair.number, y->pair.number);
}

static void sort_paired(struct plan *plan, struct order *order)
{
    struct paired *both = mem_array(plan->npositions, sizeof(*both));
    for (uint32_t i = 0; i < plan->npositions; i++)
        both[i] = (struct paired){plan->positions[i], plan->pairs[i]};
    qsort_r(both, plan->npositions, sizeof(*both), compare_paired, order);
    for (uint32_t i = 0; i < plan->npositions; i++) {
        plan->positions[i] = both[i].position;
        plan->pairs[i] = both[i].pair;
    }
    free(both);
}

void plan_sort(struct plan *plan, const struct policy *policy, const struct plan_key *keys)
{
    struct order order = {keys, policy->nloops - 1 - policy->node_loop};
    if (plan->pairs)
        sort_paired(plan, &order);
    else
        qsort_r(plan->positions, plan->npositions, sizeof(*plan->positions), compare_positions,
                (void *)(uintptr_t)keys);
}
