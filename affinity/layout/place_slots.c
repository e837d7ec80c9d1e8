/*
 * Placing a placement by slots: each task in its own, bound to it.
 */
#include "affinity/layout/place_slots.h"

#include <stdlib.h>

#include "affinity/layout/allocated_hosts.h"
#include "affinity/layout/binding_sets.h"
#include "affinity/layout/build.h"
#include "affinity/layout/gpu_sets.h"
#include "affinity/layout/infeasible.h"
#include "affinity/layout/node_class.h"
#include "affinity/layout/placement.h"
#include "base/mem.h"
#include "base/search.h"

/* ---- one task ---- */

struct core_search {
    const struct node_class *class;
    uint64_t core;
};

static bool row_before_core(const void *arg, size_t row)
{
    const struct core_search *search = arg;
    return node_class_core(search->class, (uint32_t)row) < search->core;
}

/* The first row whose core is not before this one: cores ascend along the rows. */
static uint32_t row_of_core(const struct node_class *class, uint64_t core)
{
    return (uint32_t)search_first(class->nrows, row_before_core,
                                  &(struct core_search){class, core});
}

static int refuse_cores(const struct layout_build *build, const struct layout_slot *slot,
                        struct error *err)
{
    const struct layout_node *node = &build->request->nodes[slot->node];
    char *cores = idset_encode(slot->cores), *have = idset_encode(node->cores);
    if (*cores)
        error_set(err, "its cores %s are not all among those of %s that were allocated (%s)", cores,
                  node->host, have);
    else
        error_set(err, "it has no core to run a task on: ask for one as well, as in slot/core or "
                       "slot/[core=1;gpu=1]");
    free(cores);
    free(have);
    return -1;
}

static int bind_slot(struct layout_build *build, const struct layout_slot *slot,
                     struct layout_task *task, struct error *err)
{
    const struct node_class *class = layout_build_class(build, slot->node);
    struct rows *spans = mem_array(idset_count(slot->cores), sizeof(*spans));
    uint32_t first, last, n = 0;
    size_t found = 0;
    for (size_t at = 0; idset_range(slot->cores, &at, &first, &last); n++) {
        spans[n] = (struct rows){row_of_core(class, first), row_of_core(class, last + 1ull)};
        /* A core has a row for each of its threads that the node allows: count it once. */
        for (uint32_t row = spans[n].first; row < spans[n].end; row++)
            found += row == spans[n].first ||
                     node_class_core(class, row) != node_class_core(class, row - 1);
    }
    int rc = 0;
    if (!n || found < idset_count(slot->cores)) {
        rc = refuse_cores(build, slot, err);
    } else {
        task->binding = binding_sets_add(build->bindings, class, spans, n);
        task->place = spans[0].first;
    }
    free(spans);
    return rc;
}

static int place_task(struct layout_build *build, const struct placement *placement,
                      const struct layout_slot *slot, struct layout_task *task, struct error *err)
{
    const struct layout_node *node = &build->request->nodes[slot->node];
    /* A hostfile's limit holds for slots, too. */
    if (node->limit && build->node_tasks[slot->node] >= node->limit) {
        if (!placement->policy.oversubscribe)
            return error_set(err,
                             "%s has %u slot%s %s, and no more tasks may run there; "
                             "--oversubscribe permits more",
                             node->host, node->limit, node->limit == 1 ? "" : "s",
                             infeasible_where(build->request));
        build->layout->oversubscribed = true;
    }
    task->node = slot->node;
    if (bind_slot(build, slot, task, err) < 0)
        return -1;
    if (!idset_empty(slot->gpus)) {
        task->gpus = gpu_sets_add(build->gpu_sets, slot->gpus);
        gpu_sets_claim(build->gpu_sets, slot->node, task->gpus);
        build->layout->gpus_assigned = true;
    }
    build->node_tasks[slot->node]++;
    return 0;
}

int place_slots(struct layout_build *build, const struct placement *placement, struct error *err)
{
    struct layout_task *tasks = layout_build_add_tasks(build, placement);
    for (uint32_t slot = 0; slot < placement->ntasks; slot++)
        if (place_task(build, placement, &placement->slots[slot], &tasks[slot], err) < 0)
            return error_prefix(err, "slot %u", slot);
    return 0;
}
