#include "affinity/layout/binding_sets.h"

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
