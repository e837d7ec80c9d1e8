/*
 * array - arrays that grow. NULL is one without elements, and free() frees them. Elements that are
 * new are not zeroed. Amortized O(1) for each element.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

#define ARRAY_MIN 4

/* Whether no element fits behind `count` of them, in an array made by array_grow(). */
static inline bool array_is_full(size_t count)
{
    return count == 0 || (count >= ARRAY_MIN && (count & (count - 1)) == 0);
}

/* The array of `count` elements, which may move, with space for one more. Its capacity is no
 * variable: it is at least 4 and the next power of two of the count, so that the count tells when
 * the array is full. So all elements of such an array have to come by this way, one by one. */
static inline void *array_grow(void *array, size_t count, size_t size)
{
    if (!array_is_full(count))
        return array;
    return mem_resize(array, count ? count * 2 : ARRAY_MIN, size);
}

/* The array, which may move, with space for `count` elements in all; *capacity is 0 in the
 * beginning. For arrays that are emptied and filled again, and that get several elements at
 * once. */
static inline void *array_reserve(void *array, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return array;
    *capacity = count + count / 2 + 2;
    return mem_resize(array, *capacity, size);
}

#endif
