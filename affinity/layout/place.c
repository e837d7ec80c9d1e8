/*
 * Placing one placement: how many tasks on each node, in which order they are numbered.
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
#include "affinity/layout/placement.h"
#include "affinity/layout/positions.h"
#include "base/mem.h"

/* ---- seats ---- */

/* Up to ntasks seats on these nodes; with `force` the limits are exceeded where there are too few. */
static uint32_t fit_or_force(const struct layout_build *build, struct passes *passes,
                             const uint32_t *nodes, uint32_t nnodes, uint32_t ntasks, bool force)
{
    uint32_t found = passes_fit(passes, nodes, nnodes, ntasks);
    if (found < ntasks && force) {
        build->layout->oversubscribed = true;
        found += passes_force(passes, nodes, nnodes, ntasks - found);
    }
    return found;
}

/* Each node gets its share of the tasks. Ranks go round the nodes where the map does, else they are in
 * blocks: each node is filled by itself, wherever n stands in the map. */
static uint32_t place_shares(const struct layout_build *build, struct passes *passes,
                             const struct placement *placement, uint32_t *share)
{
    const uint32_t *nodes = build->choice->nodes, nnodes = build->choice->count;
    bool force = placement->policy.oversubscribe;
    uint32_t placed = 0;
    if (policy_is_cyclic(&placement->policy)) {
        passes->quota = share;
        placed = fit_or_force(build, passes, nodes, nnodes, placement->ntasks, force);
        passes->quota = NULL;
        return placed;
    }
    for (uint32_t i = 0; i < nnodes; i++)
        placed += fit_or_force(build, passes, &nodes[i], 1, share[nodes[i]], force);
    return placed;
}

/* ---- as many as fit ---- */

/* With --oversubscribe: on a node whose slots are counted one task a slot, however few its cores are; on
 * others as many as fit. */
static void place_by_limits(const struct layout_build *build, struct passes *passes,
                            struct placement *placement, uint32_t most)
{
    uint32_t *share = mem_array(build->request->nnodes, sizeof(*share));
    for (uint32_t i = 0; i < build->choice->count; i++) {
        uint32_t node = build->choice->nodes[i], limit = build->request->nodes[node].limit;
        uint32_t taken = build->node_tasks[node], left = most - placement->ntasks;
        share[node] = !limit ? passes_room(passes, node, left) : limit > taken ? limit - taken : 0;
        share[node] = share[node] < left ? share[node] : left;
        placement->ntasks += share[node];
    }
    place_shares(build, passes, placement, share);
    free(share);
}

static int place_fill(struct layout_build *build, struct passes *passes,
                      struct placement *placement, struct error *err)
{
    const uint32_t most = PROGRAM_MAX_TASKS - build->layout->ntasks;
    bool counted = build->request->node_count,
         blocks = counted && !policy_is_cyclic(&placement->policy);
    if (counted && placement->number == 0 &&
        node_count_choose_any(build, passes, placement, err) < 0)
        return -1;
    if (placement->policy.oversubscribe && !placement->policy.per_count &&
        !placement->policy.limits_given)
        place_by_limits(build, passes, placement, most + 1);
    else if (blocks)
        for (uint32_t i = 0; i < build->choice->count && passes->nseats <= most; i++)
            passes_fit(passes, &build->choice->nodes[i], 1, most + 1 - passes->nseats);
    else
        passes_fit(passes, build->choice->nodes, build->choice->count, most + 1);
    placement->ntasks = passes->nseats;
    if (placement->ntasks > most)
        return error_usage(err,
                           "%s: more tasks fit than the %u that one program may have; a number "
                           "with -n says how many to run",
                           placement->policy.per_count ? "--per" : "-n all", PROGRAM_MAX_TASKS);
    placement->ntasks += placement->ntasks == 0;
    return passes->nseats ? 0 : infeasible_room(build, passes, placement, err);
}

/* ---- seats to tasks ---- */

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
static void order_sequential(struct passes *passes, uint32_t nnodes)
{
    uint32_t n = passes->nseats;
    struct seat *spare = mem_array(n, sizeof(*spare));
    uint32_t *key = mem_array(n, sizeof(*key));
    for (uint32_t i = 0; i < n; i++) {
        const struct seat *seat = &passes->seats[i];
        const struct positions *plan = &passes->plans->plans[passes->plan_of[seat->node]];
        key[i] = plan->first_row[plan->positions[seat->position].unit];
    }
    sort_seats(passes->seats, spare, key, n, TOPO_MAX_PUS);
    for (uint32_t i = 0; i < n; i++)
        key[i] = passes->seats[i].node;
    sort_seats(passes->seats, spare, key, n, nnodes);
    free(key);
    free(spare);
}

/* The binding of a position: runs of rows, since rows that no slot took may lie between its units. */
static uint32_t bind_position(struct layout_build *build, const struct positions *plan,
                              const struct position *position)
{
    uint32_t first = position->bind_first, end = position->bind_end, n = 0;
    struct rows *spans = mem_array(end - first, sizeof(*spans));
    for (uint32_t unit = first; unit < end; unit++)
        if (n && spans[n - 1].end == plan->first_row[unit])
            spans[n - 1].end = plan->end_row[unit];
        else
            spans[n++] = (struct rows){plan->first_row[unit], plan->end_row[unit]};
    uint32_t binding = binding_sets_add(build->bindings, plan->class, spans, n);
    free(spans);
    return binding;
}

/* Numbers of the sets that were made so far for the positions of one class. Without GPUs all bindings of
 * a placement have one width, so the first unit is the index; with GPUs the position is. */
struct made_sets {
    uint32_t *bindings; /* or NO_BINDING */
    uint32_t *gpus;     /* by position; NULL: none are given out */
};

static void place_in_seat(struct layout_build *build, const struct passes *passes,
                          const struct seat *seat, struct made_sets *made, struct layout_task *task)
{
    const struct positions *plan = &passes->plans->plans[passes->plan_of[seat->node]];
    const struct position *position = &plan->positions[seat->position];
    struct made_sets *sets = &made[passes->plan_of[seat->node]];
    uint32_t *binding = &sets->bindings[plan->pairs ? seat->position : position->bind_first];
    if (passes->policy->bind == POLICY_BIND_OBJECTS && *binding == NO_BINDING)
        *binding = bind_position(build, plan, position);
    task->node = seat->node;
    task->binding = *binding;
    task->place = plan->first_row[position->unit];
    if (!plan->pairs)
        return;
    uint32_t *gpus = &sets->gpus[seat->position], each = passes->policy->gpus_per_task;
    const uint32_t *ids = plan->gpus + (size_t)plan->pairs[seat->position].number * each;
    if (*gpus == LAYOUT_NO_GPUS)
        *gpus = gpu_sets_add_ids(build->gpu_sets, ids, each);
    task->gpus = *gpus;
    gpu_sets_claim(build->gpu_sets, seat->node, *gpus);
}

static void seats_to_tasks(struct layout_build *build, const struct passes *passes,
                           const struct placement *placement)
{
    uint32_t nplans = passes->plans->nplans;
    struct made_sets *made = mem_array(nplans, sizeof(*made));
    for (uint32_t i = 0; i < nplans; i++) {
        const struct positions *plan = &passes->plans->plans[i];
        uint32_t size = plan->pairs ? plan->npositions : plan->nunits;
        made[i].bindings = mem_array(size, sizeof(*made[i].bindings));
        memset(made[i].bindings, 0xff, size * sizeof(*made[i].bindings));
        if (!plan->pairs)
            continue;
        made[i].gpus = mem_array(size, sizeof(*made[i].gpus));
        memset(made[i].gpus, 0xff, size * sizeof(*made[i].gpus));
    }
    struct layout_task *tasks = layout_build_add_tasks(build, placement);
    for (uint32_t i = 0; i < placement->ntasks; i++)
        place_in_seat(build, passes, &passes->seats[i], made, &tasks[i]);
    for (uint32_t i = 0; i < nplans; i++) {
        free(made[i].bindings);
        free(made[i].gpus);
    }
    free(made);
}

static int take_seats(struct layout_build *build, struct passes *passes,
                      struct placement *placement, struct error *err)
{
    if (placement->taskmap.scheme != TASKMAP_SCHEME_NONE)
        return place_taskmap(build, passes, placement, err);
    if (placement->fill)
        return place_fill(build, passes, placement, err);
    if (!build->request->node_count) { /* on all nodes, as the loops come to them */
        bool force = placement->policy.oversubscribe;
        uint32_t placed = fit_or_force(build, passes, build->choice->nodes, build->choice->count,
                                       placement->ntasks, force);
        if (placed == placement->ntasks)
            return 0;
        return force ? infeasible_no_place(build, placement, passes->plans, err)
                     : infeasible_room(build, passes, placement, err);
    }
    if (placement->number == 0 && node_count_choose(build, passes, placement, err) < 0)
        return -1;
    uint32_t *share = node_count_shares(build, passes, placement);
    uint32_t placed = place_shares(build, passes, placement, share);
    free(share);
    return placed < placement->ntasks ? infeasible_room(build, passes, placement, err) : 0;
}

static int place_on(struct layout_build *build, const struct node_classes *classes,
                    struct placement *placement, struct error *err)
{
    struct all_positions plans;
    struct passes passes;
    all_positions_make(&plans, classes, &placement->policy);
    passes_start(&passes, build->request, classes, &plans, &placement->policy, build->node_tasks);
    for (uint32_t rank = 0; rank < build->layout->ntasks; rank++) { /* of earlier placements */
        const struct layout_task *task = &build->layout->tasks[rank];
        struct rows rows;
        passes_hold(&passes, task->node, task->place);
        for (uint32_t i = 0; layout_build_occupied(build, task, i, &rows); i++)
            passes_occupy(&passes, task->node, rows.first, rows.end);
    }
    int rc = infeasible_word(&plans, &placement->policy, err);
    if (rc == 0 && plans.ngroups == 0 &&
        placement->taskmap.scheme != TASKMAP_SCHEME_MAP) /* its nodes come first */
        rc = infeasible_no_place(build, placement, &plans, err);
    if (rc == 0)
        rc = take_seats(build, &passes, placement, err);
    if (rc == 0) {
        if (placement->policy.sequential)
            order_sequential(&passes, build->request->nnodes);
        seats_to_tasks(build, &passes, placement);
    }
    passes_free(&passes);
    all_positions_free(&plans);
    return rc;
}

/* ---- what earlier placements left of GPUs, and of the cores beside them ---- */

/* Classes of nodes for a placement that gives out GPUs: by what is left there. 0, or -1 with a sentence;
 * to be freed in either case. */
static int gpu_left_classes(const struct layout_build *build, struct node_classes *classes,
                            struct error *err)
{
    uint32_t nnodes = build->request->nnodes;
    struct node_class_gpus *nodes = mem_array(nnodes, sizeof(*nodes));
    struct idset **left = mem_array(nnodes, sizeof(*left)),
                 **busy = mem_array(nnodes, sizeof(*busy));
    for (uint32_t node = 0; node < nnodes; node++) {
        const struct idset *all = build->request->nodes[node].gpus;
        const struct idset *claimed = gpu_sets_claimed(build->gpu_sets, node);
        left[node] = all && claimed ? idset_subtract(all, claimed) : NULL;
        busy[node] = build->node_tasks[node] ? idset_new() : NULL;
        nodes[node] = (struct node_class_gpus){left[node] ? left[node] : all, busy[node]};
    }
    for (uint32_t rank = 0; rank < build->layout->ntasks; rank++) {
        /* The cores that a task occupies, as a limit of one a core counts them. */
        const struct layout_task *task = &build->layout->tasks[rank];
        const struct node_class *class = layout_build_class(build, task->node);
        struct rows rows;
        for (uint32_t i = 0; layout_build_occupied(build, task, i, &rows); i++)
            for (uint32_t row = rows.first; row < rows.end; row++)
                idset_add(busy[task->node], node_class_core(class, row));
    }
    int rc = node_classes_make(classes, build->request, nodes, err);
    for (uint32_t node = 0; node < nnodes; node++) {
        idset_free(left[node]);
        idset_free(busy[node]);
    }
    free(left);
    free(busy);
    free(nodes);
    return rc;
}

int place_placement(struct layout_build *build, struct placement *placement, struct error *err)
{
    const struct layout_request *request = build->request;
    if (!request->node_count)
        node_choice_all(build->choice, request->nnodes, request->parts[placement->first_part].only);
    if (placement->rankfile)
        return place_rankfile(build, placement, err);
    if (placement->slots)
        return place_slots(build, placement, err);
    if (!placement->policy.gpus_per_task)
        return place_on(build, build->classes, placement, err);
    struct node_classes classes;
    int rc = gpu_left_classes(build, &classes, err);
    if (rc == 0)
        rc = place_on(build, &classes, placement, err);
    node_classes_free(&classes);
    return rc;
}
