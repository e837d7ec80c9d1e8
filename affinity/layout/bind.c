/* --bind-to: to which hardware tasks are bound, once it is known where they are placed. */
#include "affinity/layout/bind.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/binding_sets.h"
#include "affinity/layout/build.h"
#include "affinity/layout/placement.h"
#include "affinity/layout/positions.h"
#include "base/mem.h"

/* ---- upward ---- */

bool bind_upward(const struct positions *plan, const struct policy *policy, uint32_t unit,
                 struct position *position)
{
    struct position p = {unit, unit, unit + 1};
    if (policy->bind == POLICY_BIND_OBJECTS) {
        const uint32_t *start = plan->start[policy->bind_level];
        uint32_t object = plan->object[policy->bind_level][unit];
        if (policy->bind_count > plan->count[policy->bind_level] - object)
            return false;
        p.bind_first = start[object];
        p.bind_end = start[object + policy->bind_count];
    }
    *position = p;
    return true;
}

/* ---- what is bound together, or not at all ---- */

struct rest {
    uint32_t *unbound; /* by class: the binding that is all of the node */
    bool *marked;      /* rows of the node at hand */
    struct rows *spans;
};

/* The rows of the core that a row is of. */
static void mark_core(const struct node_class *class, bool *marked, uint32_t row)
{
    const uint32_t *core = class->object[TOPO_CORE];
    uint32_t first = row, end = row + 1;
    if (marked[row])
        return;
    while (first > 0 && core[first - 1] == core[row])
        first--;
    while (end < class->nrows && core[end] == core[row])
        end++;
    memset(marked + first, true, end - first);
}

/* One binding for those of these ranks that are bound together: the whole cores of their places. */
static uint32_t bind_together(struct layout_build *build, struct rest *rest, uint32_t node,
                              const uint32_t *ranks, uint32_t n)
{
    const struct node_class *class = layout_build_class(build, node);
    bool *marked = rest->marked;
    memset(marked, false, class->nrows);
    for (uint32_t i = 0; i < n; i++) {
        const struct layout_task *task = &build->layout->tasks[ranks[i]];
        if (layout_build_policy(build, task)->bind == POLICY_BIND_TOGETHER)
            mark_core(class, marked, task->place);
    }
    /* Marked rows to spans. */
    uint32_t nspans = 0;
    for (uint32_t row = 0; row < class->nrows; row++) {
        if (!marked[row])
            continue;
        if (row && marked[row - 1])
            rest->spans[nspans - 1].end++;
        else
            rest->spans[nspans++] = (struct rows){row, row + 1};
    }
    return binding_sets_add(build->bindings, class, rest->spans, nspans);
}

/* `ranks` are those of the node. */
static void bind_node(struct layout_build *build, struct rest *rest, uint32_t node,
                      const uint32_t *ranks, uint32_t n)
{
    const struct node_class *class = layout_build_class(build, node);
    uint32_t *unbound = &rest->unbound[build->classes->of[node]], together = NO_BINDING;
    for (uint32_t i = 0; i < n; i++) {
        struct layout_task *task = &build->layout->tasks[ranks[i]];
        if (task->binding != NO_BINDING)
            continue;
        if (layout_build_policy(build, task)->bind == POLICY_BIND_NONE) {
            if (*unbound == NO_BINDING)
                *unbound =
                    binding_sets_add(build->bindings, class, &(struct rows){0, class->nrows}, 1);
            task->binding = *unbound;
        } else {
            if (together == NO_BINDING)
                together = bind_together(build, rest, node, ranks, n);
            task->binding = together;
        }
    }
}

void bind_rest(struct layout_build *build)
{
    bool any = false;
    for (uint32_t i = 0; i < build->placements->count; i++)
        any = any || build->placements->list[i].policy.bind != POLICY_BIND_OBJECTS;
    if (!any)
        return;
    uint32_t nclasses = build->classes->nclasses, nnodes = build->request->nnodes;
    uint32_t nrows = 1; /* of the largest node */
    for (uint32_t i = 0; i < nclasses; i++)
        nrows = build->classes->classes[i].nrows > nrows ? build->classes->classes[i].nrows : nrows;
    struct rest rest = {mem_array(nclasses, sizeof(uint32_t)), mem_array(nrows, sizeof(bool)),
                        mem_array(nrows, sizeof(struct rows))};
    memset(rest.unbound, 0xff, nclasses * sizeof(uint32_t));
    uint32_t *at = mem_array(nnodes + 1ul, sizeof(*at));
    /* The ranks of each node, ascending: those of node i are at ranks[at[i]] to ranks[at[i + 1]]. */
    const struct layout *layout = build->layout;
    uint32_t *ranks = mem_array(layout->ntasks, sizeof(*ranks));
    for (uint32_t node = 0; node < nnodes; node++)
        at[node + 1] = at[node] + build->node_tasks[node];
    for (uint32_t rank = 0; rank < layout->ntasks; rank++)
        ranks[at[layout->tasks[rank].node]++] = rank;
    memmove(at + 1, at, nnodes * sizeof(*at));
    at[0] = 0;
    for (uint32_t node = 0; node < nnodes; node++)
        bind_node(build, &rest, node, ranks + at[node], at[node + 1] - at[node]);
    free(ranks);
    free(at);
    free(rest.unbound);
    free(rest.marked);
    free(rest.spans);
}
