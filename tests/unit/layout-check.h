/*
 * layout-check - what is true of every layout, whatever was asked for.
 */
#ifndef TESTS_UNIT_LAYOUT_CHECK_H
#define TESTS_UNIT_LAYOUT_CHECK_H

#include "affinity/layout/layout.h"

/* Every rank is placed once, inside what was allocated; nodes, local ranks, claims and task map
 * agree with that; limits, host files' counts and -N are kept. 0, or -1 with what is not so. The
 * request has one part, its nodes at most 64 hardware threads. */
int layout_check(const struct layout *layout, const struct layout_request *request,
                 struct error *err);

/* The engine's layout is the one that lama-plain makes; NULL: that finds no room either. */
int layout_compare(const struct layout *layout, const struct layout_request *request,
                   struct error *err);

#endif
