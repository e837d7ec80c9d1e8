#include "affinity/layout/plan.h"

#include <stdlib.h>

#include "affinity/layout/plan_key.h"
#include "base/mem.h"

/* A key for each unit. */
static struct plan_key *make_keys(const struct plan *plan, const struct policy *policy,
                                  const uint32_t *coordinates)
{
    struct plan_key *keys = mem_array(plan->nunits, sizeof(*keys));
    for (uint32_t loop = policy->nloops, field = 0; loop-- > 0;) {
        if (loop == policy->node_loop)
            continue;
        for (uint32_t unit = 0; unit < plan->nunits; unit++)
            plan_key_set(&keys[unit], field, coordinates[(size_t)loop * plan->nunits + unit]);
        field++;
    }
    return keys;
}

/* False when too few objects are left in the node. */
static bool position_make(const struct plan *plan, const struct policy *policy, uint32_t unit,
                          struct position *position)
{
    struct position p = {unit, unit, unit + 1};
    if (policy->bind == POLICY_BIND_OBJECTS) {
        const uint32_t *start = plan->start[policy->bind_level];
        uint32_t object = plan->object[policy->bind_level][unit];
        if (policy->bind_count > plan->count[policy->bind_level] - object)
            return false;
        p.bind_first = start[object];
        p.bind_end = start[object + policy->bind_count];
    }
    *position = p;
    return true;
}

static void collect_positions(struct plan *plan, const struct policy *policy,
                              const uint32_t *coordinates)
{
    uint32_t step_loop = plan_step_loop(plan, policy);
    plan->positions = mem_array(plan->nunits, sizeof(*plan->positions));
    for (uint32_t unit = 0; unit < plan->nunits; unit++) {
        if (step_loop < policy->nloops &&
            coordinates[(size_t)step_loop * plan->nunits + unit] % policy->bind_count)
            continue;
        if (position_make(plan, policy, unit, &plan->positions[plan->npositions]))
            plan->npositions++;
    }
}

/* The keys of the groups. */
static struct plan_key *collect_groups(struct plan *plan, const struct policy *policy,
                                       const struct plan_key *keys)
{
    uint32_t nouter = policy->nloops - 1 - policy->node_loop;
    struct plan_key *outer = mem_array(plan->npositions, sizeof(*outer));
    plan->groups = mem_array(plan->npositions + 1ul, sizeof(*plan->groups));
    for (uint32_t i = 0; i < plan->npositions; i++) {
        struct plan_key key = plan_key_outer(keys[plan->positions[i].unit], nouter);
        key.turn = plan->pairs ? plan->pairs[i].turn : 0;
        if (i && plan_key_equal(key, outer[plan->ngroups - 1]))
            continue;
        outer[plan->ngroups] = key;
        plan->groups[plan->ngroups++].first = i;
    }
    plan->groups[plan->ngroups] = (struct group){UINT32_MAX, plan->npositions};
    plan->groups = mem_resize(plan->groups, plan->ngroups + 1ul, sizeof(*plan->groups));
    return mem_resize(outer, plan->ngroups + 1ul, sizeof(*outer));
}

/* Also the keys of its groups, which the caller frees. */
static struct plan_key *plan_make(struct plan *plan, const struct kind *kind,
                                  const struct policy *policy, uint32_t *numbers)
{
    *plan = (struct plan){.kind = kind};
    plan_cut_units(plan, policy, numbers);
    uint32_t *coordinates = plan_coordinates(plan, policy);
    struct plan_key *keys = make_keys(plan, policy, coordinates);
    collect_positions(plan, policy, coordinates);
    if (policy->gpus_per_task)
        plan_pair_gpus(plan, policy);
    plan_sort(plan, policy, keys);
    struct plan_key *outer = collect_groups(plan, policy, keys);
    free(coordinates);
    free(keys);
    return outer;
}

static uint32_t *count_up(const struct kinds *kinds)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < kinds->nkinds; i++)
        most = kinds->kinds[i].nrows > most ? kinds->kinds[i].nrows : most;
    uint32_t *numbers = mem_array(most + 1ul, sizeof(*numbers));
    for (uint32_t i = 0; i <= most; i++)
        numbers[i] = i;
    return numbers;
}

void plans_make(struct plans *plans, const struct kinds *kinds, const struct policy *policy)
{
    struct plan_key **keys = mem_array(kinds->nkinds, sizeof(*keys));
    *plans = (struct plans){.nplans = kinds->nkinds,
                            .plans = mem_array(kinds->nkinds, sizeof(*plans->plans)),
                            .numbers = count_up(kinds)};
    for (uint32_t i = 0; i < kinds->nkinds; i++)
        keys[i] = plan_make(&plans->plans[i], &kinds->kinds[i], policy, plans->numbers);
    plans_number_groups(plans, keys);
    for (uint32_t i = 0; i < kinds->nkinds; i++)
        free(keys[i]);
    free(keys);
}

void plans_free(struct plans *plans)
{
    for (uint32_t i = 0; i < plans->nplans; i++) {
        plan_free_units(&plans->plans[i]);
        free(plans->plans[i].positions);
        free(plans->plans[i].pairs);
        free(plans->plans[i].gpus);
        free(plans->plans[i].gpu_set);
        free(plans->plans[i].groups);
    }
    free(plans->plans);
    free(plans->numbers);
}
