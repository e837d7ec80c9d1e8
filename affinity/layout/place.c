/*
 * Placing one run: how many tasks on each node, in which order they are numbered.
 */
#include "affinity/layout/place.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/binding_sets.h"
#include "affinity/layout/build.h"
#include "affinity/layout/gpu_sets.h"
#include "affinity/layout/infeasible.h"
#include "affinity/layout/limits.h"
#include "affinity/layout/node_count.h"
#include "affinity/layout/place_rankfile.h"
#include "affinity/layout/place_slots.h"
#include "affinity/layout/place_taskmap.h"
#include "base/mem.h"

/* ---- earlier runs ---- */

static void occupy_by_earlier(struct passes *placing, const struct layout_build *builder)
{
    for (uint32_t rank = 0; rank < builder->layout->ntasks; rank++) {
        const struct layout_task *task = &builder->layout->tasks[rank];
        passes_hold(placing, task->node, task->place);
        if (!policy_is_narrow(layout_build_policy(builder, task))) {
            passes_occupy(placing, task->node, task->place, task->place + 1);
            continue;
        }
        const struct node_class *kind = layout_build_kind(builder, task->node);
        for (uint32_t i = 0; i < builder->bindings[task->binding].nspans; i++) {
            struct rows rows = layout_build_binding_rows(builder, kind, task->binding, i);
            passes_occupy(placing, task->node, rows.first, rows.end);
        }
    }
}

/* ---- on all nodes, as the loops come to them ---- */

static int place_freely(const struct layout_build *builder, struct passes *placing,
                        const struct placement *run, struct error *err)
{
    uint32_t left = run->ntasks;
    left -= passes_fit(placing, builder->chosen, builder->nchosen, left);
    if (left && !run->policy.oversubscribe)
        return infeasible_room(builder, placing, run, err);
    if (left) {
        builder->layout->oversubscribed = true;
        left -= passes_force(placing, builder->chosen, builder->nchosen, left);
    }
    return left ? infeasible_no_place(builder, run, placing->plans, err) : 0;
}

/* ---- on exactly node_count nodes ---- */

/* Blocks: each node is filled by itself, whatever the map says about n. */
static uint32_t place_blocks(const struct layout_build *builder, struct passes *placing,
                             const uint32_t *share, bool force)
{
    uint32_t placed = 0;
    for (uint32_t i = 0; i < builder->nchosen; i++) {
        const uint32_t *node = &builder->chosen[i];
        uint32_t found = passes_fit(placing, node, 1, share[*node]);
        if (found < share[*node] && force) {
            builder->layout->oversubscribed = true;
            found += passes_force(placing, node, 1, share[*node] - found);
        }
        placed += found;
    }
    return placed;
}

static uint32_t place_cyclic(const struct layout_build *builder, struct passes *placing,
                             const struct placement *run)
{
    uint32_t placed = passes_fit(placing, builder->chosen, builder->nchosen, run->ntasks);
    if (placed < run->ntasks && run->policy.oversubscribe) {
        builder->layout->oversubscribed = true;
        placed += passes_force(placing, builder->chosen, builder->nchosen, run->ntasks - placed);
    }
    return placed;
}

static int place_counted(struct layout_build *builder, struct passes *placing,
                         const struct placement *run, struct error *err)
{
    if (run == builder->runs && layout_build_choose_nodes(builder, placing, run, err) < 0)
        return -1;
    uint32_t *share = layout_build_share_out(builder, placing, run), placed;
    if (policy_is_cyclic(&run->policy)) {
        placing->quota = share;
        placed = place_cyclic(builder, placing, run);
        placing->quota = NULL;
    } else {
        placed = place_blocks(builder, placing, share, run->policy.oversubscribe);
    }
    free(share);
    return placed < run->ntasks ? infeasible_room(builder, placing, run, err) : 0;
}

/* ---- as many as fit ---- */

/* One a slot, where a node's slots are counted, however few cores it has; elsewhere what fits. */
static void place_slots(const struct layout_build *builder, struct passes *placing,
                        struct placement *run, uint32_t most)
{
    uint32_t *share = mem_array(builder->request->nnodes, sizeof(*share));
    for (uint32_t i = 0; i < builder->nchosen; i++) {
        uint32_t node = builder->chosen[i], limit = builder->request->nodes[node].limit;
        uint32_t taken = builder->node_tasks[node], left = most - run->ntasks;
        share[node] = !limit ? passes_room(placing, node, left) : limit > taken ? limit - taken : 0;
        share[node] = share[node] < left ? share[node] : left;
        run->ntasks += share[node];
    }
    if (policy_is_cyclic(&run->policy)) {
        placing->quota = share;
        place_cyclic(builder, placing, run);
        placing->quota = NULL;
    } else {
        place_blocks(builder, placing, share, true);
    }
    free(share);
}

static int place_fill(struct layout_build *builder, struct passes *placing, struct placement *run,
                      struct error *err)
{
    const uint32_t most = PROGRAM_MAX_TASKS - builder->layout->ntasks;
    bool counted = builder->request->node_count,
         blocks = counted && !policy_is_cyclic(&run->policy);
    if (counted && run == builder->runs && layout_build_choose_any(builder, placing, run, err) < 0)
        return -1;
    if (run->policy.oversubscribe && !run->policy.per_count && !run->policy.limits_given)
        place_slots(builder, placing, run, most + 1);
    else if (blocks)
        for (uint32_t i = 0; i < builder->nchosen && placing->nseats <= most; i++)
            passes_fit(placing, &builder->chosen[i], 1, most + 1 - placing->nseats);
    else
        passes_fit(placing, builder->chosen, builder->nchosen, most + 1);
    run->ntasks = placing->nseats;
    builder->part_tasks[run->first_part] = run->ntasks;
    if (run->ntasks > most)
        return error_usage(err,
                           "%s: more tasks fit than the %u that one program may have; a number "
                           "with -n says how many to run",
                           run->policy.per_count ? "--per" : "-n all", PROGRAM_MAX_TASKS);
    run->ntasks += run->ntasks == 0;
    return placing->nseats ? 0 : infeasible_room(builder, placing, run, err);
}

/* ---- seats to tasks ---- */

static uint32_t seat_row(const struct passes *placing, const struct seat *seat)
{
    const struct positions *plan = &placing->plans->plans[placing->plan_of[seat->node]];
    return plan->first_row[plan->positions[seat->position].unit];
}

/* A stable counting sort by key[], which is below nkeys. */
static void sort_seats(struct seat *seats, struct seat *spare, const uint32_t *key, uint32_t n,
                       uint32_t nkeys)
{
    uint32_t *at = mem_array(nkeys + 1ul, sizeof(*at));
    for (uint32_t i = 0; i < n; i++)
        at[key[i] + 1]++;
    for (uint32_t k = 0; k < nkeys; k++)
        at[k + 1] += at[k];
    for (uint32_t i = 0; i < n; i++)
        spare[at[key[i]]++] = seats[i];
    memcpy(seats, spare, n * sizeof(*seats));
    free(at);
}

/* All hardware in a line, node by node: by place first, then, stable, by node. */
static void order_sequential(struct passes *placing, uint32_t nnodes)
{
    uint32_t n = placing->nseats;
    struct seat *spare = mem_array(n, sizeof(*spare));
    uint32_t *key = mem_array(n, sizeof(*key));
    for (uint32_t i = 0; i < n; i++)
        key[i] = seat_row(placing, &placing->seats[i]);
    sort_seats(placing->seats, spare, key, n, TOPO_MAX_PUS);
    for (uint32_t i = 0; i < n; i++)
        key[i] = placing->seats[i].node;
    sort_seats(placing->seats, spare, key, n, nnodes);
    free(key);
    free(spare);
}

/* The units [first, end) as runs of rows; what no slot took lies between them. */
static uint32_t unit_spans(const struct positions *plan, uint32_t first, uint32_t end,
                           struct rows *spans)
{
    uint32_t n = 0;
    for (uint32_t unit = first; unit < end; unit++)
        if (n && spans[n - 1].end == plan->first_row[unit])
            spans[n - 1].end = plan->end_row[unit];
        else
            spans[n++] = (struct rows){plan->first_row[unit], plan->end_row[unit]};
    return n;
}

static uint32_t bind_position(struct layout_build *builder, const struct positions *plan,
                              const struct position *position)
{
    uint32_t units = position->bind_end - position->bind_first;
    struct rows *spans = mem_array(units, sizeof(*spans));
    uint32_t n = unit_spans(plan, position->bind_first, position->bind_end, spans);
    uint32_t binding = layout_build_bind(builder, plan->kind, spans, n);
    free(spans);
    return binding;
}

/* Bindings made so far, by plan and first unit: all of one run are of one width. With GPUs they may
 * not be, and go by position. */
static uint32_t **binding_tables(const struct all_positions *plans)
{
    uint32_t **tables = mem_array(plans->nplans, sizeof(*tables));
    for (uint32_t i = 0; i < plans->nplans; i++) {
        const struct positions *plan = &plans->plans[i];
        uint32_t size = plan->pairs ? plan->npositions : plan->nunits;
        tables[i] = mem_array(size, sizeof(**tables));
        memset(tables[i], 0xff, size * sizeof(**tables));
    }
    return tables;
}

static struct layout_task seat_task(struct layout_build *builder, const struct passes *placing,
                                    const struct seat *seat, uint32_t **tables)
{
    const uint32_t plan_index = placing->plan_of[seat->node];
    const struct positions *plan = &placing->plans->plans[plan_index];
    const struct position *position = &plan->positions[seat->position];
    uint32_t key = plan->pairs ? seat->position : position->bind_first;
    uint32_t *binding = &tables[plan_index][key];
    if (placing->policy->bind == POLICY_BIND_OBJECTS && *binding == NO_BINDING)
        *binding = bind_position(builder, plan, position);
    return (struct layout_task){.node = seat->node,
                                .binding = *binding,
                                .place = seat_row(placing, seat),
                                .gpus = plan->pairs
                                            ? layout_build_give_gpus(builder, placing->policy, plan,
                                                                     seat->position, seat->node)
                                            : LAYOUT_NO_GPUS};
}

static void append_tasks(struct layout_build *builder, const struct passes *placing,
                         const struct placement *run)
{
    uint32_t **tables = binding_tables(placing->plans);
    const struct seat *seat = placing->seats;
    for (uint32_t part = run->first_part; part < run->first_part + run->nparts; part++)
        for (uint32_t i = 0; i < builder->part_tasks[part]; i++, seat++) {
            struct layout_task task = seat_task(builder, placing, seat, tables);
            task.app = part;
            builder->layout->tasks[builder->layout->ntasks++] = task;
        }
    for (uint32_t i = 0; i < placing->plans->nplans; i++)
        free(tables[i]);
    free(tables);
}

static int place_take_seats(struct layout_build *builder, struct passes *placing,
                            struct placement *run, struct error *err)
{
    if (run->deal.scheme != TASKMAP_SCHEME_NONE)
        return layout_build_deal(builder, placing, run, err);
    if (run->fill)
        return place_fill(builder, placing, run, err);
    if (builder->request->node_count)
        return place_counted(builder, placing, run, err);
    return place_freely(builder, placing, run, err);
}

static int place_on(struct layout_build *builder, const struct kinds *kinds, struct placement *run,
                    struct error *err)
{
    struct layout *layout = builder->layout;
    struct all_positions plans;
    struct passes placing;
    all_positions_make(&plans, kinds, &run->policy);
    passes_start(&placing, builder->request, kinds, &plans, &run->policy, builder->node_tasks);
    if (builder->nruns > 1)
        occupy_by_earlier(&placing, builder);
    int rc = infeasible_word(&plans, &run->policy, err);
    if (rc == 0 && plans.ngroups == 0 &&
        run->deal.scheme != TASKMAP_SCHEME_MAP) /* its nodes come first */
        rc = infeasible_no_place(builder, run, &plans, err);
    if (rc == 0)
        rc = place_take_seats(builder, &placing, run, err);
    if (rc == 0) {
        if (run->policy.sequential)
            order_sequential(&placing, builder->request->nnodes);
        layout->tasks =
            mem_resize(layout->tasks, (size_t)layout->ntasks + run->ntasks, sizeof(*layout->tasks));
        append_tasks(builder, &placing, run);
    }
    passes_free(&placing);
    all_positions_free(&plans);
    return rc;
}

/* The nodes that the run may use. */
static void choose_allowed(struct layout_build *builder, const struct idset *only)
{
    builder->nchosen = 0;
    for (uint32_t node = 0; node < builder->request->nnodes; node++)
        if (!only || idset_has(only, node))
            builder->chosen[builder->nchosen++] = node;
}

int layout_build_place_run(struct layout_build *builder, struct placement *run, struct error *err)
{
    struct placement_gpus gpus;
    struct kinds kinds;
    if (!builder->request->node_count)
        choose_allowed(builder, builder->request->parts[run->first_part].only);
    if (run->rankfile)
        return layout_build_place_rankfile(builder, run, err);
    if (run->slots)
        return layout_build_place_slots(builder, run, err);
    if (!run->policy.gpus_per_task)
        return place_on(builder, &builder->kinds, run, err);
    int rc = layout_build_find_gpus(builder, &gpus, &kinds, err);
    if (rc == 0)
        rc = place_on(builder, &kinds, run, err);
    node_classes_free(&kinds);
    layout_build_free_gpus(builder, &gpus);
    return rc;
}
