/* The positions of node classes in loop order, and the walk over those of all nodes. */
#include "affinity/layout/positions.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/bind.h"
#include "affinity/layout/gpu_assign.h"
#include "affinity/layout/loop_coordinates.h"
#include "affinity/layout/loop_key.h"
#include "affinity/layout/slots.h"
#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"

/*
 * The order of positions: as the loops run. Where GPUs are given out turns come first, and of the
 * positions of a group those whose GPUs are near.
 */

static int compare_positions(const void *a, const void *b, void *arg)
{
    const struct position *x = a, *y = b;
    const struct loop_key *keys = arg;
    int order = loop_key_compare(keys[x->unit], keys[y->unit]);
    return order ? order : x->unit < y->unit ? -1 : x->unit > y->unit;
}

struct paired {
    struct position position;
    struct pair pair;
};

struct order {
    const struct loop_key *keys;
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
    struct loop_key p = order->keys[x->position.unit], q = order->keys[y->position.unit];
    int found = compare_numbers(x->pair.turn, y->pair.turn);
    if (!found && x->pair.remote != y->pair.remote) {
        found =
            loop_key_compare(loop_key_outer(p, order->nouter), loop_key_outer(q, order->nouter));
        found = found ? found : x->pair.remote ? 1 : -1;
    }
    found = found ? found : loop_key_compare(p, q);
    found = found ? found : compare_numbers(x->position.unit, y->position.unit);
    return found ? found : compare_numbers(x->pair.number, y->pair.number);
}

static void positions_sort(struct positions *plan, const struct policy *policy,
                           const struct loop_key *keys)
{
    if (!plan->pairs) {
        qsort_r(plan->positions, plan->npositions, sizeof(*plan->positions), compare_positions,
                (void *)(uintptr_t)keys);
        return;
    }
    struct order order = {keys, policy->nloops - 1 - policy->node_loop};
    struct paired *both = mem_array(plan->npositions, sizeof(*both));
    for (uint32_t i = 0; i < plan->npositions; i++)
        both[i] = (struct paired){plan->positions[i], plan->pairs[i]};
    qsort_r(both, plan->npositions, sizeof(*both), compare_paired, &order);
    for (uint32_t i = 0; i < plan->npositions; i++) {
        plan->positions[i] = both[i].position;
        plan->pairs[i] = both[i].pair;
    }
    free(both);
}

/*
 * One numbering for the groups of all plans: groups with one key are one turn of the loops outside
 * of n. Plans may be many and have most keys in common, so each key is kept, and sorted, once.
 */

struct entry {
    struct loop_key key;
    uint32_t number; /* in order of appearance */
};

static bool positions_same_key(const void *owner, uint32_t number, const void *thing)
{
    const struct entry *list = owner;
    return loop_key_equal(list[number].key, *(const struct loop_key *)thing);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return loop_key_compare(x->key, y->key);
}

/* keys[] has one for each group of each plan. */
static void all_positions_number_groups(struct all_positions *plans, struct loop_key *const *keys)
{
    struct entry *list = NULL;
    struct hash_table numbers = {.count = 0};
    for (uint32_t i = 0; i < plans->nplans; i++)
        for (uint32_t g = 0; g < plans->plans[i].ngroups; g++) {
            const struct loop_key *key = &keys[i][g];
            uint64_t hash = hash_table_hash(hash_table_hash(key->turn, key->high), key->low);
            uint32_t known = numbers.count;
            uint32_t number = hash_table_intern(&numbers, hash, positions_same_key, list, key);
            plans->plans[i].groups[g].id = number;
            if (number < known)
                continue;
            list = array_grow(list, number, sizeof(*list));
            list[number] = (struct entry){*key, number};
        }
    /* From the number in order of appearance to that in order of size. */
    uint32_t count = numbers.count, *order = mem_array(count, sizeof(*order));
    if (count)
        qsort(list, count, sizeof(*list), compare_entries);
    for (uint32_t i = 0; i < count; i++)
        order[list[i].number] = i;
    for (uint32_t i = 0; i < plans->nplans; i++)
        for (uint32_t g = 0; g < plans->plans[i].ngroups; g++)
            plans->plans[i].groups[g].id = order[plans->plans[i].groups[g].id];
    plans->ngroups = count;
    free(order);
    free(list);
    hash_table_free(&numbers);
}

static void collect_positions(struct positions *plan, const struct policy *policy,
                              const uint32_t *coordinates)
{
    uint32_t step_loop = positions_step_loop(plan, policy);
    plan->positions = mem_array(plan->nunits, sizeof(*plan->positions));
    for (uint32_t unit = 0; unit < plan->nunits; unit++) {
        if (step_loop < policy->nloops &&
            coordinates[(size_t)step_loop * plan->nunits + unit] % policy->bind_count)
            continue;
        if (bind_upward(plan, policy, unit, &plan->positions[plan->npositions]))
            plan->npositions++;
    }
}

/* The keys of the groups. */
static struct loop_key *collect_groups(struct positions *plan, const struct policy *policy,
                                       const struct loop_key *keys)
{
    uint32_t nouter = policy->nloops - 1 - policy->node_loop;
    struct loop_key *outer = mem_array(plan->npositions, sizeof(*outer));
    plan->groups = mem_array(plan->npositions + 1ul, sizeof(*plan->groups));
    for (uint32_t i = 0; i < plan->npositions; i++) {
        struct loop_key key = loop_key_outer(keys[plan->positions[i].unit], nouter);
        key.turn = plan->pairs ? plan->pairs[i].turn : 0;
        if (i && loop_key_equal(key, outer[plan->ngroups - 1]))
            continue;
        outer[plan->ngroups] = key;
        plan->groups[plan->ngroups++].first = i;
    }
    plan->groups[plan->ngroups] = (struct group){UINT32_MAX, plan->npositions};
    plan->groups = mem_resize(plan->groups, plan->ngroups + 1ul, sizeof(*plan->groups));
    return mem_resize(outer, plan->ngroups + 1ul, sizeof(*outer));
}

/* Also the keys of its groups, which the caller frees. */
static struct loop_key *plan_make(struct positions *plan, const struct node_class *class,
                                  const struct policy *policy, uint32_t *numbers)
{
    *plan = (struct positions){.class = class};
    positions_cut_units(plan, policy, numbers);
    uint32_t *coordinates = positions_coordinates(plan, policy);
    struct loop_key *keys = mem_array(plan->nunits, sizeof(*keys)); /* by unit */
    for (uint32_t loop = policy->nloops, field = 0; loop-- > 0;) {
        if (loop == policy->node_loop)
            continue;
        for (uint32_t unit = 0; unit < plan->nunits; unit++)
            loop_key_set(&keys[unit], field, coordinates[(size_t)loop * plan->nunits + unit]);
        field++;
    }
    collect_positions(plan, policy, coordinates);
    if (policy->gpus_per_task)
        positions_pair_gpus(plan, policy);
    positions_sort(plan, policy, keys);
    struct loop_key *outer = collect_groups(plan, policy, keys);
    free(coordinates);
    free(keys);
    return outer;
}

void all_positions_make(struct all_positions *plans, const struct node_classes *classes,
                        const struct policy *policy)
{
    struct loop_key **keys = mem_array(classes->nclasses, sizeof(*keys));
    uint32_t most = 0;
    for (uint32_t i = 0; i < classes->nclasses; i++)
        most = classes->classes[i].nrows > most ? classes->classes[i].nrows : most;
    *plans = (struct all_positions){.nplans = classes->nclasses,
                                    .plans = mem_array(classes->nclasses, sizeof(*plans->plans)),
                                    .numbers = mem_array(most + 1ul, sizeof(*plans->numbers))};
    for (uint32_t i = 0; i <= most; i++)
        plans->numbers[i] = i;
    for (uint32_t i = 0; i < classes->nclasses; i++)
        keys[i] = plan_make(&plans->plans[i], &classes->classes[i], policy, plans->numbers);
    all_positions_number_groups(plans, keys);
    for (uint32_t i = 0; i < classes->nclasses; i++)
        free(keys[i]);
    free(keys);
}

void all_positions_free(struct all_positions *plans)
{
    for (uint32_t i = 0; i < plans->nplans; i++) {
        positions_free_units(&plans->plans[i]);
        free(plans->plans[i].positions);
        free(plans->plans[i].pairs);
        free(plans->plans[i].gpus);
        free(plans->plans[i].groups);
    }
    free(plans->plans);
    free(plans->numbers);
}

void position_iterator_start(struct position_iterator *walk, const struct all_positions *plans,
                             const uint32_t *plan_of, const uint32_t *nodes, uint32_t nnodes)
{
    *walk = (struct position_iterator){.plans = plans, .plan_of = plan_of};
    if (nnodes == 1) { /* no turns to take: the groups are one stretch */
        walk->node = nodes[0];
        walk->end = plans->plans[plan_of[nodes[0]]].npositions;
        return;
    }
    walk->reached = mem_array(plans->nplans, sizeof(*walk->reached));
    walk->nodes = mem_array(nnodes, sizeof(*walk->nodes));
    walk->nnodes = nnodes;
    memcpy(walk->nodes, nodes, nnodes * sizeof(*nodes));
}

/* Go to the next node that has positions in this group, or else in a later one. Nodes without any
 * left are dropped. */
static bool next_turn(struct position_iterator *walk)
{
    while (walk->nnodes) {
        if (walk->turn == walk->nnodes) { /* the next group, of the nodes that were kept */
            walk->nnodes = walk->nkept;
            walk->nkept = 0;
            walk->turn = 0;
            walk->group++;
            continue;
        }
        uint32_t node = walk->nodes[walk->turn++], plan = walk->plan_of[node];
        /* The first group of this node's plan that is not before the current one. */
        const struct group *group = walk->plans->plans[plan].groups + walk->reached[plan];
        for (; group->id < walk->group; group++)
            walk->reached[plan]++;
        if (group->id == UINT32_MAX)
            continue;
        walk->nodes[walk->nkept++] = node;
        if (group->id != walk->group)
            continue;
        walk->node = node;
        walk->at = group[0].first;
        walk->end = group[1].first;
        return true;
    }
    return false;
}

bool position_iterator_next(struct position_iterator *walk, uint32_t *node, uint32_t *position)
{
    if (walk->at == walk->end && !next_turn(walk))
        return false;
    *node = walk->node;
    *position = walk->at++;
    return true;
}

void position_iterator_free(struct position_iterator *walk)
{
    free(walk->reached);
    free(walk->nodes);
}
