/*
 * loader_cache - the dynamic loader's list of libraries, /etc/ld.so.cache (glibc, in the format of
 * 2.2 and later, alone or behind an older one), as far as it is needed to find a library by name.
 *
 * Whatever the file holds, no byte outside of it is read.
 */
#ifndef LAUNCHER_LINKAGE_LOADER_CACHE_H
#define LAUNCHER_LINKAGE_LOADER_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define LOADER_CACHE "/etc/ld.so.cache"

/* Where the loader looks behind the cache, in its order. */
enum { LOADER_NDIRECTORIES = 4 };
extern const char *const loader_directories[LOADER_NDIRECTORIES];

struct loader_cache {
    struct buf bytes; /* of the file */
    size_t start;     /* where offsets of texts count from */
    uint32_t count;   /* entries */
};

/* One without entries where the file is not there or is not understood. */
void loader_cache_open(struct loader_cache *cache, const char *path);
void loader_cache_take(struct loader_cache *cache,
                       struct buf *bytes); /* the same of bytes; taken */
void loader_cache_clear(struct loader_cache *cache);

/* The next path of that name, NULL: of any; *at begins as 0. NULL after the last. Borrowed. */
const char *loader_cache_find(const struct loader_cache *cache, const char *name, uint32_t *at);

#endif
