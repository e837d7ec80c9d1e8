/*
 * hash_table - an intern table: equal things get one number, from 0 as they come.
 *
 * The things are the caller's, kept by number wherever it likes; the table has a hash and a number
 * of each. It is open, grows, and keeps half of its slots empty. A zeroed one is empty and needs no
 * memory. All of this is O(1), but for the calls of equal().
 */
#ifndef BASE_HASH_TABLE_H
#define BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_TABLE_NONE UINT32_MAX

struct hash_table {
    struct table_slot *slots;
    size_t size;
    uint32_t count; /* things there are */
};

/* Whether the thing that `owner` keeps under this number equals the one that is looked for. */
typedef bool hash_table_equal(const void *owner, uint32_t number, const void *thing);
/* The text that `owner` keeps under this number. */
typedef const char *hash_table_text(const void *owner, uint32_t number);

/* The number of a thing. It is new when the number is the count before: the caller then keeps the
 * thing under it. */
uint32_t hash_table_intern(struct hash_table *table, uint64_t hash, hash_table_equal *equal,
                           const void *owner, const void *thing);
/* The same for a text; it need not last. */
uint32_t hash_table_intern_text(struct hash_table *table, const char *text,
                                hash_table_text *text_of, const void *owner);
/* The number of a thing that is there, or HASH_TABLE_NONE. */
uint32_t hash_table_find(const struct hash_table *table, uint64_t hash, hash_table_equal *equal,
                         const void *owner, const void *thing);
uint32_t hash_table_find_text(const struct hash_table *table, const char *text,
                              hash_table_text *text_of, const void *owner);
/* Forget this thing. The one with the highest number gets its number, and the caller moves it
 * likewise; `hash` and `highest` are their hashes. */
void hash_table_remove(struct hash_table *table, uint32_t number, uint64_t hash, uint64_t highest);
/* Space for `count` things, so that the table does not grow before. */
void hash_table_reserve(struct hash_table *table, size_t count);
void hash_table_free(struct hash_table *table); /* it is empty then */

/* A hash with one more part in it; begin with anything. */
static inline uint64_t hash_table_hash(uint64_t hash, uint64_t part)
{
    return (hash ^ hash >> 32 ^ part) * 0x9e3779b97f4a7c15u;
}

static inline uint64_t hash_table_hash_bytes(const void *bytes, size_t len)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < len; i++)
        hash = hash_table_hash(hash, ((const unsigned char *)bytes)[i]);
    return hash;
}

static inline uint64_t hash_table_hash_text(const char *text)
{
    uint64_t hash = 0;
    for (; *text; text++)
        hash = hash_table_hash(hash, (unsigned char)*text);
    return hash;
}

#endif
