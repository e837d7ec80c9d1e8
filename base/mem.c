/* Memory that is there or ends the program. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void mem_exit(int status)
{
#ifdef MEM_LEAKS
    __lsan_do_leak_check();
#endif
    _exit(status);
}
