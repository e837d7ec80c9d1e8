/*
 * What a letter counts. A loop's coordinate of a unit is the number of the object of its level
 * that holds the unit, counted inside some larger object:
 *
 *   full form   inside the smallest object of a level named before it that holds it; an object made
 *               up of objects named before is exhausted (coordinate 0)
 *   short form  inside the smallest object of any other named level that holds it; of levels that
 *               coincide the first named counts, the others have coordinate 0
 */
#include "affinity/layout/loop_coordinates.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/positions.h"
#include "base/mem.h"

struct span {
    uint32_t first, end; /* units */
};

static struct span object_span(const struct positions *plan, enum topo_level level, uint32_t unit)
{
    const uint32_t *start = plan->start[level] + plan->object[level][unit];
    return (struct span){start[0], start[1]};
}

static bool span_within(struct span inner, struct span outer)
{
    return outer.first <= inner.first && inner.end <= outer.end;
}

static uint32_t span_size(struct span span)
{
    return span.end - span.first;
}

/* n and h stand apart; any other two levels coincide when their objects are the same. */
static bool levels_coincide(const struct positions *plan, enum topo_level a, enum topo_level b)
{
    if (a == b)
        return true;
    if (a == TOPO_NODE || b == TOPO_NODE || a == TOPO_HWTHREAD || b == TOPO_HWTHREAD)
        return false;
    return plan->count[a] == plan->count[b] &&
           memcmp(plan->start[a], plan->start[b], plan->count[a] * sizeof(uint32_t)) == 0;
}

/* ---- short form ---- */

struct nesting {
    bool idle[TOPO_NLEVELS]; /* by loop: an earlier one has the same objects and takes the turns */
    bool outer[TOPO_NLEVELS][TOPO_NLEVELS]; /* by loop: the first's level encloses the second's */
};

/* Every object of `inner` lies inside one of `outer`. */
static bool level_encloses(const struct positions *plan, enum topo_level outer,
                           enum topo_level inner)
{
    for (uint32_t i = 0; i < plan->count[outer]; i++) {
        uint32_t unit = plan->start[outer][i];
        if (plan->start[inner][plan->object[inner][unit]] != unit)
            return false;
    }
    return true;
}

static void find_nesting(struct nesting *nesting, const struct positions *plan,
                         const struct policy *policy)
{
    for (uint32_t loop = 0; loop < policy->nloops; loop++) {
        enum topo_level level = policy->loops[loop];
        for (uint32_t earlier = 0; earlier < loop && !nesting->idle[loop]; earlier++)
            nesting->idle[loop] = levels_coincide(plan, policy->loops[earlier], level);
        /* Two objects with the same units: which is the outer one? The other objects of their levels
         * on this node tell, or else the usual order of levels. So a socket encloses its NUMA domain
         * even when that is the only one left of two. */
        for (uint32_t i = 0; i < policy->nloops; i++) {
            bool outside = level_encloses(plan, level, policy->loops[i]);
            bool inside = level_encloses(plan, policy->loops[i], level);
            nesting->outer[loop][i] = outside == inside ? level < policy->loops[i] : outside;
        }
    }
}

static uint32_t coordinate_short(const struct positions *plan, const struct policy *policy,
                                 uint32_t loop, const struct nesting *nesting, uint32_t unit)
{
    enum topo_level level = policy->loops[loop];
    struct span own = object_span(plan, level, unit), best = {0, plan->nunits};
    for (uint32_t i = 0; i < policy->nloops; i++) {
        struct span span = object_span(plan, policy->loops[i], unit);
        if (i == loop || nesting->idle[i] || span_size(span) >= span_size(best) ||
            !span_within(own, span))
            continue;
        if (span_size(own) < span_size(span) || nesting->outer[i][loop])
            best = span;
    }
    return plan->object[level][unit] - plan->object[level][best.first];
}

/* ---- full form ---- */

static uint32_t coordinate_full(const struct positions *plan, const struct policy *policy,
                                uint32_t loop, uint32_t unit)
{
    enum topo_level level = policy->loops[loop];
    struct span own = object_span(plan, level, unit), best = {0, plan->nunits};
    for (uint32_t i = 0; i < loop; i++) {
        struct span span = object_span(plan, policy->loops[i], unit);
        if (i == policy->node_loop)
            continue;
        if (span_within(span, own))
            return 0;
        if (span_within(own, span) && span_size(span) < span_size(best))
            best = span;
    }
    return plan->object[level][unit] - plan->object[level][best.first];
}

/* ---- all of them ---- */

uint32_t *positions_coordinates(const struct positions *plan, const struct policy *policy)
{
    uint32_t *all = mem_array((size_t)policy->nloops * plan->nunits, sizeof(*all));
    bool full = policy_is_full(policy);
    struct nesting nesting = {.idle = {false}};
    if (!full)
        find_nesting(&nesting, plan, policy);
    for (uint32_t loop = 0; loop < policy->nloops; loop++) {
        const uint32_t *object = plan->object[policy->loops[loop]];
        uint32_t *own = all + (size_t)loop * plan->nunits;
        if (loop == policy->node_loop || nesting.idle[loop])
            continue;
        for (uint32_t unit = 0; unit < plan->nunits; unit++) {
            if (unit && object[unit] == object[unit - 1])
                own[unit] = own[unit - 1];
            else if (full)
                own[unit] = coordinate_full(plan, policy, loop, unit);
            else
                own[unit] = coordinate_short(plan, policy, loop, &nesting, unit);
        }
    }
    return all;
}

uint32_t positions_step_loop(const struct positions *plan, const struct policy *policy)
{
    if (policy->bind != POLICY_BIND_OBJECTS || policy->bind_count < 2)
        return policy->nloops;
    for (uint32_t loop = 0; loop < policy->nloops; loop++)
        if (loop != policy->node_loop &&
            levels_coincide(plan, policy->loops[loop], policy->bind_level))
            return loop;
    return policy->nloops;
}
