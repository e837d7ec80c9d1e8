#include <stdlib.h>
#include <string.h>

#include "affinity/layout/builder.h"
#include "base/mem.h"

static void make_room(struct builder *builder, uint32_t nspans)
{
    struct layout *layout = builder->layout;
    if (layout->nbindings == builder->binding_room) {
        uint32_t room = builder->binding_room = builder->binding_room * 2 + 16;
        layout->bindings = mem_resize(layout->bindings, room, sizeof(*layout->bindings));
        builder->bindings = mem_resize(builder->bindings, room, sizeof(*builder->bindings));
    }
    if (builder->span_room - builder->nspans < nspans) {
        builder->span_room = builder->span_room * 2 + nspans + 16;
        builder->spans = mem_resize(builder->spans, builder->span_room, sizeof(*builder->spans));
    }
}

uint32_t builder_bind(struct builder *builder, const struct kind *kind, const struct rows *spans,
                      uint32_t nspans)
{
    struct layout *layout = builder->layout;
    make_room(builder, nspans);
    struct layout_binding binding = {idset_new(), idset_new()};
    for (uint32_t i = 0; i < nspans; i++)
        for (uint32_t row = spans[i].first; row < spans[i].end; row++) {
            idset_add(binding.cpus, kind->topo->os[kind->rows[row]]);
            idset_add(binding.cores, kind_core(kind, row));
        }
    builder->bindings[layout->nbindings] = (struct binding_rows){builder->nspans, nspans};
    memcpy(builder->spans + builder->nspans, spans, nspans * sizeof(*spans));
    builder->nspans += nspans;
    layout->bindings[layout->nbindings] = binding;
    return layout->nbindings++;
}

/* ---- what is bound together, or not at all ---- */

struct rest {
    uint32_t *unbound;  /* by kind: the binding that is all of the node */
    uint32_t *together; /* by kind: the last one of tasks bound together; nodes often agree */
    bool *marked;       /* rows of the node at hand */
    struct rows *spans;
};

static void mark_core(const struct kind *kind, bool *marked, uint32_t row)
{
    const uint32_t *core = kind->object[TOPO_CORE];
    uint32_t first = row, end = row + 1;
    if (marked[row])
        return;
    while (first > 0 && core[first - 1] == core[row])
        first--;
    while (end < kind->nrows && core[end] == core[row])
        end++;
    memset(marked + first, true, end - first);
}

static uint32_t marked_spans(const struct kind *kind, const bool *marked, struct rows *spans)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < kind->nrows; row++) {
        if (!marked[row])
            continue;
        if (row && marked[row - 1])
            spans[n - 1].end++;
        else
            spans[n++] = (struct rows){row, row + 1};
    }
    return n;
}

static bool same_rows(const struct builder *builder, uint32_t binding, const struct rows *spans,
                      uint32_t nspans)
{
    if (binding == NO_BINDING || builder->bindings[binding].nspans != nspans)
        return false;
    const struct rows *other = builder->spans + builder->bindings[binding].first_span;
    return memcmp(other, spans, nspans * sizeof(*spans)) == 0;
}

static uint32_t bind_together(struct builder *builder, struct rest *rest, uint32_t node,
                              const uint32_t *ranks, uint32_t n)
{
    const struct kind *kind = builder_kind(builder, node);
    uint32_t *last = &rest->together[builder->kinds.of[node]];
    memset(rest->marked, false, kind->nrows);
    for (uint32_t i = 0; i < n; i++) {
        const struct layout_task *task = &builder->layout->tasks[ranks[i]];
        if (builder_policy(builder, task)->bind == POLICY_BIND_TOGETHER)
            mark_core(kind, rest->marked, task->place);
    }
    uint32_t nspans = marked_spans(kind, rest->marked, rest->spans);
    if (!same_rows(builder, *last, rest->spans, nspans))
        *last = builder_bind(builder, kind, rest->spans, nspans);
    return *last;
}

static uint32_t bind_nothing(struct builder *builder, struct rest *rest, uint32_t node)
{
    const struct kind *kind = builder_kind(builder, node);
    uint32_t *binding = &rest->unbound[builder->kinds.of[node]];
    if (*binding == NO_BINDING)
        *binding = builder_bind(builder, kind, &(struct rows){0, kind->nrows}, 1);
    return *binding;
}

static void bind_node(struct builder *builder, struct rest *rest, uint32_t node,
                      const uint32_t *ranks, uint32_t n)
{
    uint32_t together = NO_BINDING;
    for (uint32_t i = 0; i < n; i++) {
        struct layout_task *task = &builder->layout->tasks[ranks[i]];
        if (task->binding != NO_BINDING)
            continue;
        if (builder_policy(builder, task)->bind == POLICY_BIND_NONE) {
            task->binding = bind_nothing(builder, rest, node);
            continue;
        }
        if (together == NO_BINDING)
            together = bind_together(builder, rest, node, ranks, n);
        task->binding = together;
    }
}

/* The ranks of each node, ascending: those of node i are at ranks[at[i]] to ranks[at[i + 1]]. */
static uint32_t *ranks_by_node(const struct builder *builder, uint32_t *at)
{
    const struct layout *layout = builder->layout;
    uint32_t *ranks = mem_array(layout->ntasks, sizeof(*ranks));
    for (uint32_t node = 0; node < builder->request->nnodes; node++)
        at[node + 1] = at[node] + builder->node_tasks[node];
    for (uint32_t rank = 0; rank < layout->ntasks; rank++)
        ranks[at[layout->tasks[rank].node]++] = rank;
    for (uint32_t node = builder->request->nnodes; node > 0; node--)
        at[node] = at[node - 1];
    at[0] = 0;
    return ranks;
}

static bool all_are_bound(const struct builder *builder)
{
    for (uint32_t i = 0; i < builder->nruns; i++)
        if (builder->runs[i].policy.bind != POLICY_BIND_OBJECTS)
            return false;
    return true;
}

void builder_bind_rest(struct builder *builder)
{
    if (all_are_bound(builder))
        return;
    uint32_t nkinds = builder->kinds.nkinds, nnodes = builder->request->nnodes;
    struct rest rest = {mem_array(nkinds, sizeof(uint32_t)), mem_array(nkinds, sizeof(uint32_t)),
                        mem_array(TOPO_MAX_PUS, sizeof(bool)),
                        mem_array(TOPO_MAX_PUS, sizeof(struct rows))};
    memset(rest.unbound, 0xff, nkinds * sizeof(uint32_t));
    memset(rest.together, 0xff, nkinds * sizeof(uint32_t));
    uint32_t *at = mem_array(nnodes + 1ul, sizeof(*at));
    uint32_t *ranks = ranks_by_node(builder, at);
    for (uint32_t node = 0; node < nnodes; node++)
        bind_node(builder, &rest, node, ranks + at[node], at[node + 1] - at[node]);
    free(ranks);
    free(at);
    free(rest.unbound);
    free(rest.together);
    free(rest.marked);
    free(rest.spans);
}
