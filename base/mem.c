/* Memory that is there or ends the program. */
#include "base/mem.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"

#if defined(__SANITIZE_ADDRESS__)
#define MEM_LEAKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEM_LEAKS
#endif
#endif
#ifdef MEM_LEAKS
#include <sanitizer/lsan_interface.h>
#endif

static void (*on_failure)(void);

void mem_on_failure(void (*put_right)(void))
{
    on_failure = put_right;
}

static void *mem_check(void *memory)
{
    static const char text[] = "tprun: out of memory\n";
    if (memory)
        return memory;
    if (on_failure)
        on_failure();
    if (write(2, text, sizeof(text) - 1) < 0)
        _exit(1);
    _exit(1);
}

void *mem_alloc(size_t size)
{
    return mem_check(calloc(1, size ? size : 1));
}

void *mem_array(size_t count, size_t size)
{
    return mem_check(calloc(count ? count : 1, size ? size : 1));
}

void *mem_resize(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    return mem_check(realloc(old, bytes ? bytes : 1));
}

char *mem_copy_text(const char *text)
{
    return text ? mem_check(strdup(text)) : NULL;
}

char *mem_copy_text_n(const char *text, size_t len)
{
    char *copy = mem_alloc(len + 1);
    memcpy(copy, text, len);
    return copy;
}

char *mem_format(const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int len = vasprintf(&text, fmt, args);
    va_end(args);
    return mem_check(len < 0 ? NULL : text);
}

#ifdef HAVE_MALLINFO2
#define LARGEST_HOLE ((size_t)64 << 10)
#define LARGEST_CACHED 1024 /* bytes; of these glibc keeps a few pieces of each size apart */
#define HOLE_STEP 16

struct filled_hole {
    struct filled_hole *next;
};

static struct filled_hole *filled_holes; /* so that no leak checker takes them for lost */

/* From large sizes to small ones: what is left of a large piece is found at a smaller size. A piece
 * behind all that is in use is no hole. A small one is kept all the same: if it were freed, glibc
 * would hand it out before what follows it. */
void mem_fill_holes(void)
{
    const struct mallinfo2 heap = mallinfo2();
    const uintptr_t end = (uintptr_t)sbrk(0), first = end - heap.arena,
                    behind = end - heap.keepcost;
    struct filled_hole *hole;
    size_t size = LARGEST_HOLE;
    while (size >= HOLE_STEP && (hole = malloc(size))) {
        bool is_hole = (uintptr_t)hole >= first && (uintptr_t)hole < behind;
        if (is_hole || size <= LARGEST_CACHED) {
            hole->next = filled_holes;
            filled_holes = hole;
        } else {
            free(hole);
        }
        if (!is_hole)
            size = size > LARGEST_CACHED ? size / 2 : size - HOLE_STEP;
    }
}
#else
void mem_fill_holes(void)
{
}
#endif

void mem_exit(int status)
{
#ifdef MEM_LEAKS
    __lsan_do_leak_check();
#endif
    _exit(status);
}
