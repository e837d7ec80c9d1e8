#include "affinity/layout/fold.h"

#include <stdlib.h>

#include "base/mem.h"

struct fold fold_new(uint32_t most)
{
    struct fold fold = {.size = 4};
    while (fold.size < most * 2ul)
        fold.size *= 2;
    fold.slots = mem_array(fold.size, sizeof(*fold.slots));
    return fold;
}

void fold_free(struct fold *fold)
{
    free(fold->slots);
}

uint32_t *fold_find(struct fold *fold, uint64_t hash,
                    bool (*same)(const void *arg, uint32_t number, uint32_t wanted),
                    const void *arg, uint32_t wanted)
{
    size_t at = (hash >> 16) & (fold->size - 1);
    while (fold->slots[at] && !same(arg, fold->slots[at] - 1, wanted))
        at = (at + 1) & (fold->size - 1);
    return &fold->slots[at];
}

uint64_t fold_hash(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

uint64_t fold_hash_set(uint64_t hash, const struct idset *set)
{
    uint32_t first, last;
    for (size_t at = 0; idset_range(set, &at, &first, &last);)
        hash = fold_hash(hash, (uint64_t)last << 32 | first);
    return hash;
}
