/* Numbers and map strings from a seed: the same for the same seed everywhere. */
#ifndef TESTS_UNIT_RANDOM_H
#define TESTS_UNIT_RANDOM_H

#include <stdint.h>
#include <string.h>

#define RANDOM_MAP_SIZE 16 /* bytes of the longest map string, with its NUL */

/* 0 to n - 1. */
static inline uint32_t random_below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* A map string of n of the nine levels, 2 to 9, in any order; node and hwthread are always among
 * them. */
static inline void random_loops(uint64_t *seed, uint32_t n, char map[RANDOM_MAP_SIZE])
{
    static const char *const letters[] = {"n", "h", "c", "s", "N", "L1", "L2", "L3", "b"};
    const char *order[9];
    memcpy(order, letters, sizeof(order));
    for (uint32_t i = 8; i >= 2; i--) { /* which letters */
        uint32_t j = 2 + random_below(seed, i - 1);
        const char *swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (uint32_t i = n - 1; i > 0; i--) { /* in which order */
        uint32_t j = random_below(seed, i + 1);
        const char *swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    map[0] = '\0';
    for (uint32_t i = 0; i < n; i++)
        strcat(map, order[i]);
}

#endif
