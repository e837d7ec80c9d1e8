#include "affinity/layout/plan.h"

#include <stdlib.h>

#include "base/mem.h"

/* Coordinates turned about for sorting: a row for each unit, slowest loop first, n left out. */
struct keys {
    uint32_t *values;
    uint32_t width;  /* loops but n */
    uint32_t nouter; /* of them, those outside of n */
};

static const uint32_t *key_of(const struct keys *keys, uint32_t unit)
{
    return keys->values + (size_t)unit * keys->width;
}

static int compare_keys(const uint32_t *a, const uint32_t *b, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static struct keys keys_make(const struct plan *plan, const struct policy *policy,
                             const uint32_t *coordinates)
{
    struct keys keys = {.width = policy->nloops - 1,
                        .nouter = policy->nloops - 1 - policy->node_loop};
    keys.values = mem_array((size_t)keys.width * plan->nunits, sizeof(*keys.values));
    for (uint32_t loop = policy->nloops, at = 0; loop-- > 0;) {
        if (loop == policy->node_loop)
            continue;
        for (uint32_t unit = 0; unit < plan->nunits; unit++)
            keys.values[(size_t)unit * keys.width + at] =
                coordinates[(size_t)loop * plan->nunits + unit];
        at++;
    }
    return keys;
}

/* False when too few objects are left in the node. */
static bool position_make(const struct plan *plan, const struct policy *policy, uint32_t unit,
                          struct position *position)
{
    struct position p = {unit, unit, unit + 1, unit, unit + 1};
    if (policy->bind == POLICY_BIND_OBJECTS) {
        const uint32_t *start = plan->start[policy->bind_level];
        uint32_t object = plan->object[policy->bind_level][unit];
        if (policy->bind_count > plan->count[policy->bind_level] - object)
            return false;
        p.bind_first = start[object];
        p.bind_end = start[object + policy->bind_count];
        if (policy_is_narrow(policy)) {
            p.busy_first = p.bind_first;
            p.busy_end = p.bind_end;
        }
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

static int compare_positions(const void *a, const void *b, void *arg)
{
    const struct position *x = a, *y = b;
    const struct keys *keys = arg;
    int order = compare_keys(key_of(keys, x->unit), key_of(keys, y->unit), keys->width);
    return order ? order : x->unit < y->unit ? -1 : x->unit > y->unit;
}

static void collect_groups(struct plan *plan, const struct keys *keys)
{
    plan->groups = mem_array(plan->npositions + 1ul, sizeof(*plan->groups));
    for (uint32_t i = 0; i < plan->npositions; i++)
        if (i == 0 || compare_keys(key_of(keys, plan->positions[i].unit),
                                   key_of(keys, plan->positions[i - 1].unit), keys->nouter))
            plan->groups[plan->ngroups++].first = i;
    plan->groups[plan->ngroups] = (struct group){UINT32_MAX, plan->npositions};
}

static void plan_make(struct plan *plan, const struct kind *kind, const struct policy *policy,
                      struct keys *keys)
{
    *plan = (struct plan){.kind = kind};
    plan_cut_units(plan, policy);
    uint32_t *coordinates = plan_coordinates(plan, policy);
    *keys = keys_make(plan, policy, coordinates);
    collect_positions(plan, policy, coordinates);
    qsort_r(plan->positions, plan->npositions, sizeof(*plan->positions), compare_positions, keys);
    collect_groups(plan, keys);
    free(coordinates);
}

/* ---- one numbering for the groups of all plans ---- */

struct group_ref {
    struct group *group;
    const uint32_t *key;
};

static int compare_refs(const void *a, const void *b, void *arg)
{
    const struct group_ref *x = a, *y = b;
    return compare_keys(x->key, y->key, *(const uint32_t *)arg);
}

static void number_groups(struct plans *plans, const struct keys *keys)
{
    size_t nrefs = 0;
    for (uint32_t i = 0; i < plans->nplans; i++)
        nrefs += plans->plans[i].ngroups;
    struct group_ref *refs = mem_array(nrefs, sizeof(*refs)), *ref = refs;
    for (uint32_t i = 0; i < plans->nplans; i++) {
        struct plan *plan = &plans->plans[i];
        for (uint32_t g = 0; g < plan->ngroups; g++)
            *ref++ = (struct group_ref){
                &plan->groups[g], key_of(&keys[i], plan->positions[plan->groups[g].first].unit)};
    }
    uint32_t nouter = plans->nplans ? keys[0].nouter : 0;
    if (plans->nplans > 1)
        qsort_r(refs, nrefs, sizeof(*refs), compare_refs, &nouter);
    for (size_t i = 0; i < nrefs; i++) {
        if (i == 0 || compare_keys(refs[i].key, refs[i - 1].key, nouter))
            plans->ngroups++;
        refs[i].group->id = plans->ngroups - 1;
    }
    free(refs);
}

void plans_make(struct plans *plans, const struct kinds *kinds, const struct policy *policy)
{
    struct keys *keys = mem_array(kinds->nkinds, sizeof(*keys));
    *plans = (struct plans){.nplans = kinds->nkinds,
                            .plans = mem_array(kinds->nkinds, sizeof(*plans->plans))};
    for (uint32_t i = 0; i < kinds->nkinds; i++)
        plan_make(&plans->plans[i], &kinds->kinds[i], policy, &keys[i]);
    number_groups(plans, keys);
    for (uint32_t i = 0; i < kinds->nkinds; i++)
        free(keys[i].values);
    free(keys);
}

static void plan_free(struct plan *plan)
{
    for (int level = 0; level < TOPO_NLEVELS; level++) {
        free(plan->object[level]);
        free(plan->start[level]);
    }
    free(plan->first_row);
    free(plan->end_row);
    free(plan->positions);
    free(plan->groups);
}

void plans_free(struct plans *plans)
{
    for (uint32_t i = 0; i < plans->nplans; i++)
        plan_free(&plans->plans[i]);
    free(plans->plans);
}
