/*
 * node_index - places in a list, by host name.
 *
 * Made for a known number of names, which are borrowed.
 */
#ifndef LAUNCHER_SOURCE_NODE_INDEX_H
#define LAUNCHER_SOURCE_NODE_INDEX_H

#include <stddef.h>

#include "affinity/resource/rset.h"

#define HOST_INDEX_NONE ((size_t)-1)

struct host_index;

struct host_index *host_index_new(size_t names);          /* the most that are added */
struct host_index *node_index_of(const struct rset *set); /* of its nodes, which are borrowed */
void host_index_free(struct host_index *index);

/* HOST_INDEX_NONE and the name is remembered at `at`; or the place that it had already. */
size_t host_index_add(struct host_index *index, const char *host, size_t at);
size_t host_index_find(const struct host_index *index, const char *host); /* or NONE */

#endif
