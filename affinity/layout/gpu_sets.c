/*
 * GPUs of a layout: what is left for a run, the sets that tasks share, who sees which.
 */
#include "affinity/layout/gpu_sets.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/binding_sets.h"
#include "affinity/layout/build.h"
#include "affinity/layout/gpu_locality.h"
#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"

/* ---- what is left for a run ---- */

static void gpu_sets_add_cores(struct idset *busy, const struct node_class *kind, struct rows rows)
{
    for (uint32_t row = rows.first; row < rows.end; row++)
        idset_add(busy, node_class_core(kind, row));
}

/* As a limit of one a core counts it: a task bound to cores or threads occupies them, any other
 * only its place. */
static void add_busy(struct idset *busy, const struct layout_build *builder,
                     const struct layout_task *task)
{
    const struct node_class *kind = layout_build_kind(builder, task->node);
    if (!policy_is_narrow(layout_build_policy(builder, task))) {
        gpu_sets_add_cores(busy, kind, (struct rows){task->place, task->place + 1});
        return;
    }
    for (uint32_t i = 0; i < builder->bindings[task->binding].nspans; i++)
        gpu_sets_add_cores(busy, kind, layout_build_binding_rows(builder, kind, task->binding, i));
}

static void leave_rest(const struct layout_build *builder, struct placement_gpus *gpus)
{
    uint32_t nnodes = builder->request->nnodes;
    gpus->owned = mem_array(nnodes * 2ul, sizeof(*gpus->owned));
    for (uint32_t node = 0; node < nnodes; node++) {
        const struct idset *all = builder->request->nodes[node].gpus;
        if (!builder->node_tasks[node])
            continue;
        if (all && builder->node_gpus[node])
            gpus->nodes[node].gpus = gpus->owned[2 * node] =
                idset_subtract(all, builder->node_gpus[node]);
        gpus->nodes[node].busy = gpus->owned[2 * node + 1] = idset_new();
    }
    for (uint32_t rank = 0; rank < builder->layout->ntasks; rank++) {
        const struct layout_task *task = &builder->layout->tasks[rank];
        add_busy(gpus->owned[2 * task->node + 1], builder, task);
    }
}

int layout_build_find_gpus(const struct layout_build *builder, struct placement_gpus *gpus,
                           struct kinds *kinds, struct error *err)
{
    uint32_t nnodes = builder->request->nnodes;
    *gpus = (struct placement_gpus){.nodes = mem_array(nnodes, sizeof(*gpus->nodes))};
    for (uint32_t node = 0; node < nnodes; node++)
        gpus->nodes[node].gpus = builder->request->nodes[node].gpus;
    if (builder->layout->ntasks)
        leave_rest(builder, gpus);
    return node_classes_make(kinds, builder->request, gpus->nodes, err);
}

void layout_build_free_gpus(const struct layout_build *builder, struct placement_gpus *gpus)
{
    for (size_t i = 0; gpus->owned && i < builder->request->nnodes * 2ul; i++)
        idset_free(gpus->owned[i]);
    free(gpus->owned);
    free(gpus->nodes);
}

/* ---- sets ---- */

static bool gpu_sets_same(const void *owner, uint32_t number, const void *thing)
{
    return idset_equal(((const struct layout *)owner)->gpu_sets[number], thing);
}

/* The number of a set, which is taken. */
static uint32_t number_set(struct layout_build *builder, struct idset *set)
{
    struct layout *layout = builder->layout;
    uint32_t number =
        hash_table_intern(&builder->set_numbers, idset_hash(0, set), gpu_sets_same, layout, set);
    if (number < layout->ngpu_sets) {
        idset_free(set);
        return number;
    }
    layout->gpu_sets = array_grow(layout->gpu_sets, number, sizeof(*layout->gpu_sets));
    layout->gpu_sets[layout->ngpu_sets++] = set;
    return number;
}

uint32_t layout_build_gpu_set(struct layout_build *builder, const uint32_t *ids, uint32_t n)
{
    struct idset *set = idset_new();
    for (uint32_t i = 0; i < n; i++)
        idset_add(set, ids[i]);
    return number_set(builder, set);
}

static void claim_gpus(struct layout_build *builder, uint32_t node, uint32_t set)
{
    struct idset **claim = &builder->node_gpus[node];
    if (!*claim)
        *claim = idset_new();
    IDSET_FOREACH(id, builder->layout->gpu_sets[set])
    idset_add(*claim, id);
}

uint32_t layout_build_give_gpus(struct layout_build *builder, const struct policy *policy,
                                const struct positions *plan, uint32_t position, uint32_t node)
{
    uint32_t number = plan->pairs[position].number, *set = &plan->gpu_set[number];
    if (*set == LAYOUT_NO_GPUS)
        *set = layout_build_gpu_set(builder, plan->gpus + (size_t)number * policy->gpus_per_task,
                                    policy->gpus_per_task);
    claim_gpus(builder, node, *set);
    return *set;
}

uint32_t layout_build_give_set(struct layout_build *builder, const struct idset *gpus,
                               uint32_t node)
{
    uint32_t set = number_set(builder, idset_copy(gpus));
    claim_gpus(builder, node, set);
    return set;
}

/* ---- the closest ---- */

static bool rows_meet(const struct layout_build *builder, const struct node_class *kind,
                      uint32_t binding, struct rows rows)
{
    for (uint32_t i = 0; i < builder->bindings[binding].nspans; i++) {
        struct rows span = layout_build_binding_rows(builder, kind, binding, i);
        if (span.first < rows.end && rows.first < span.end)
            return true;
    }
    return false;
}

/* Of these GPUs (NULL: all of the node) those that share the finest level with a binding. */
static uint32_t closest_set(struct layout_build *builder, const struct node_class *kind,
                            uint32_t binding, const struct idset *among)
{
    enum topo_level levels[NODE_CLASS_NEAR_LEVELS];
    uint32_t *ids = mem_array(kind->ngpus, sizeof(*ids)), n = 0, set = LAYOUT_NO_GPUS;
    node_class_near_levels(kind->topo, levels);
    for (uint32_t i = 0; i < NODE_CLASS_NEAR_LEVELS && !n; i++)
        for (uint32_t gpu = 0; gpu < kind->ngpus; gpu++)
            if ((!among || idset_has(among, kind->gpus[gpu].id)) &&
                rows_meet(builder, kind, binding, kind->gpus[gpu].rows[levels[i]]))
                ids[n++] = kind->gpus[gpu].id;
    if (n)
        set = layout_build_gpu_set(builder, ids, n);
    free(ids);
    return set;
}

/* By node, the GPUs among which the tasks of a run look: with -g those that they were given; else
 * what no other run was given, NULL where that is all of the node. */
static struct idset **find_shared(const struct layout_build *builder, uint32_t run)
{
    const struct layout *layout = builder->layout;
    const struct layout_request *request = builder->request;
    bool given = builder->runs[run].policy.gpus_per_task;
    struct idset **shared = mem_array(request->nnodes, sizeof(*shared));
    for (uint32_t node = 0; !given && node < request->nnodes; node++)
        if (builder->node_gpus[node] && request->nodes[node].gpus)
            shared[node] = idset_subtract(request->nodes[node].gpus, builder->node_gpus[node]);
    for (uint32_t rank = 0; given && rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        struct idset **set = &shared[task->node];
        if (builder->run_of[task->app] != run)
            continue;
        if (!*set)
            *set = idset_new();
        idset_add_set(*set, layout->gpu_sets[task->gpus]);
    }
    return shared;
}

/* What was last found for a binding, on which kind of node. */
struct known {
    uint32_t kind, set;
};

/* What is left of a whole node is the same for all tasks of one binding. */
static void share_run(struct layout_build *builder, const struct kinds *kinds, uint32_t run)
{
    struct layout *layout = builder->layout;
    struct idset **shared = find_shared(builder, run);
    struct known *known = mem_array(layout->nbindings, sizeof(*known));
    memset(known, 0xff, layout->nbindings * sizeof(*known));
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        struct layout_task *task = &layout->tasks[rank];
        struct known *at = &known[task->binding];
        uint32_t kind = kinds->of[task->node];
        if (builder->run_of[task->app] != run)
            continue;
        if (shared[task->node] || at->kind != kind)
            *at = (struct known){
                kind, closest_set(builder, &kinds->kinds[kind], task->binding, shared[task->node])};
        task->gpus = at->set;
        if (shared[task->node])
            at->kind = UINT32_MAX;
    }
    for (uint32_t node = 0; node < builder->request->nnodes; node++)
        idset_free(shared[node]);
    free(shared);
    free(known);
}

static bool run_shares(const struct placement *run)
{
    return run->policy.gpu_bind == POLICY_GPUS_CLOSEST;
}

static int share_runs(struct layout_build *builder, struct error *err)
{
    const struct layout_request *request = builder->request;
    struct node_class_gpus *nodes = mem_array(request->nnodes, sizeof(*nodes));
    struct kinds kinds;
    for (uint32_t node = 0; node < request->nnodes; node++)
        nodes[node].gpus = request->nodes[node].gpus;
    int rc = node_classes_make(&kinds, request, nodes, err);
    for (uint32_t run = 0; rc == 0 && run < builder->nruns; run++)
        if (run_shares(&builder->runs[run]))
            share_run(builder, &kinds, run);
    node_classes_free(&kinds);
    free(nodes);
    return rc;
}

int layout_build_share_gpus(struct layout_build *builder, struct error *err)
{
    const struct layout *layout = builder->layout;
    bool any = false;
    for (uint32_t run = 0; run < builder->nruns; run++)
        any = any || run_shares(&builder->runs[run]);
    if (!any)
        return 0;
    if (share_runs(builder, err) < 0)
        return -1;
    for (uint32_t rank = 0; rank < layout->ntasks; rank++)
        if (layout->tasks[rank].gpus != LAYOUT_NO_GPUS)
            claim_gpus(builder, layout->tasks[rank].node, layout->tasks[rank].gpus);
    return 0;
}
