/* GPU sets that tasks share, each kept once, and what of each node the program claims by them. */
#include "affinity/layout/gpu_sets.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"

struct gpu_sets {
    struct hash_table numbers;
    struct idset **sets;
    struct idset **claims; /* by node; NULL: none so far */
    uint32_t nnodes;
};

struct gpu_sets *gpu_sets_new(uint32_t nnodes)
{
    struct gpu_sets *sets = mem_alloc(sizeof(*sets));
    sets->nnodes = nnodes;
    sets->claims = mem_array(nnodes, sizeof(*sets->claims));
    return sets;
}

void gpu_sets_free(struct gpu_sets *sets)
{
    if (!sets)
        return;
    for (uint32_t i = 0; sets->sets && i < sets->numbers.count; i++)
        idset_free(sets->sets[i]);
    for (uint32_t node = 0; node < sets->nnodes; node++)
        idset_free(sets->claims[node]);
    free(sets->sets);
    free(sets->claims);
    hash_table_free(&sets->numbers);
    free(sets);
}

static bool gpu_sets_same(const void *owner, uint32_t number, const void *thing)
{
    return idset_equal(((const struct gpu_sets *)owner)->sets[number], thing);
}

uint32_t gpu_sets_add(struct gpu_sets *sets, const struct idset *gpus)
{
    uint32_t count = sets->numbers.count;
    uint32_t number =
        hash_table_intern(&sets->numbers, idset_hash(0, gpus), gpu_sets_same, sets, gpus);
    if (number == count) {
        sets->sets = array_grow(sets->sets, number, sizeof(*sets->sets));
        sets->sets[number] = idset_copy(gpus);
    }
    return number;
}

uint32_t gpu_sets_add_ids(struct gpu_sets *sets, const uint32_t *ids, uint32_t n)
{
    struct idset *set = idset_new();
    for (uint32_t i = 0; i < n; i++)
        idset_add(set, ids[i]);
    uint32_t number = gpu_sets_add(sets, set);
    idset_free(set);
    return number;
}

const struct idset *gpu_sets_get(const struct gpu_sets *sets, uint32_t number)
{
    return sets->sets[number];
}

void gpu_sets_claim(struct gpu_sets *sets, uint32_t node, uint32_t number)
{
    if (!sets->claims[node])
        sets->claims[node] = idset_new();
    IDSET_FOREACH(id, sets->sets[number])
    idset_add(sets->claims[node], id);
}

const struct idset *gpu_sets_claimed(const struct gpu_sets *sets, uint32_t node)
{
    return sets->claims[node];
}

struct idset *gpu_sets_take_claim(struct gpu_sets *sets, uint32_t node)
{
    struct idset *claim = sets->claims[node];
    sets->claims[node] = NULL;
    return claim;
}

void gpu_sets_take(struct gpu_sets *sets, struct layout *layout)
{
    layout->gpu_sets = sets->sets;
    layout->ngpu_sets = sets->numbers.count;
    sets->sets = NULL;
}
