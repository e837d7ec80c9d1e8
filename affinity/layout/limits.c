#include "affinity/layout/limits.h"

#include <stdlib.h>

#include "affinity/layout/positions.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/search.h"

static const struct positions *plan_at(const struct passes *placing, uint32_t node)
{
    return &placing->plans->plans[placing->plan_of[node]];
}

static size_t lay_out_counters(struct passes *placing, uint32_t plan_index)
{
    const struct policy *policy = placing->policy;
    const struct positions *plan = &placing->plans->plans[plan_index];
    uint32_t size = 0;
    for (uint32_t i = 0; i < policy->nlimits; i++) {
        placing->limit_offset[plan_index * policy->nlimits + i] = size;
        size += plan->count[policy->limits[i].level];
    }
    return size;
}

static void start_giving(struct passes *placing, uint32_t nnodes)
{
    size_t bits = 0;
    placing->given_base = mem_array(nnodes, sizeof(*placing->given_base));
    for (uint32_t node = 0; node < nnodes; node++) {
        placing->given_base[node] = bits;
        bits += plan_at(placing, node)->npositions;
    }
    placing->given = mem_array(bits / 8 + 1, 1);
}

void passes_start(struct passes *placing, const struct layout_request *request,
                  const struct kinds *kinds, const struct all_positions *plans,
                  const struct policy *policy, uint32_t *node_tasks)
{
    *placing = (struct passes){.nodes = request->nodes,
                               .policy = policy,
                               .narrow = policy_is_narrow(policy),
                               .plans = plans,
                               .plan_of = kinds->of,
                               .node_tasks = node_tasks};
    size_t *size = mem_array(plans->nplans, sizeof(*size));
    placing->limit_offset =
        mem_array((size_t)plans->nplans * policy->nlimits, sizeof(*placing->limit_offset));
    for (uint32_t i = 0; i < plans->nplans; i++)
        size[i] = lay_out_counters(placing, i);

    size_t counters = 0, bits = 0;
    placing->counter_base = mem_array(request->nnodes, sizeof(*placing->counter_base));
    placing->held_base = mem_array(request->nnodes, sizeof(*placing->held_base));
    for (uint32_t node = 0; node < request->nnodes; node++) {
        placing->counter_base[node] = counters;
        placing->held_base[node] = bits;
        counters += size[kinds->of[node]];
        bits += plan_at(placing, node)->nunits;
    }
    placing->counters = mem_array(counters, sizeof(*placing->counters));
    placing->held = mem_array(bits / 8 + 1, 1);
    if (policy->gpus_per_task)
        start_giving(placing, request->nnodes);
    free(size);
}

void passes_free(struct passes *placing)
{
    free(placing->counters);
    free(placing->counter_base);
    free(placing->limit_offset);
    free(placing->held);
    free(placing->given);
    free(placing->given_base);
    free(placing->held_base);
    free(placing->seats);
}

static uint32_t *limit_counters(const struct passes *placing, uint32_t node, uint32_t limit)
{
    uint32_t at = placing->plan_of[node] * placing->policy->nlimits + limit;
    return placing->counters + placing->counter_base[node] + placing->limit_offset[at];
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

static bool unit_is_held(const struct passes *placing, uint32_t node, uint32_t unit)
{
    return bit_is_set(placing->held, placing->held_base[node] + unit);
}

static void hold_unit(struct passes *placing, uint32_t node, uint32_t unit)
{
    set_bit(placing->held, placing->held_base[node] + unit, true);
}

/* ---- what earlier runs left ---- */

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

void passes_occupy(struct passes *placing, uint32_t node, uint32_t first, uint32_t end)
{
    const struct positions *plan = plan_at(placing, node);
    uint32_t from = unit_behind(plan, first), to = from;
    while (to < plan->nunits && plan->first_row[to] < end)
        to++;
    for (uint32_t i = 0; i < placing->policy->nlimits && from < to; i++) {
        const uint32_t *object = plan->object[placing->policy->limits[i].level];
        uint32_t *counter = limit_counters(placing, node, i);
        for (uint32_t o = object[from]; o <= object[to - 1]; o++)
            counter[o]++;
    }
}

void passes_hold(struct passes *placing, uint32_t node, uint32_t place)
{
    const struct positions *plan = plan_at(placing, node);
    uint32_t unit = unit_behind(plan, place);
    if (unit < plan->nunits && plan->first_row[unit] <= place)
        hold_unit(placing, node, unit);
}

/* ---- one position ---- */

struct units { /* [first, end) */
    uint32_t first, end;
};

/* What a task there would occupy. */
static struct units limits_busy_units(const struct passes *placing, const struct position *position)
{
    if (placing->narrow)
        return (struct units){position->bind_first, position->bind_end};
    return (struct units){position->unit, position->unit + 1};
}

static bool seat_is_free(const struct passes *placing, struct seat seat)
{
    const struct positions *plan = plan_at(placing, seat.node);
    struct units busy = limits_busy_units(placing, &plan->positions[seat.position]);
    uint32_t most = placing->nodes[seat.node].limit;
    if ((most && placing->node_tasks[seat.node] >= most) ||
        (placing->quota && placing->quota[seat.node] == 0) ||
        (placing->given &&
         bit_is_set(placing->given, placing->given_base[seat.node] + seat.position)))
        return false;
    for (uint32_t i = 0; i < placing->policy->nlimits; i++) {
        const struct policy_limit *limit = &placing->policy->limits[i];
        const uint32_t *object = plan->object[limit->level];
        const uint32_t *counter = limit_counters(placing, seat.node, i);
        for (uint32_t o = object[busy.first]; o <= object[busy.end - 1]; o++)
            if (counter[o] >= limit->count)
                return false;
    }
    return true;
}

/* Count a task in (by = 1) or out again (by = -1). */
static void seat_count(struct passes *placing, struct seat seat, uint32_t by)
{
    const struct positions *plan = plan_at(placing, seat.node);
    struct units busy = limits_busy_units(placing, &plan->positions[seat.position]);
    for (uint32_t i = 0; i < placing->policy->nlimits; i++) {
        const uint32_t *object = plan->object[placing->policy->limits[i].level];
        uint32_t *counter = limit_counters(placing, seat.node, i);
        for (uint32_t o = object[busy.first]; o <= object[busy.end - 1]; o++)
            counter[o] += by;
    }
    placing->node_tasks[seat.node] += by;
    if (placing->given)
        set_bit(placing->given, placing->given_base[seat.node] + seat.position, by == 1);
    if (placing->quota)
        placing->quota[seat.node] -= by;
}

static void limits_seat_take(struct passes *placing, struct seat seat)
{
    placing->seats = array_grow(placing->seats, placing->nseats, sizeof(*placing->seats));
    placing->seats[placing->nseats++] = seat;
    seat_count(placing, seat, 1);
}

static void seat_hold(struct passes *placing, struct seat seat)
{
    hold_unit(placing, seat.node, plan_at(placing, seat.node)->positions[seat.position].unit);
}

/* ---- passes ---- */

static void first_pass(struct passes *placing, const uint32_t *nodes, uint32_t nnodes,
                       uint32_t until)
{
    struct position_iterator walk;
    struct seat seat;
    position_iterator_start(&walk, placing->plans, placing->plan_of, nodes, nnodes);
    while (placing->nseats < until && position_iterator_next(&walk, &seat.node, &seat.position))
        if (seat_is_free(placing, seat))
            limits_seat_take(placing, seat);
    position_iterator_free(&walk);
}

static void pass_again(struct passes *placing, uint32_t from, uint32_t to, uint32_t until)
{
    for (uint32_t i = from; i < to && placing->nseats < until; i++) {
        struct seat seat = placing->seats[i];
        if (seat_is_free(placing, seat))
            limits_seat_take(placing, seat);
    }
}

uint32_t passes_fit(struct passes *placing, const uint32_t *nodes, uint32_t nnodes, uint32_t ntasks)
{
    uint32_t begin = placing->nseats, until = begin + ntasks, from = begin;
    first_pass(placing, nodes, nnodes, until);
    while (placing->nseats < until && placing->nseats > from) {
        uint32_t to = placing->nseats;
        pass_again(placing, from, to, until);
        from = to;
    }
    return placing->nseats - begin;
}

static bool may_come(const struct passes *placing, uint32_t node)
{
    return !placing->quota || placing->quota[node] > 0;
}

/* Where GPUs are given out, those that nobody has yet come first. */
static bool seat_is_held(const struct passes *placing, struct seat seat)
{
    if (placing->given)
        return bit_is_set(placing->given, placing->given_base[seat.node] + seat.position);
    return unit_is_held(placing, seat.node,
                        plan_at(placing, seat.node)->positions[seat.position].unit);
}

/* Past the limits: what is not held yet, or with `again` everything. */
static void forced_pass(struct passes *placing, const uint32_t *nodes, uint32_t nnodes,
                        uint32_t until, bool again)
{
    struct position_iterator walk;
    struct seat seat;
    position_iterator_start(&walk, placing->plans, placing->plan_of, nodes, nnodes);
    while (placing->nseats < until && position_iterator_next(&walk, &seat.node, &seat.position)) {
        if (!may_come(placing, seat.node) || (!again && seat_is_held(placing, seat)))
            continue;
        limits_seat_take(placing, seat);
    }
    position_iterator_free(&walk);
}

uint32_t passes_force(struct passes *placing, const uint32_t *nodes, uint32_t nnodes,
                      uint32_t ntasks)
{
    uint32_t begin = placing->nseats, until = begin + ntasks, before;
    for (; placing->nheld < begin; placing->nheld++)
        seat_hold(placing, placing->seats[placing->nheld]);
    forced_pass(placing, nodes, nnodes, until, false);
    do {
        before = placing->nseats;
        forced_pass(placing, nodes, nnodes, until, true);
    } while (placing->nseats < until && placing->nseats > before);
    return placing->nseats - begin;
}

bool passes_has_position(const struct passes *placing, uint32_t node)
{
    return plan_at(placing, node)->npositions > 0;
}

uint32_t passes_room(struct passes *placing, uint32_t node, uint32_t most)
{
    uint32_t before = placing->nseats, *quota = placing->quota;
    placing->quota = NULL;
    uint32_t found = passes_fit(placing, &node, 1, most);
    while (placing->nseats > before)
        seat_count(placing, placing->seats[--placing->nseats], (uint32_t)-1);
    placing->quota = quota;
    return found;
}
