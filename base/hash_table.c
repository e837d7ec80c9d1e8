#include "base/hash_table.h"

#include <stdlib.h>

#include "base/mem.h"

struct table_slot {
    uint32_t hash;
    uint32_t number; /* + 1; 0: empty */
};

/* Where a search for this hash begins, and then the next place. */
static size_t first_at(const struct hash_table *table, uint32_t hash)
{
    return hash & (table->size - 1);
}

static size_t next_at(const struct hash_table *table, size_t at)
{
    return (at + 1) & (table->size - 1);
}

static void grow(struct hash_table *table)
{
    struct hash_table old = *table;
    table->size = old.size ? old.size * 2 : 16;
    table->slots = mem_array(table->size, sizeof(*table->slots));
    for (size_t i = 0; i < old.size; i++) {
        if (!old.slots[i].number)
            continue;
        size_t at = first_at(table, old.slots[i].hash);
        while (table->slots[at].number)
            at = next_at(table, at);
        table->slots[at] = old.slots[i];
    }
    free(old.slots);
}

uint32_t hash_table_number(struct hash_table *table, uint64_t hash,
                           bool (*equal)(uint32_t number, const void *thing), const void *thing)
{
    uint32_t top = (uint32_t)(hash >> 32); /* the best bits of a product */
    if (table->count * 2ul >= table->size)
        grow(table);
    size_t at = first_at(table, top);
    for (; table->slots[at].number; at = next_at(table, at))
        if (table->slots[at].hash == top && equal(table->slots[at].number - 1, thing))
            return table->slots[at].number - 1;
    table->slots[at] = (struct table_slot){top, ++table->count};
    return table->count - 1;
}

void hash_table_free(struct hash_table *table)
{
    free(table->slots);
    *table = (struct hash_table){NULL, 0, 0};
}
