/*
 * fold - numbers under which equal things are found again: an open hash table.
 */
#ifndef AFFINITY_LAYOUT_FOLD_H
#define AFFINITY_LAYOUT_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"

struct fold {
    uint32_t *slots; /* number + 1, or 0; at least half stay 0 */
    size_t size;
};

struct fold fold_new(uint32_t most); /* at most so many numbers */
void fold_free(struct fold *fold);

/* The slot of the first number with this hash that is the same as `wanted`, or the empty one where
 * it would go: the caller puts a number + 1 there. */
uint32_t *fold_find(struct fold *fold, uint64_t hash,
                    bool (*same)(const void *arg, uint32_t number, uint32_t wanted),
                    const void *arg, uint32_t wanted);

uint64_t fold_hash(uint64_t hash, uint64_t value);
uint64_t fold_hash_set(uint64_t hash, const struct idset *set);

#endif
