/* The limits of --mppr while tasks are placed: a counter of tasks for each object of each limited level. */
#include "affinity/layout/limits.h"

#include <stdlib.h>

#include "affinity/layout/positions.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/search.h"

static const struct positions *plan_at(const struct passes *passes, uint32_t node)
{
    return &passes->plans->plans[passes->plan_of[node]];
}

void passes_start(struct passes *passes, const struct layout_request *request,
                  const struct node_classes *classes, const struct all_positions *plans,
                  const struct policy *policy, uint32_t *node_tasks)
{
    *passes = (struct passes){.nodes = request->nodes,
                              .policy = policy,
                              .narrow = policy_is_narrow(policy),
                              .plans = plans,
                              .plan_of = classes->of,
                              .node_tasks = node_tasks};
    size_t *size = mem_array(plans->nplans, sizeof(*size));
    passes->limit_offset =
        mem_array((size_t)plans->nplans * policy->nlimits, sizeof(*passes->limit_offset));
    for (uint32_t plan = 0; plan < plans->nplans; plan++)
        for (uint32_t i = 0; i < policy->nlimits; i++) {
            passes->limit_offset[plan * policy->nlimits + i] = (uint32_t)size[plan];
            size[plan] += plans->plans[plan].count[policy->limits[i].level];
        }

    size_t counters = 0, units = 0, positions = 0;
    passes->counter_base = mem_array(request->nnodes, sizeof(*passes->counter_base));
    passes->held_base = mem_array(request->nnodes, sizeof(*passes->held_base));
    if (policy->gpus_per_task)
        passes->given_base = mem_array(request->nnodes, sizeof(*passes->given_base));
    for (uint32_t node = 0; node < request->nnodes; node++) {
        passes->counter_base[node] = counters;
        passes->held_base[node] = units;
        if (passes->given_base)
            passes->given_base[node] = positions;
        counters += size[classes->of[node]];
        units += plan_at(passes, node)->nunits;
        positions += plan_at(passes, node)->npositions;
    }
    passes->counters = mem_array(counters, sizeof(*passes->counters));
    passes->held = mem_array(units / 8 + 1, 1);
    if (passes->given_base)
        passes->given = mem_array(positions / 8 + 1, 1);
    free(size);
}

void passes_free(struct passes *passes)
{
    free(passes->counters);
    free(passes->counter_base);
    free(passes->limit_offset);
    free(passes->held);
    free(passes->given);
    free(passes->given_base);
    free(passes->held_base);
    free(passes->seats);
}

static uint32_t *limit_counters(const struct passes *passes, uint32_t node, uint32_t limit)
{
    uint32_t at = passes->plan_of[node] * passes->policy->nlimits + limit;
    return passes->counters + passes->counter_base[node] + passes->limit_offset[at];
}

static bool bit_is_set(const uint8_t *bits, size_t bit)
{
    return bits[bit / 8] >> (bit % 8) & 1;
}

static void set_bit(uint8_t *bits, size_t bit, bool on)
{
    uint8_t mask = (uint8_t)(1u << (bit % 8));
    bits[bit / 8] = on ? bits[bit / 8] | mask : bits[bit / 8] & (uint8_t)~mask;
}

static void hold_unit(struct passes *passes, uint32_t node, uint32_t unit)
{
    set_bit(passes->held, passes->held_base[node] + unit, true);
}

/* ---- what earlier placements left ---- */

struct unit_search {
    const uint32_t *end_row;
    uint32_t row;
};

static bool unit_ends_before(const void *arg, size_t unit)
{
    const struct unit_search *search = arg;
    return search->end_row[unit] <= search->row;
}

/* The first unit that ends behind this row. */
static uint32_t unit_behind(const struct positions *plan, uint32_t row)
{
    return (uint32_t)search_first(plan->nunits, unit_ends_before,
                                  &(struct unit_search){plan->end_row, row});
}

void passes_occupy(struct passes *passes, uint32_t node, uint32_t first, uint32_t end)
{
    const struct positions *plan = plan_at(passes, node);
    uint32_t from = unit_behind(plan, first), to = from;
    while (to < plan->nunits && plan->first_row[to] < end)
        to++;
    for (uint32_t i = 0; i < passes->policy->nlimits && from < to; i++) {
        const uint32_t *object = plan->object[passes->policy->limits[i].level];
        uint32_t *counter = limit_counters(passes, node, i);
        for (uint32_t o = object[from]; o <= object[to - 1]; o++)
            counter[o]++;
    }
}

void passes_hold(struct passes *passes, uint32_t node, uint32_t place)
{
    const struct positions *plan = plan_at(passes, node);
    uint32_t unit = unit_behind(plan, place);
    if (unit < plan->nunits && plan->first_row[unit] <= place)
        hold_unit(passes, node, unit);
}

/* ---- one position ---- */

struct units { /* [first, end) */
    uint32_t first, end;
};

/* What a task there would occupy. */
static struct units limits_busy_units(const struct passes *passes, const struct position *position)
{
    if (passes->narrow)
        return (struct units){position->bind_first, position->bind_end};
    return (struct units){position->unit, position->unit + 1};
}

static bool seat_is_free(const struct passes *passes, struct seat seat)
{
    const struct positions *plan = plan_at(passes, seat.node);
    struct units busy = limits_busy_units(passes, &plan->positions[seat.position]);
    uint32_t most = passes->nodes[seat.node].limit;
    if ((most && passes->node_tasks[seat.node] >= most) ||
        (passes->quota && passes->quota[seat.node] == 0) ||
        (passes->given && bit_is_set(passes->given, passes->given_base[seat.node] + seat.position)))
        return false;
    for (uint32_t i = 0; i < passes->policy->nlimits; i++) {
        const struct policy_limit *limit = &passes->policy->limits[i];
        const uint32_t *object = plan->object[limit->level];
        const uint32_t *counter = limit_counters(passes, seat.node, i);
        for (uint32_t o = object[busy.first]; o <= object[busy.end - 1]; o++)
            if (counter[o] >= limit->count)
                return false;
    }
    return true;
}

/* Count a task in (by = 1) or out again (by = -1). */
static void seat_count(struct passes *passes, struct seat seat, uint32_t by)
{
    const struct positions *plan = plan_at(passes, seat.node);
    struct units busy = limits_busy_units(passes, &plan->positions[seat.position]);
    for (uint32_t i = 0; i < passes->policy->nlimits; i++) {
        const uint32_t *object = plan->object[passes->policy->limits[i].level];
        uint32_t *counter = limit_counters(passes, seat.node, i);
        for (uint32_t o = object[busy.first]; o <= object[busy.end - 1]; o++)
            counter[o] += by;
    }
    passes->node_tasks[seat.node] += by;
    if (passes->given)
        set_bit(passes->given, passes->given_base[seat.node] + seat.position, by == 1);
    if (passes->quota)
        passes->quota[seat.node] -= by;
}

static void limits_seat_take(struct passes *passes, struct seat seat)
{
    passes->seats = array_grow(passes->seats, passes->nseats, sizeof(*passes->seats));
    passes->seats[passes->nseats++] = seat;
    seat_count(passes, seat, 1);
}

/* ---- passes ---- */

uint32_t passes_fit(struct passes *passes, const uint32_t *nodes, uint32_t nnodes, uint32_t ntasks)
{
    uint32_t begin = passes->nseats, until = begin + ntasks, from = begin;
    struct position_iterator walk;
    struct seat seat;
    position_iterator_start(&walk, passes->plans, passes->plan_of, nodes, nnodes);
    while (passes->nseats < until && position_iterator_next(&walk, &seat.node, &seat.position))
        if (seat_is_free(passes, seat))
            limits_seat_take(passes, seat);
    position_iterator_free(&walk);
    /* Further passes, each over the seats that the one before took, until one takes none. */
    while (passes->nseats < until && passes->nseats > from)
        for (uint32_t to = passes->nseats; from < to && passes->nseats < until; from++)
            if (seat_is_free(passes, passes->seats[from]))
                limits_seat_take(passes, passes->seats[from]);
    return passes->nseats - begin;
}

/* Where GPUs are given out, those that nobody has yet come first. */
static bool seat_is_held(const struct passes *passes, struct seat seat)
{
    if (passes->given)
        return bit_is_set(passes->given, passes->given_base[seat.node] + seat.position);
    uint32_t unit = plan_at(passes, seat.node)->positions[seat.position].unit;
    return bit_is_set(passes->held, passes->held_base[seat.node] + unit);
}

/* One pass beyond the limits: over the positions that no task holds, or with `again` over all. */
static void forced_pass(struct passes *passes, const uint32_t *nodes, uint32_t nnodes,
                        uint32_t until, bool again)
{
    struct position_iterator walk;
    struct seat seat;
    position_iterator_start(&walk, passes->plans, passes->plan_of, nodes, nnodes);
    while (passes->nseats < until && position_iterator_next(&walk, &seat.node, &seat.position)) {
        if ((passes->quota && passes->quota[seat.node] == 0) ||
            (!again && seat_is_held(passes, seat)))
            continue;
        limits_seat_take(passes, seat);
    }
    position_iterator_free(&walk);
}

uint32_t passes_force(struct passes *passes, const uint32_t *nodes, uint32_t nnodes,
                      uint32_t ntasks)
{
    uint32_t begin = passes->nseats, until = begin + ntasks, before;
    for (; passes->nheld < begin; passes->nheld++) {
        struct seat seat = passes->seats[passes->nheld];
        hold_unit(passes, seat.node, plan_at(passes, seat.node)->positions[seat.position].unit);
    }
    forced_pass(passes, nodes, nnodes, until, false);
    do {
        before = passes->nseats;
        forced_pass(passes, nodes, nnodes, until, true);
    } while (passes->nseats < until && passes->nseats > before);
    return passes->nseats - begin;
}

bool passes_has_position(const struct passes *passes, uint32_t node)
{
    return plan_at(passes, node)->npositions > 0;
}

uint32_t passes_room(struct passes *passes, uint32_t node, uint32_t most)
{
    uint32_t before = passes->nseats, *quota = passes->quota;
    passes->quota = NULL;
    uint32_t found = passes_fit(passes, &node, 1, most);
    while (passes->nseats > before)
        seat_count(passes, passes->seats[--passes->nseats], (uint32_t)-1);
    passes->quota = quota;
    return found;
}
