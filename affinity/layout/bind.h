/*
 * bind - --bind-to: what a task is bound to. Binding upward, to N objects from the one on that the
 * task is placed on, belongs to a position; tasks that are bound together, or not bound, get their
 * sets when all tasks are placed. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_BIND_H
#define AFFINITY_LAYOUT_BIND_H

#include <stdbool.h>
#include <stdint.h>

struct layout_build;
struct policy;
struct position;
struct positions;

/* The position of a unit with its binding upward: policy's number of objects, the first of which
 * holds the unit. False when too few are left in the node. */
bool bind_upward(const struct positions *plan, const struct policy *policy, uint32_t unit,
                 struct position *position);

/* Bind what has no binding yet: tasks bound together, and tasks that are not bound. */
void bind_rest(struct layout_build *build);

#endif
