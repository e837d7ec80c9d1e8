/*
 * hash_table - things numbered from 0 as they come, and found again by what they are.
 *
 * The things are the caller's; the table has a hash and a number of each. It is open, grows, and
 * keeps half of its slots empty. A zeroed one is empty and needs no memory.
 */
#ifndef BASE_HASH_TABLE_H
#define BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_table {
    struct table_slot *slots;
    size_t size;
    uint32_t count; /* things there are */
};

/* The number of a thing, which is new when that was the count before. equal() says whether the
 * thing of a number is the one that is looked for; `thing` is what it needs to know of that. */
uint32_t hash_table_number(struct hash_table *table, uint64_t hash,
                           bool (*equal)(uint32_t number, const void *thing), const void *thing);
void hash_table_free(struct hash_table *table);

/* A hash with one more part in it; begin with anything. */
static inline uint64_t hash_table_hash(uint64_t hash, uint64_t part)
{
    return (hash ^ hash >> 32 ^ part) * 0x9e3779b97f4a7c15u;
}

static inline uint64_t hash_table_hash_text(const char *text)
{
    uint64_t hash = 0;
    for (; *text; text++)
        hash = hash_table_hash(hash, (unsigned char)*text);
    return hash;
}

#endif
