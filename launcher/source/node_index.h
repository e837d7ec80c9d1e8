/*
 * node_index - places in a list, by host name.
 *
 * Made for a known number of names, which are borrowed.
 */
#ifndef LAUNCHER_SOURCE_NODE_INDEX_H
#define LAUNCHER_SOURCE_NODE_INDEX_H

#include <stddef.h>

#include "affinity/resource/rset.h"

#define NODE_INDEX_NONE ((size_t)-1)

struct nodes_index;

struct nodes_index *node_index_new(size_t names);          /* the most that are added */
struct nodes_index *node_index_of(const struct rset *set); /* of its nodes, which are borrowed */
void node_index_free(struct nodes_index *index);

/* NODE_INDEX_NONE and the name is remembered at `at`; or the place that it had already. */
size_t node_index_add(struct nodes_index *index, const char *host, size_t at);
size_t node_index_find(const struct nodes_index *index, const char *host); /* or NONE */

#endif
