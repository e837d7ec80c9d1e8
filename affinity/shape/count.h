/*
 * count - how many of something a request wants: a number, an RFC 45 range or an RFC 22 idset
 * (RFC 14 section "count").
 *
 *     4            exactly four          3-30        from three to thirty
 *     2+           two or more           2-256:2:^   2, 4, 16, 256
 *     4,9,16,25    one of these
 *
 * "3-30" is a range, not an idset. Counts are positive. Brackets around the whole are optional.
 */
#ifndef AFFINITY_SHAPE_COUNT_H
#define AFFINITY_SHAPE_COUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/error.h"

#define COUNT_UNBOUNDED UINT32_MAX
#define COUNT_MAX IDSET_MAX /* the largest number there may be */

struct count {
    uint32_t min, max; /* equal: exactly so many; max may be COUNT_UNBOUNDED; both 0: not given */
    char operator;     /* '+', '*', '^': from one value to the next; 0: exactly `min`, or a set */
    uint32_t operand;
    struct idset *set; /* the values of an idset; else NULL */
};

struct count count_of(uint32_t number);
int count_decode(const char *text, size_t len, struct count *count, struct error *err);
char *count_encode(const struct count *count); /* canonical; caller frees */
/* RFC 14: an integer, a dictionary min/max/operator/operand, or a string (RFC 22 or RFC 45). */
int count_from_json(const json_t *value, struct count *count, struct error *err);
json_t *count_to_json(const struct count *count); /* new reference; a range as its dictionary */
void count_clear(struct count *count);
struct count count_copy(const struct count *count);

/* The largest value of the count that is at most `limit`; 0: there is none. */
uint32_t count_within(const struct count *count, uint64_t limit);

#endif
