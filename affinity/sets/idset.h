/*
 * idset - a set of non-negative integers (RFC 22).
 *
 * Text form: strictly ascending ids and ranges, "0-3,7"; brackets around the whole are optional
 * on input and never written. Kept as sorted, disjoint ranges, so memory grows with the number of
 * holes, not of ids. Ids go up to IDSET_MAX.
 *
 * Where a const set is asked for, NULL is the empty set. All sets are owned by whoever got them
 * from a function whose name ends in new, copy, ref, decode or the three set operations.
 */
#ifndef AFFINITY_SETS_IDSET_H
#define AFFINITY_SETS_IDSET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define IDSET_MAX 2147483647u
#define IDSET_NONE UINT32_MAX /* "no such id" from first, next, last, nth */

struct idset;

struct idset *idset_new(void);
struct idset *idset_copy(const struct idset *set);
/* The same set for one more owner. As long as there are several, nobody may change it. Not for NULL. */
struct idset *idset_ref(struct idset *set);
void idset_free(struct idset *set); /* one owner less; the last one frees it. NULL is fine */

/* Text to set. NULL with a sentence that names the offending part. "" and "[]" are empty. */
struct idset *idset_decode(const char *text, struct error *err);
/* Canonical text without brackets; "" when empty. Caller frees. */
char *idset_encode(const struct idset *set);
json_t *idset_to_json(const struct idset *set); /* the same as a string; new reference */

void idset_add(struct idset *set, uint32_t id);
void idset_add_range(struct idset *set, uint32_t first, uint32_t last); /* first <= last */
void idset_remove(struct idset *set, uint32_t id);
/* In place. Linear in the spans of both, but for adding what comes behind all that is there. */
void idset_add_set(struct idset *set, const struct idset *more);
void idset_remove_set(struct idset *set, const struct idset *less);
void idset_keep_set(struct idset *set, const struct idset *kept); /* only what is in both stays */

bool idset_has(const struct idset *set, uint32_t id);
size_t idset_count(const struct idset *set);
bool idset_empty(const struct idset *set);
bool idset_equal(const struct idset *a, const struct idset *b);
uint64_t idset_hash(uint64_t hash, const struct idset *set); /* as hash_table_hash(): with it */
bool idset_within(const struct idset *inner, const struct idset *outer); /* subset test */
size_t idset_count_both(const struct idset *a, const struct idset *b);   /* ids in common */

uint32_t idset_first(const struct idset *set);
uint32_t idset_next(const struct idset *set, uint32_t id); /* smallest id > id */
uint32_t idset_last(const struct idset *set);

/* Walk the ranges: *at starts at 0; returns false after the last. Linear in ranges, not ids. */
bool idset_range(const struct idset *set, size_t *at, uint32_t *first, uint32_t *last);

struct idset *idset_union(const struct idset *a, const struct idset *b);
struct idset *idset_subtract(const struct idset *a, const struct idset *b);
struct idset *idset_intersect(const struct idset *a, const struct idset *b);

#define IDSET_FOREACH(id, set)                                                                     \
    for (uint32_t id = idset_first(set); (id) != IDSET_NONE; (id) = idset_next(set, id))

#endif
