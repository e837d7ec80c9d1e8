/* What a layout says of the nodes that it uses: their ids, local ranks, claims, the task map. */
#include "affinity/layout/used_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/binding_sets.h"
#include "affinity/layout/build.h"
#include "affinity/layout/gpu_sets.h"
#include "affinity/layout/node_class.h"
#include "affinity/policy/policy.h"
#include "affinity/layout/shared_cores.h"
#include "base/mem.h"

/* Claims of a node are counted at the rows where they begin (+1) and end (-1). */
static void claim_rows(int32_t *edges, struct rows rows)
{
    edges[rows.first]++;
    edges[rows.end]--;
}

/* `last` is the binding that was claimed on this node before: tasks often share one. */
static void claim_task(const struct layout_build *build, const struct layout_task *task,
                       int32_t *edges, uint32_t *last)
{
    const struct policy *policy = layout_build_policy(build, task);
    const struct node_class *class = layout_build_class(build, task->node);
    if (policy->bind == POLICY_BIND_NONE) { /* one core, or the cores of one slot, at its place */
        const uint32_t *core = class->object[TOPO_CORE];
        uint32_t cores = policy->cores_per_task ? policy->cores_per_task : 1, end = task->place;
        while (end < class->nrows && core[end] - core[task->place] < cores)
            end++;
        claim_rows(edges, (struct rows){task->place, end});
        return;
    }
    if (task->binding == *last)
        return;
    *last = task->binding;
    for (uint32_t i = 0; i < binding_sets_runs(build->bindings, task->binding); i++)
        claim_rows(edges, binding_sets_rows(build->bindings, class, task->binding, i));
}

static void make_claims(struct layout_build *build, const uint32_t *id)
{
    uint32_t nnodes = build->request->nnodes;
    size_t *base = mem_array(nnodes + 1ul, sizeof(*base));
    for (uint32_t node = 0; node < nnodes; node++)
        base[node + 1] =
            base[node] +
            (build->node_tasks[node] ? layout_build_class(build, node)->nrows + 1u : 0);
    int32_t *edges = mem_array(base[nnodes], sizeof(*edges));
    uint32_t *last = mem_array(nnodes, sizeof(*last));
    memset(last, 0xff, nnodes * sizeof(*last));
    for (uint32_t rank = 0; rank < build->layout->ntasks; rank++) {
        const struct layout_task *task = &build->layout->tasks[rank];
        claim_task(build, task, edges + base[task->node], &last[task->node]);
    }
    for (uint32_t node = 0; node < nnodes; node++) {
        const struct node_class *class = layout_build_class(build, node);
        uint32_t nrows = build->node_tasks[node] ? class->nrows : 0, before = IDSET_NONE;
        int64_t depth = 0;
        for (uint32_t row = 0; row < nrows; row++) {
            depth += edges[base[node] + row];
            uint32_t core = node_class_core(class, row);
            if (depth > 0 && core != before)
                idset_add(build->layout->nodes[id[node]].claim, before = core);
        }
    }
    free(last);
    free(edges);
    free(base);
}

static void make_map(struct layout *layout)
{
    layout->map = taskmap_new();
    for (uint32_t rank = 0, end; rank < layout->ntasks; rank = end) {
        uint32_t node = layout->tasks[rank].node;
        for (end = rank + 1; end < layout->ntasks && layout->tasks[end].node == node;)
            end++;
        taskmap_append(layout->map, node, end - rank);
    }
}

/* All that the nodes have. */
static void claim_all(struct layout_build *build)
{
    for (uint32_t i = 0; i < build->layout->nnodes; i++) {
        struct layout_used_node *node = &build->layout->nodes[i];
        const struct layout_node *source = &build->request->nodes[node->source];
        idset_free(node->claim);
        idset_free(node->gpus);
        node->claim = idset_copy(source->cores);
        node->gpus = source->gpus ? idset_copy(source->gpus) : NULL;
    }
}

void used_nodes_finish(struct layout_build *build)
{
    struct layout *layout = build->layout;
    /* Ids are dense, in the order of the request. */
    uint32_t nnodes = build->request->nnodes, *id = mem_array(nnodes, sizeof(*id));
    layout->nodes = mem_array(nnodes, sizeof(*layout->nodes));
    for (uint32_t node = 0; node < nnodes; node++) {
        if (!build->node_tasks[node])
            continue;
        id[node] = layout->nnodes;
        layout->nodes[layout->nnodes++] = (struct layout_used_node){
            node, build->node_tasks[node], idset_new(), gpu_sets_take_claim(build->gpu_sets, node)};
    }
    if (build->request->claim_all)
        claim_all(build);
    else
        make_claims(build, id);
    /* From here on tasks have their nodes and places as layout.h has them. */
    uint32_t *local = mem_array(layout->nnodes, sizeof(*local));
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        struct layout_task *task = &layout->tasks[rank];
        task->place = layout_build_class(build, task->node)->rows[task->place];
        task->node = id[task->node];
        task->local_rank = local[task->node]++;
    }
    make_map(layout);
    binding_sets_take(build->bindings, layout);
    gpu_sets_take(build->gpu_sets, layout);
    shared_cores_find(build);
    free(local);
    free(id);
}
