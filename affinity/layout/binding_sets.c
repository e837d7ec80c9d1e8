#include <stdlib.h>
#include <string.h>

#include "affinity/layout/build.h"
#include "base/array.h"
#include "base/mem.h"

/* Rows of a kind as runs of rows of its topo, put behind the spans that there are. */
static uint32_t add_spans(struct layout_build *builder, const struct node_class *kind,
                          const struct rows *rows)
{
    builder->spans =
        array_reserve(builder->spans, &builder->span_capacity,
                      builder->nspans + (size_t)(rows->end - rows->first), sizeof(*builder->spans));
    struct rows *spans = builder->spans + builder->nspans;
    uint32_t n = 0;
    for (uint32_t row = rows->first; row < rows->end; row++)
        if (n && spans[n - 1].end == kind->rows[row])
            spans[n - 1].end++;
        else
            spans[n++] = (struct rows){kind->rows[row], kind->rows[row] + 1};
    builder->nspans += n;
    return n;
}

static struct layout_binding make_sets(const struct layout_build *builder,
                                       const struct binding_rows *binding)
{
    struct layout_binding sets = {idset_new(), idset_new()};
    for (uint32_t i = 0; i < binding->nspans; i++) {
        const struct rows *span = &builder->spans[binding->first_span + i];
        for (uint32_t row = span->first; row < span->end; row++) {
            idset_add(sets.cpus, binding->topo->os[row]);
            idset_add(sets.cores, topo_core(binding->topo, row));
        }
    }
    return sets;
}

static bool binding_sets_same(const void *owner, uint32_t number, const void *thing)
{
    const struct layout_build *builder = owner;
    const struct binding_rows *a = &builder->bindings[number], *b = thing;
    const struct rows *spans = builder->spans;
    return a->topo == b->topo && a->nspans == b->nspans &&
           memcmp(spans + a->first_span, spans + b->first_span, a->nspans * sizeof(*spans)) == 0;
}

static uint64_t binding_hash(const struct layout_build *builder, const struct binding_rows *binding)
{
    uint64_t hash = hash_table_hash(0, (uintptr_t)binding->topo);
    for (uint32_t i = 0; i < binding->nspans; i++) {
        const struct rows *span = &builder->spans[binding->first_span + i];
        hash = hash_table_hash(hash, span->first | (uint64_t)span->end << 32);
    }
    return hash;
}

uint32_t layout_build_bind(struct layout_build *builder, const struct node_class *kind,
                           const struct rows *spans, uint32_t nspans)
{
    struct layout *layout = builder->layout;
    struct binding_rows binding = {kind->topo, builder->nspans, 0};
    for (uint32_t i = 0; i < nspans; i++)
        binding.nspans += add_spans(builder, kind, &spans[i]);
    uint32_t number = hash_table_intern(&builder->binding_numbers, binding_hash(builder, &binding),
                                        binding_sets_same, builder, &binding);
    if (number < layout->nbindings) {
        builder->nspans = binding.first_span;
        return number;
    }
    builder->bindings = array_grow(builder->bindings, number, sizeof(*builder->bindings));
    layout->bindings = array_grow(layout->bindings, number, sizeof(*layout->bindings));
    builder->bindings[number] = binding;
    layout->bindings[layout->nbindings++] = make_sets(builder, &binding);
    return number;
}

struct rows layout_build_binding_rows(const struct layout_build *builder,
                                      const struct node_class *kind, uint32_t binding, uint32_t i)
{
    const struct rows *span = &builder->spans[builder->bindings[binding].first_span + i];
    return (struct rows){node_class_row(kind, span->first), node_class_row(kind, span->end)};
}

/* ---- what is bound together, or not at all ---- */

struct rest {
    uint32_t *unbound; /* by kind: the binding that is all of the node */
    bool *marked;      /* rows of the node at hand */
    struct rows *spans;
};

static void mark_core(const struct node_class *kind, bool *marked, uint32_t row)
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

static uint32_t marked_spans(const struct node_class *kind, const bool *marked, struct rows *spans)
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

static uint32_t bind_together(struct layout_build *builder, struct rest *rest, uint32_t node,
                              const uint32_t *ranks, uint32_t n)
{
    const struct node_class *kind = layout_build_kind(builder, node);
    memset(rest->marked, false, kind->nrows);
    for (uint32_t i = 0; i < n; i++) {
        const struct layout_task *task = &builder->layout->tasks[ranks[i]];
        if (layout_build_policy(builder, task)->bind == POLICY_BIND_TOGETHER)
            mark_core(kind, rest->marked, task->place);
    }
    uint32_t nspans = marked_spans(kind, rest->marked, rest->spans);
    return layout_build_bind(builder, kind, rest->spans, nspans);
}

static uint32_t bind_nothing(struct layout_build *builder, struct rest *rest, uint32_t node)
{
    const struct node_class *kind = layout_build_kind(builder, node);
    uint32_t *binding = &rest->unbound[builder->kinds.of[node]];
    if (*binding == NO_BINDING)
        *binding = layout_build_bind(builder, kind, &(struct rows){0, kind->nrows}, 1);
    return *binding;
}

static void bind_node(struct layout_build *builder, struct rest *rest, uint32_t node,
                      const uint32_t *ranks, uint32_t n)
{
    uint32_t together = NO_BINDING;
    for (uint32_t i = 0; i < n; i++) {
        struct layout_task *task = &builder->layout->tasks[ranks[i]];
        if (task->binding != NO_BINDING)
            continue;
        if (layout_build_policy(builder, task)->bind == POLICY_BIND_NONE) {
            task->binding = bind_nothing(builder, rest, node);
            continue;
        }
        if (together == NO_BINDING)
            together = bind_together(builder, rest, node, ranks, n);
        task->binding = together;
    }
}

/* The ranks of each node, ascending: those of node i are at ranks[at[i]] to ranks[at[i + 1]]. */
static uint32_t *binding_sets_ranks_by_node(const struct layout_build *builder, uint32_t *at)
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

static bool all_are_bound(const struct layout_build *builder)
{
    for (uint32_t i = 0; i < builder->nruns; i++)
        if (builder->runs[i].policy.bind != POLICY_BIND_OBJECTS)
            return false;
    return true;
}

void layout_build_bind_rest(struct layout_build *builder)
{
    if (all_are_bound(builder))
        return;
    uint32_t nkinds = builder->kinds.nkinds, nnodes = builder->request->nnodes;
    struct rest rest = {mem_array(nkinds, sizeof(uint32_t)), mem_array(TOPO_MAX_PUS, sizeof(bool)),
                        mem_array(TOPO_MAX_PUS, sizeof(struct rows))};
    memset(rest.unbound, 0xff, nkinds * sizeof(uint32_t));
    uint32_t *at = mem_array(nnodes + 1ul, sizeof(*at));
    uint32_t *ranks = binding_sets_ranks_by_node(builder, at);
    for (uint32_t node = 0; node < nnodes; node++)
        bind_node(builder, &rest, node, ranks + at[node], at[node + 1] - at[node]);
    free(ranks);
    free(at);
    free(rest.unbound);
    free(rest.marked);
    free(rest.spans);
}
