/*
 * host_index - places in a list, by the host's name. O(1) for each name.
 *
 * Names are borrowed: they have to last as long as the index.
 */
#ifndef AFFINITY_SETS_HOST_INDEX_H
#define AFFINITY_SETS_HOST_INDEX_H

#include <stddef.h>

#define HOST_INDEX_NONE ((size_t)-1)

struct host_index;

struct host_index *host_index_new(size_t expected); /* names; more can be added */
void host_index_free(struct host_index *index);     /* NULL is fine */

/* HOST_INDEX_NONE, and the name is remembered with this value; or the value that it has already,
 * which stays. */
size_t host_index_add(struct host_index *index, const char *host, size_t value);
/* Its value, or HOST_INDEX_NONE; so too without an index. */
size_t host_index_find(const struct host_index *index, const char *host);

#endif
