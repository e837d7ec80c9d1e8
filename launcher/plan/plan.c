/* The plan of a task group as a value, for those who make it, show it and launch it. */
#include "launcher/plan/plan.h"

#include <stdlib.h>

#include "base/mem.h"

struct plan {
    struct candidates candidates;
    struct layout_request request; /* its nodes and parts are the plan's */
    struct layout *layout;
    struct rset *claim;
};

struct plan *plan_make(struct candidates *candidates, const struct layout_request *request,
                       struct error *err)
{
    struct plan *plan = mem_alloc(sizeof(*plan));
    plan->candidates = *candidates;
    *candidates = (struct candidates){0};
    plan->request = *request;
    plan->request.nodes = plan->candidates.nodes;
    plan->request.nnodes = plan->candidates.count;
    plan->layout = layout_make(&plan->request, err);
    if (!plan->layout) {
        plan_free(plan);
        return NULL;
    }
    return plan;
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    layout_free(plan->layout);
    candidates_clear(&plan->candidates);
    free((struct layout_part *)(uintptr_t)plan->request.parts);
    rset_free(plan->claim);
    free(plan);
}

const struct layout *plan_layout(const struct plan *plan)
{
    return plan ? plan->layout : NULL;
}

const struct layout_request *plan_request(const struct plan *plan)
{
    return plan ? &plan->request : NULL;
}

const struct candidates *plan_candidates(const struct plan *plan)
{
    return plan ? &plan->candidates : NULL;
}

/* Cores of a node that its tasks are bound to. */
static struct idset **bound_cores(const struct layout *layout)
{
    struct idset **cores = mem_array(layout->nnodes, sizeof(*cores));
    for (uint32_t i = 0; i < layout->nnodes; i++)
        cores[i] = idset_new();
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        IDSET_FOREACH(core, layout->bindings[task->binding].cores)
        {
            idset_add(cores[task->node], core);
        }
    }
    return cores;
}

struct idset *plan_tree_nodes(const struct plan *plan)
{
    const struct layout *layout = plan_layout(plan);
    struct idset *nodes = idset_new();
    for (uint32_t i = 0; i < layout->nnodes; i++)
        idset_add(nodes, plan_candidates(plan)->hosts[layout->nodes[i].source]);
    return nodes;
}

struct rset *plan_used(const struct plan *plan)
{
    const struct layout *layout = plan->layout;
    struct idset **bound = plan->request.claim_all && layout->bound ? bound_cores(layout) : NULL;
    struct rset *used = rset_new();
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        const struct layout_node *node = &plan->candidates.nodes[layout->nodes[i].source];
        rset_append(used, node->target, node->host, bound ? bound[i] : layout->nodes[i].claim,
                    layout->nodes[i].gpus);
        if (bound)
            idset_free(bound[i]);
    }
    free(bound);
    return used;
}

void plan_widen(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->layout->nnodes; i++) {
        struct layout_used_node *node = &plan->layout->nodes[i];
        idset_free(node->claim);
        node->claim = idset_copy(plan->candidates.nodes[node->source].cores);
    }
}

void plan_set_claim(struct plan *plan, struct rset *claim)
{
    rset_free(plan->claim);
    plan->claim = claim;
}

const struct rset *plan_claim(const struct plan *plan)
{
    return plan ? plan->claim : NULL;
}
