/*
 * mem - allocation that does not fail.
 *
 * Sizes here are bounded by their callers, and the kernel overcommits: a failed small allocation
 * is not a state that a launcher can go on from. These write one line to stderr and _exit(1):
 * beside main(), and hwloc_library.h where hwloc is not there, nobody else does so.
 * pmi-server/client, which lives in other people's programs, does not use them.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdnoreturn.h>

#define MEM_NONNULL __attribute__((returns_nonnull))

void *mem_alloc(size_t size) MEM_NONNULL;               /* zeroed; size 0 gives a pointer to free */
void *mem_array(size_t count, size_t size) MEM_NONNULL; /* zeroed; overflow is checked */
/* realloc; new bytes are not zeroed */
void *mem_resize(void *old, size_t count, size_t size) MEM_NONNULL;
/* What is to be put right before that, in a few system calls; one for a process. */
void mem_on_failure(void (*put_right)(void));
char *mem_copy_text(const char *text); /* NULL stays NULL */
char *mem_copy_text_n(const char *text, size_t len) MEM_NONNULL;
char *mem_format(const char *fmt, ...) __attribute__((format(printf, 1, 2))) MEM_NONNULL;

/* For a process that others are forked from: takes the free pieces of its heap for good, and up to
 * 34 KiB behind them. A forked process would allocate these pieces first, and the kernel copies each
 * page that it writes to; without them what it allocates lies together. Where memory or glibc is
 * lacking it does less, or nothing. */
void mem_fill_holes(void);

/* The end of a process that was forked and not executed: _exit(). In a build with AddressSanitizer
 * it looks for leaks before, as exit() does in others. */
noreturn void mem_exit(int status);

#endif
