/* The distinct processor sets of a layout: equal rows of one topology get one number. */
#include "affinity/layout/binding_sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"

struct binding_set {
    const struct topo *topo;
    uint32_t first_span, nspans;
};

struct binding_sets {
    struct hash_table numbers;
    struct binding_set *sets;
    struct layout_binding *cpus_and_cores; /* beside sets */
    struct rows *spans;                    /* of the topo, set after set */
    uint32_t nspans;
    size_t span_capacity;
};

struct binding_sets *binding_sets_new(void)
{
    return mem_alloc(sizeof(struct binding_sets));
}

void binding_sets_free(struct binding_sets *sets)
{
    if (!sets)
        return;
    for (uint32_t i = 0; sets->cpus_and_cores && i < sets->numbers.count; i++) {
        idset_free(sets->cpus_and_cores[i].cpus);
        idset_free(sets->cpus_and_cores[i].cores);
    }
    free(sets->cpus_and_cores);
    free(sets->sets);
    free(sets->spans);
    hash_table_free(&sets->numbers);
    free(sets);
}

/* Adds a span for each run of neighbouring rows. The rows are numbers in the topology of the class. */
static uint32_t add_spans(struct binding_sets *sets, const struct node_class *class,
                          const struct rows *rows)
{
    sets->spans =
        array_reserve(sets->spans, &sets->span_capacity,
                      sets->nspans + (size_t)(rows->end - rows->first), sizeof(*sets->spans));
    struct rows *spans = sets->spans + sets->nspans;
    uint32_t n = 0;
    for (uint32_t row = rows->first; row < rows->end; row++)
        if (n && spans[n - 1].end == class->rows[row])
            spans[n - 1].end++;
        else
            spans[n++] = (struct rows){class->rows[row], class->rows[row] + 1};
    sets->nspans += n;
    return n;
}

static bool binding_sets_same(const void *owner, uint32_t number, const void *thing)
{
    const struct binding_sets *sets = owner;
    const struct binding_set *a = &sets->sets[number], *b = thing;
    const struct rows *spans = sets->spans;
    return a->topo == b->topo && a->nspans == b->nspans &&
           memcmp(spans + a->first_span, spans + b->first_span, a->nspans * sizeof(*spans)) == 0;
}

uint32_t binding_sets_add(struct binding_sets *sets, const struct node_class *class,
                          const struct rows *spans, uint32_t nspans)
{
    struct binding_set set = {class->topo, sets->nspans, 0};
    for (uint32_t i = 0; i < nspans; i++)
        set.nspans += add_spans(sets, class, &spans[i]);
    uint64_t hash = hash_table_hash(0, (uintptr_t)set.topo);
    for (uint32_t i = set.first_span; i < sets->nspans; i++)
        hash = hash_table_hash(hash, sets->spans[i].first | (uint64_t)sets->spans[i].end << 32);
    uint32_t count = sets->numbers.count;
    uint32_t number = hash_table_intern(&sets->numbers, hash, binding_sets_same, sets, &set);
    if (number < count) {
        sets->nspans = set.first_span;
        return number;
    }
    sets->sets = array_grow(sets->sets, number, sizeof(*sets->sets));
    sets->cpus_and_cores = array_grow(sets->cpus_and_cores, number, sizeof(*sets->cpus_and_cores));
    sets->sets[number] = set;
    struct layout_binding *lists = &sets->cpus_and_cores[number];
    *lists = (struct layout_binding){idset_new(), idset_new()};
    for (uint32_t i = set.first_span; i < sets->nspans; i++)
        for (uint32_t row = sets->spans[i].first; row < sets->spans[i].end; row++) {
            idset_add(lists->cpus, set.topo->os[row]);
            idset_add(lists->cores, topo_core(set.topo, row));
        }
    return number;
}

uint32_t binding_sets_count(const struct binding_sets *sets)
{
    return sets->numbers.count;
}

uint32_t binding_sets_runs(const struct binding_sets *sets, uint32_t binding)
{
    return sets->sets[binding].nspans;
}

struct rows binding_sets_rows(const struct binding_sets *sets, const struct node_class *class,
                              uint32_t binding, uint32_t i)
{
    const struct rows *span = &sets->spans[sets->sets[binding].first_span + i];
    return (struct rows){node_class_row(class, span->first), node_class_row(class, span->end)};
}

void binding_sets_take(struct binding_sets *sets, struct layout *layout)
{
    layout->bindings = sets->cpus_and_cores;
    layout->nbindings = sets->numbers.count;
    sets->cpus_and_cores = NULL;
}
