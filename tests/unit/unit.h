/* What every unit test includes, in the order that cmocka needs. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
#define UNIT_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNIT_SANITIZED
#endif
#endif

/* malloc is glibc's, and says what of the heap is free (for who includes config.h before). */
#if defined(HAVE_MALLINFO2) && !defined(UNIT_SANITIZED)
#define UNIT_KNOWS_HEAP
#include <malloc.h>

static inline size_t
unit_heap_pieces(void) /* bytes that are free but for those behind all that is used */
{
    const struct mallinfo2 heap = mallinfo2();
    return heap.fordblks - heap.keepcost;
}
#endif

#ifndef assert_uint_in_range /* cmocka 1 has one for all integers, which cmocka 2 deprecates */
#define assert_uint_in_range assert_in_range
#endif

#endif
