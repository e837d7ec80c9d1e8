/* --gpu-bind closest: of the GPUs that a task may have, those that share the finest level with its binding. */
#include "affinity/layout/gpu_closest.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/binding_sets.h"
#include "affinity/layout/gpu_locality.h"
#include "affinity/layout/gpu_sets.h"
#include "affinity/layout/node_class.h"
#include "affinity/layout/placement.h"
#include "base/mem.h"

static bool rows_meet(const struct layout_build *build, const struct node_class *class,
                      uint32_t binding, struct rows rows)
{
    for (uint32_t i = 0; i < binding_sets_runs(build->bindings, binding); i++) {
        struct rows span = binding_sets_rows(build->bindings, class, binding, i);
        if (span.first < rows.end && rows.first < span.end)
            return true;
    }
    return false;
}

/* Of these GPUs (NULL: all of the node) those that share the finest level with a binding. */
static uint32_t closest_set(struct layout_build *build, const struct node_class *class,
                            uint32_t binding, const struct idset *among)
{
    enum topo_level levels[NODE_CLASS_NEAR_LEVELS];
    uint32_t *ids = mem_array(class->ngpus, sizeof(*ids)), n = 0, set = LAYOUT_NO_GPUS;
    node_class_near_levels(class->topo, levels);
    for (uint32_t i = 0; i < NODE_CLASS_NEAR_LEVELS && !n; i++)
        for (uint32_t gpu = 0; gpu < class->ngpus; gpu++)
            if ((!among || idset_has(among, class->gpus[gpu].id)) &&
                rows_meet(build, class, binding, class->gpus[gpu].rows[levels[i]]))
                ids[n++] = class->gpus[gpu].id;
    if (n)
        set = gpu_sets_add_ids(build->gpu_sets, ids, n);
    free(ids);
    return set;
}

static bool is_of(const struct layout_build *build, const struct layout_task *task,
                  const struct placement *placement)
{
    return build->placements->of_part[task->app] == placement->number;
}

/* By node, the GPUs among which the tasks of a placement look: with -g those that they were given; else
 * what no other placement was given, NULL where that is all of the node. */
static struct idset **find_shared(const struct layout_build *build,
                                  const struct placement *placement)
{
    const struct layout *layout = build->layout;
    const struct layout_request *request = build->request;
    bool given = placement->policy.gpus_per_task;
    struct idset **shared = mem_array(request->nnodes, sizeof(*shared));
    for (uint32_t node = 0; !given && node < request->nnodes; node++) {
        const struct idset *claimed = gpu_sets_claimed(build->gpu_sets, node);
        if (claimed && request->nodes[node].gpus)
            shared[node] = idset_subtract(request->nodes[node].gpus, claimed);
    }
    for (uint32_t rank = 0; given && rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        struct idset **set = &shared[task->node];
        if (!is_of(build, task, placement))
            continue;
        if (!*set)
            *set = idset_new();
        idset_add_set(*set, gpu_sets_get(build->gpu_sets, task->gpus));
    }
    return shared;
}

/* What was last found for a binding, on which class of nodes. */
struct known {
    uint32_t class, set;
};

/* What is left of a whole node is the same for all tasks of one binding. */
static void share_placement(struct layout_build *build, const struct node_classes *classes,
                            const struct placement *placement)
{
    struct layout *layout = build->layout;
    struct idset **shared = find_shared(build, placement);
    uint32_t nbindings = binding_sets_count(build->bindings);
    struct known *known = mem_array(nbindings, sizeof(*known));
    memset(known, 0xff, nbindings * sizeof(*known));
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        struct layout_task *task = &layout->tasks[rank];
        const struct idset *among = shared[task->node];
        struct known *at = &known[task->binding];
        uint32_t class = classes->of[task->node];
        if (!is_of(build, task, placement))
            continue;
        if (among || at->class != class)
            *at = (struct known){
                class, closest_set(build, &classes->classes[class], task->binding, among)};
        task->gpus = at->set;
        if (among)
            at->class = UINT32_MAX;
    }
    for (uint32_t node = 0; node < build->request->nnodes; node++)
        idset_free(shared[node]);
    free(shared);
    free(known);
}

int gpu_closest_share(struct layout_build *build, struct error *err)
{
    const struct layout_request *request = build->request;
    const struct placements *placements = build->placements;
    bool any = false;
    for (uint32_t i = 0; i < placements->count; i++)
        any = any || placements->list[i].policy.gpu_bind == POLICY_GPUS_CLOSEST;
    if (!any)
        return 0;
    /* Classes of nodes as they were given, whatever tasks have of them. */
    struct node_class_gpus *nodes = mem_array(request->nnodes, sizeof(*nodes));
    struct node_classes classes;
    for (uint32_t node = 0; node < request->nnodes; node++)
        nodes[node].gpus = request->nodes[node].gpus;
    int rc = node_classes_make(&classes, request, nodes, err);
    for (uint32_t i = 0; rc == 0 && i < placements->count; i++)
        if (placements->list[i].policy.gpu_bind == POLICY_GPUS_CLOSEST)
            share_placement(build, &classes, &placements->list[i]);
    node_classes_free(&classes);
    free(nodes);
    for (uint32_t rank = 0; rc == 0 && rank < build->layout->ntasks; rank++) {
        const struct layout_task *task = &build->layout->tasks[rank];
        if (task->gpus != LAYOUT_NO_GPUS)
            gpu_sets_claim(build->gpu_sets, task->node, task->gpus);
    }
    return rc;
}
