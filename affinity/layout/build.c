/* What the steps of layout_make() ask about tasks that were placed before. */
#include "affinity/layout/build.h"

#include "affinity/layout/binding_sets.h"
#include "affinity/layout/node_class.h"
#include "affinity/layout/placement.h"
#include "base/mem.h"

const struct node_class *layout_build_class(const struct layout_build *build, uint32_t node)
{
    return &build->classes->classes[build->classes->of[node]];
}

const struct policy *layout_build_policy(const struct layout_build *build,
                                         const struct layout_task *task)
{
    return &build->placements->list[build->placements->of_part[task->app]].policy;
}

bool layout_build_occupied(const struct layout_build *build, const struct layout_task *task,
                           uint32_t i, struct rows *rows)
{
    bool narrow = policy_is_narrow(layout_build_policy(build, task));
    if (i >= (narrow ? binding_sets_runs(build->bindings, task->binding) : 1))
        return false;
    *rows = narrow ? binding_sets_rows(build->bindings, layout_build_class(build, task->node),
                                       task->binding, i)
                   : (struct rows){task->place, task->place + 1};
    return true;
}

struct layout_task *layout_build_add_tasks(struct layout_build *build,
                                           const struct placement *placement)
{
    struct layout *layout = build->layout;
    uint32_t first = layout->ntasks;
    layout->tasks =
        mem_resize(layout->tasks, (size_t)first + placement->ntasks, sizeof(*layout->tasks));
    for (uint32_t i = 0; i < placement->nparts; i++) {
        uint32_t part = placement->first_part + i;
        uint32_t n = placement->fill ? placement->ntasks : build->placements->part_tasks[part];
        for (uint32_t end = layout->ntasks + n; layout->ntasks < end; layout->ntasks++)
            layout->tasks[layout->ntasks] =
                (struct layout_task){.app = part, .gpus = LAYOUT_NO_GPUS};
    }
    return &layout->tasks[first];
}
