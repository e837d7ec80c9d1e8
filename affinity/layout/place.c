/*
 * Placing one placement: how many tasks on each node, in which order they are numbered.
 */
#include "affinity/layout/place.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/binding_sets.h"
#include "affinity/layout/build.h"
#include "affinity/layout/gpu_left.h"
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

/* ---- earlier placements ---- */

static void occupy_by_earlier(struct passes *passes, const struct layout_build *build)
{
    for (uint32_t rank = 0; rank < build->layout->ntasks; rank++) {
        const struct layout_task *task = &build->layout->tasks[rank];
        struct rows rows;
        passes_hold(passes, task->node, task->place);
        for (uint32_t i = 0; layout_build_occupied(build, task, i, &rows); i++)
            passes_occupy(passes, task->node, rows.first, rows.end);
    }
}

/* ---- on all nodes, as the loops come to them ---- */

static int place_freely(const struct layout_build *build, struct passes *passes,
                        const struct placement *placement, struct error *err)
{
    uint32_t left = placement->ntasks;
    left -= passes_fit(passes, build->choice->nodes, build->choice->count, left);
    if (left && !placement->policy.oversubscribe)
        return infeasible_room(build, passes, placement, err);
    if (left) {
        build->layout->oversubscribed = true;
        left -= passes_force(passes, build->choice->nodes, build->choice->count, left);
    }
    return left ? infeasible_no_place(build, placement, passes->plans, err) : 0;
}

/* ---- on exactly node_count nodes ---- */

/* Blocks: each node is filled by itself, whatever the map says about n. */
static uint32_t place_blocks(const struct layout_build *build, struct passes *passes,
                             const uint32_t *share, bool force)
{
    uint32_t placed = 0;
    for (uint32_t i = 0; i < build->choice->count; i++) {
        const uint32_t *node = &build->choice->nodes[i];
        uint32_t found = passes_fit(passes, node, 1, share[*node]);
        if (found < share[*node] && force) {
            build->layout->oversubscribed = true;
            found += passes_force(passes, node, 1, share[*node] - found);
        }
        placed += found;
    }
    return placed;
}

static uint32_t place_cyclic(const struct layout_build *build, struct passes *passes,
                             const struct placement *placement)
{
    uint32_t placed =
        passes_fit(passes, build->choice->nodes, build->choice->count, placement->ntasks);
    if (placed < placement->ntasks && placement->policy.oversubscribe) {
        build->layout->oversubscribed = true;
        placed += passes_force(passes, build->choice->nodes, build->choice->count,
                               placement->ntasks - placed);
    }
    return placed;
}

static int place_counted(struct layout_build *build, struct passes *passes,
                         const struct placement *placement, struct error *err)
{
    if (placement->number == 0 && node_count_choose(build, passes, placement, err) < 0)
        return -1;
    uint32_t *share = node_count_shares(build, passes, placement), placed;
    if (policy_is_cyclic(&placement->policy)) {
        passes->quota = share;
        placed = place_cyclic(build, passes, placement);
        passes->quota = NULL;
    } else {
        placed = place_blocks(build, passes, share, placement->policy.oversubscribe);
    }
    free(share);
    return placed < placement->ntasks ? infeasible_room(build, passes, placement, err) : 0;
}

/* ---- as many as fit ---- */

/* One a slot, where a node's slots are counted, however few cores it has; elsewhere what fits. */
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
    if (policy_is_cyclic(&placement->policy)) {
        passes->quota = share;
        place_cyclic(build, passes, placement);
        passes->quota = NULL;
    } else {
        place_blocks(build, passes, share, true);
    }
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

static uint32_t seat_row(const struct passes *passes, const struct seat *seat)
{
    const struct positions *plan = &passes->plans->plans[passes->plan_of[seat->node]];
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
static void order_sequential(struct passes *passes, uint32_t nnodes)
{
    uint32_t n = passes->nseats;
    struct seat *spare = mem_array(n, sizeof(*spare));
    uint32_t *key = mem_array(n, sizeof(*key));
    for (uint32_t i = 0; i < n; i++)
        key[i] = seat_row(passes, &passes->seats[i]);
    sort_seats(passes->seats, spare, key, n, TOPO_MAX_PUS);
    for (uint32_t i = 0; i < n; i++)
        key[i] = passes->seats[i].node;
    sort_seats(passes->seats, spare, key, n, nnodes);
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

static uint32_t bind_position(struct layout_build *build, const struct positions *plan,
                              const struct position *position)
{
    uint32_t units = position->bind_end - position->bind_first;
    struct rows *spans = mem_array(units, sizeof(*spans));
    uint32_t n = unit_spans(plan, position->bind_first, position->bind_end, spans);
    uint32_t binding = binding_sets_add(build->bindings, plan->class, spans, n);
    free(spans);
    return binding;
}

/* Numbers of sets made so far for the positions of one class. All bindings of a placement are of one
 * width and go by their first unit; with GPUs they may not be, and go by position. */
struct made_sets {
    uint32_t *bindings; /* or NO_BINDING */
    uint32_t *gpus;     /* by position; NULL: none are given out */
};

static struct made_sets made_sets_new(const struct positions *plan)
{
    uint32_t size = plan->pairs ? plan->npositions : plan->nunits;
    struct made_sets made = {.bindings = mem_array(size, sizeof(*made.bindings))};
    memset(made.bindings, 0xff, size * sizeof(*made.bindings));
    if (plan->pairs) {
        made.gpus = mem_array(size, sizeof(*made.gpus));
        memset(made.gpus, 0xff, size * sizeof(*made.gpus));
    }
    return made;
}

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
    for (uint32_t i = 0; i < nplans; i++)
        made[i] = made_sets_new(&passes->plans->plans[i]);
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
    if (build->request->node_count)
        return place_counted(build, passes, placement, err);
    return place_freely(build, passes, placement, err);
}

static int place_on(struct layout_build *build, const struct node_classes *classes,
                    struct placement *placement, struct error *err)
{
    struct all_positions plans;
    struct passes passes;
    all_positions_make(&plans, classes, &placement->policy);
    passes_start(&passes, build->request, classes, &plans, &placement->policy, build->node_tasks);
    if (build->placements->count > 1)
        occupy_by_earlier(&passes, build);
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
