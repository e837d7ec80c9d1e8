/*
 * loop_key - a unit's coordinates as one number that sorts as the loops run.
 *
 * Sixteen bits a loop, the slowest one highest; n has none, so the other eight fill 128 bits. Where
 * GPUs are given out, turns are outside of all loops; else they are 0.
 */
#ifndef AFFINITY_LAYOUT_LOOP_KEY_H
#define AFFINITY_LAYOUT_LOOP_KEY_H

#include <stdbool.h>
#include <stdint.h>

struct loop_key {
    uint64_t high, low;
    uint32_t turn;
};

/* Put a coordinate where the field-th slowest loop has its place. */
static inline void loop_key_set(struct loop_key *key, uint32_t field, uint32_t coordinate)
{
    uint64_t *half = field < 4 ? &key->high : &key->low;
    *half |= (uint64_t)coordinate << (48 - field % 4 * 16);
}

/* Only the `fields` slowest loops. */
static inline struct loop_key loop_key_outer(struct loop_key key, uint32_t fields)
{
    uint64_t high = fields >= 4 ? ~0ull : ~(~0ull >> (fields * 16));
    uint64_t low = fields >= 8 ? ~0ull : fields > 4 ? ~(~0ull >> ((fields - 4) * 16)) : 0;
    return (struct loop_key){key.high & high, key.low & low, key.turn};
}

static inline bool loop_key_equal(struct loop_key a, struct loop_key b)
{
    return a.high == b.high && a.low == b.low && a.turn == b.turn;
}

static inline int loop_key_compare(struct loop_key a, struct loop_key b)
{
    if (a.turn != b.turn)
        return a.turn < b.turn ? -1 : 1;
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return a.low < b.low ? -1 : a.low > b.low;
}

#endif
