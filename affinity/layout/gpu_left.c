/* Nodes in classes by the GPUs that no task has been given, and by the cores that tasks occupy. */
#include "affinity/layout/gpu_left.h"

#include <stdlib.h>

#include "affinity/layout/gpu_sets.h"
#include "base/mem.h"

/* As a limit of one a core counts it. */
static void add_busy_cores(const struct layout_build *build, const struct layout_task *task,
                           struct idset *busy)
{
    const struct node_class *class = layout_build_class(build, task->node);
    struct rows rows;
    for (uint32_t i = 0; layout_build_occupied(build, task, i, &rows); i++)
        for (uint32_t row = rows.first; row < rows.end; row++)
            idset_add(busy, node_class_core(class, row));
}

int gpu_left_classes(const struct layout_build *build, struct node_classes *classes,
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
    for (uint32_t rank = 0; rank < build->layout->ntasks; rank++)
        add_busy_cores(build, &build->layout->tasks[rank], busy[build->layout->tasks[rank].node]);
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
