/*
 * Nodes on which more tasks share cores than there are. By default a core takes one task; --per and
 * --mppr put other limits in the place of that.
 */
#include "affinity/layout/shared_cores.h"

#include <stdlib.h>

#include "affinity/layout/build.h"
#include "affinity/layout/placement.h"
#include "base/mem.h"

/* No limit is one of cores, and --oversubscribe does not say that cores are meant to be shared. */
static bool may_crowd(const struct policy *policy)
{
    for (uint32_t i = 0; i < policy->nlimits; i++)
        if (policy->limits[i].level == TOPO_CORE || policy->limits[i].level == TOPO_HWTHREAD)
            return false;
    return !policy->oversubscribe;
}

/* The most tasks to a core of one binding. count[], by binding, is all zero before and after. */
static uint32_t most_on_core(const struct layout_build *build, const uint32_t *ranks, uint32_t n,
                             uint32_t *count)
{
    const struct layout *layout = build->layout;
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct layout_task *task = &layout->tasks[ranks[i]];
        count[task->binding] += may_crowd(layout_build_policy(build, task));
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t binding = layout->tasks[ranks[i]].binding;
        if (!count[binding])
            continue;
        uint32_t ncores = (uint32_t)idset_count(layout->bindings[binding].cores);
        uint32_t each = (count[binding] + ncores - 1) / ncores;
        most = each > most ? each : most;
        count[binding] = 0;
    }
    return most;
}

void shared_cores_find(const struct layout_build *build)
{
    struct layout *layout = build->layout;
    bool any = false;
    for (uint32_t placement = 0; placement < build->placements->count; placement++)
        any = any || may_crowd(&build->placements->list[placement].policy);
    if (!any)
        return;
    uint32_t *at = mem_array(layout->nnodes + 1ul, sizeof(*at));
    /* Ranks node by node: node i has those from at[i] to at[i + 1]. */
    uint32_t *ranks = mem_array(layout->ntasks, sizeof(*ranks));
    for (uint32_t node = 0; node < layout->nnodes; node++)
        at[node + 1] = at[node] + layout->nodes[node].ntasks;
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        ranks[at[task->node] + task->local_rank] = rank;
    }
    uint32_t *count = mem_array(layout->nbindings, sizeof(*count));
    for (uint32_t node = 0; node < layout->nnodes; node++) {
        uint32_t each = most_on_core(build, ranks + at[node], layout->nodes[node].ntasks, count);
        layout->crowd.nnodes += each > 1;
        if (each > 1 && each > layout->crowd.each) {
            layout->crowd.each = each;
            layout->crowd.node = node;
        }
    }
    free(count);
    free(ranks);
    free(at);
}
