/*
 * search - binary search.
 */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/* The first of the indexes 0 to n - 1 for which before() is false; n where there is none. before()
 * has to be true up to some index, and false from there on; it is asked O(log n) times. Inline, so
 * that it costs no more than a loop by hand. */
static inline __attribute__((always_inline)) size_t
search_first(size_t n, bool (*before)(const void *arg, size_t index), const void *arg)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before(arg, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
