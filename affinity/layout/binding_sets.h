/*
 * binding_sets - the distinct processor sets of a layout in the making, numbered from 0 as they
 * come. Private to layout/.
 *
 * A set is kept as runs of rows of the topology, so that classes which differ only elsewhere share
 * it.
 */
#ifndef AFFINITY_LAYOUT_BINDING_SETS_H
#define AFFINITY_LAYOUT_BINDING_SETS_H

#include "affinity/layout/layout.h"
#include "affinity/layout/node_class.h"

struct binding_sets;

struct binding_sets *binding_sets_new(void);
void binding_sets_free(struct binding_sets *sets); /* NULL is fine */

/* The number of the set made of these rows of a class. */
uint32_t binding_sets_add(struct binding_sets *sets, const struct node_class *class,
                          const struct rows *spans, uint32_t nspans);
uint32_t binding_sets_count(const struct binding_sets *sets);
/* How many runs a set has, and the i-th one as rows of a class. */
uint32_t binding_sets_runs(const struct binding_sets *sets, uint32_t binding);
struct rows binding_sets_rows(const struct binding_sets *sets, const struct node_class *class,
                              uint32_t binding, uint32_t i);
/* All sets, as processors and cores: into the layout. Before binding_sets_free(). */
void binding_sets_take(struct binding_sets *sets, struct layout *layout);

#endif
