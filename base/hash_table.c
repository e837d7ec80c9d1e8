/* An open hash table of numbers, for all layers: what is equal is asked of the caller. */
#include "base/hash_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct table_slot {
    uint32_t hash;
    uint32_t number; /* + 1; 0: empty */
};

/* The best bits of a product. */
static uint32_t table_top(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static void table_resize(struct hash_table *table, size_t size)
{
    struct hash_table old = *table;
    table->size = size;
    table->slots = mem_array(size, sizeof(*table->slots));
    for (size_t i = 0; i < old.size; i++) {
        if (!old.slots[i].number)
            continue;
        size_t at = old.slots[i].hash & (size - 1);
        while (table->slots[at].number)
            at = (at + 1) & (size - 1);
        table->slots[at] = old.slots[i];
    }
    free(old.slots);
}

void hash_table_reserve(struct hash_table *table, size_t count)
{
    size_t size = table->size ? table->size : 16;
    while (size < count * 2)
        size *= 2;
    if (size > table->size)
        table_resize(table, size);
}

/* The slot of a thing, or the empty one where it belongs. */
static struct table_slot *table_slot_of(const struct hash_table *table, uint64_t hash,
                                        hash_table_equal *equal, const void *owner,
                                        const void *thing)
{
    size_t at = table_top(hash) & (table->size - 1);
    for (;; at = (at + 1) & (table->size - 1)) {
        struct table_slot *slot = &table->slots[at];
        if (!slot->number ||
            (slot->hash == table_top(hash) && equal(owner, slot->number - 1, thing)))
            return slot;
    }
}

uint32_t hash_table_intern(struct hash_table *table, uint64_t hash, hash_table_equal *equal,
                           const void *owner, const void *thing)
{
    if (table->count * 2ul >= table->size)
        table_resize(table, table->size ? table->size * 2 : 16);
    struct table_slot *slot = table_slot_of(table, hash, equal, owner, thing);
    if (!slot->number)
        *slot = (struct table_slot){table_top(hash), ++table->count};
    return slot->number - 1;
}

uint32_t hash_table_find(const struct hash_table *table, uint64_t hash, hash_table_equal *equal,
                         const void *owner, const void *thing)
{
    if (!table->count)
        return HASH_TABLE_NONE;
    return table_slot_of(table, hash, equal, owner, thing)->number - 1; /* NONE of an empty slot */
}

static size_t table_find_number(const struct hash_table *table, uint32_t number, uint64_t hash)
{
    size_t at = table_top(hash) & (table->size - 1);
    while (table->slots[at].number != number + 1)
        at = (at + 1) & (table->size - 1);
    return at;
}

/* What stands behind it, and would not be found any more, takes its place. */
static void table_empty_slot(struct hash_table *table, size_t at)
{
    size_t mask = table->size - 1;
    for (size_t next = (at + 1) & mask; table->slots[next].number; next = (next + 1) & mask) {
        size_t home = table->slots[next].hash & mask;
        if (((next - home) & mask) < ((next - at) & mask))
            continue;
        table->slots[at] = table->slots[next];
        at = next;
    }
    table->slots[at].number = 0;
}

void hash_table_remove(struct hash_table *table, uint32_t number, uint64_t hash, uint64_t highest)
{
    size_t at = table_find_number(table, number, hash);
    table->slots[table_find_number(table, table->count - 1, highest)].number = number + 1;
    table_empty_slot(table, at);
    table->count--;
}

struct table_texts {
    hash_table_text *text_of;
    const void *owner;
};

static bool table_text_equal(const void *owner, uint32_t number, const void *thing)
{
    const struct table_texts *texts = owner;
    return strcmp(texts->text_of(texts->owner, number), thing) == 0;
}

uint32_t hash_table_intern_text(struct hash_table *table, const char *text,
                                hash_table_text *text_of, const void *owner)
{
    struct table_texts texts = {text_of, owner};
    return hash_table_intern(table, hash_table_hash_text(text), table_text_equal, &texts, text);
}

uint32_t hash_table_find_text(const struct hash_table *table, const char *text,
                              hash_table_text *text_of, const void *owner)
{
    struct table_texts texts = {text_of, owner};
    return hash_table_find(table, hash_table_hash_text(text), table_text_equal, &texts, text);
}

void hash_table_free(struct hash_table *table)
{
    free(table->slots);
    *table = (struct hash_table){NULL, 0, 0};
}
