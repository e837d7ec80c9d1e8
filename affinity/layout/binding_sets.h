/*
 * binding_sets - the distinct processor sets of a layout in the making. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_BINDING_SETS_H
#define AFFINITY_LAYOUT_BINDING_SETS_H

#include "affinity/layout/build.h"

/* Number of the binding made of these rows of a kind. */
uint32_t layout_build_bind(struct layout_build *builder, const struct node_class *kind,
                           const struct rows *spans, uint32_t nspans);
/* The i-th run of a binding, as rows of a kind. */
struct rows layout_build_binding_rows(const struct layout_build *builder,
                                      const struct node_class *kind, uint32_t binding, uint32_t i);

#endif
