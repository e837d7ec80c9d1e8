#include "affinity/layout/node_claims.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/binding_sets.h"
#include "affinity/layout/build.h"
#include "affinity/layout/shared_cores.h"
#include "base/mem.h"

/* Ids of used nodes are dense, in the order of the request. */
static uint32_t *node_claims_number_nodes(struct layout_build *builder)
{
    struct layout *layout = builder->layout;
    uint32_t *id = mem_array(builder->request->nnodes, sizeof(*id));
    layout->nodes = mem_array(builder->request->nnodes, sizeof(*layout->nodes));
    for (uint32_t node = 0; node < builder->request->nnodes; node++) {
        if (!builder->node_tasks[node])
            continue;
        id[node] = layout->nnodes;
        layout->nodes[layout->nnodes++] = (struct layout_used_node){
            node, builder->node_tasks[node], idset_new(), builder->node_gpus[node]};
        builder->node_gpus[node] = NULL;
    }
    return id;
}

/* Claims of a node are counted at the rows where they begin (+1) and end (-1). */
static void claim_rows(int32_t *edges, struct rows rows)
{
    edges[rows.first]++;
    edges[rows.end]--;
}

/* An unbound task claims one core, or the cores of one slot, at its place. */
static struct rows unbound_claim(const struct node_class *kind, uint32_t place, uint32_t cores)
{
    const uint32_t *core = kind->object[TOPO_CORE];
    uint32_t end = place;
    while (end < kind->nrows && core[end] - core[place] < (cores ? cores : 1))
        end++;
    return (struct rows){place, end};
}

/* `last` is the binding that was claimed on this node before: tasks often share one. */
static void claim_task(const struct layout_build *builder, const struct layout_task *task,
                       int32_t *edges, uint32_t *last)
{
    const struct policy *policy = layout_build_policy(builder, task);
    const struct node_class *kind = layout_build_kind(builder, task->node);
    if (policy->bind == POLICY_BIND_NONE) {
        claim_rows(edges, unbound_claim(kind, task->place, policy->cores_per_task));
        return;
    }
    if (task->binding == *last)
        return;
    *last = task->binding;
    for (uint32_t i = 0; i < builder->bindings[task->binding].nspans; i++)
        claim_rows(edges, layout_build_binding_rows(builder, kind, task->binding, i));
}

static void add_claim(struct idset *claim, const struct node_class *kind, const int32_t *edges)
{
    int64_t depth = 0;
    uint32_t last = IDSET_NONE;
    for (uint32_t row = 0; row < kind->nrows; row++) {
        depth += edges[row];
        uint32_t core = node_class_core(kind, row);
        if (depth > 0 && core != last)
            idset_add(claim, last = core);
    }
}

static void make_claims(struct layout_build *builder, const uint32_t *id)
{
    uint32_t nnodes = builder->request->nnodes;
    size_t *base = mem_array(nnodes + 1ul, sizeof(*base));
    for (uint32_t node = 0; node < nnodes; node++)
        base[node + 1] =
            base[node] +
            (builder->node_tasks[node] ? layout_build_kind(builder, node)->nrows + 1u : 0);
    int32_t *edges = mem_array(base[nnodes], sizeof(*edges));
    uint32_t *last = mem_array(nnodes, sizeof(*last));
    memset(last, 0xff, nnodes * sizeof(*last));
    for (uint32_t rank = 0; rank < builder->layout->ntasks; rank++) {
        const struct layout_task *task = &builder->layout->tasks[rank];
        claim_task(builder, task, edges + base[task->node], &last[task->node]);
    }
    for (uint32_t node = 0; node < nnodes; node++)
        if (builder->node_tasks[node])
            add_claim(builder->layout->nodes[id[node]].claim, layout_build_kind(builder, node),
                      edges + base[node]);
    free(last);
    free(edges);
    free(base);
}

static void finish_tasks(struct layout_build *builder, const uint32_t *id)
{
    struct layout *layout = builder->layout;
    uint32_t *local = mem_array(layout->nnodes, sizeof(*local));
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        struct layout_task *task = &layout->tasks[rank];
        task->place = layout_build_kind(builder, task->node)->rows[task->place];
        task->node = id[task->node];
        task->local_rank = local[task->node]++;
    }
    free(local);
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
static void claim_all(struct layout_build *builder)
{
    for (uint32_t i = 0; i < builder->layout->nnodes; i++) {
        struct layout_used_node *node = &builder->layout->nodes[i];
        const struct layout_node *source = &builder->request->nodes[node->source];
        idset_free(node->claim);
        idset_free(node->gpus);
        node->claim = idset_copy(source->cores);
        node->gpus = source->gpus ? idset_copy(source->gpus) : NULL;
    }
}

void layout_build_finish(struct layout_build *builder)
{
    uint32_t *id = node_claims_number_nodes(builder);
    if (builder->request->claim_all)
        claim_all(builder);
    else
        make_claims(builder, id);
    finish_tasks(builder, id);
    make_map(builder->layout);
    layout_build_find_crowd(builder);
    free(id);
}
