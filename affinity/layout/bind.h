/*
 * bind - --bind-to: what a task is bound to. A task that is bound upward gets N objects, beginning
 * with the one that it is placed on, which is known for each position. Tasks that are bound
 * together, or not bound, get their sets once all tasks are placed. Private to layout/.
 */
#ifndef AFFINITY_LAYOUT_BIND_H
#define AFFINITY_LAYOUT_BIND_H

#include <stdbool.h>
#include <stdint.h>

struct layout_build;
struct policy;
struct position;
struct positions;

/* The position of a unit, bound upward to as many objects as the policy says. The first of them
 * holds the unit. False when too few are left in the node. */
bool bind_upward(const struct positions *plan, const struct policy *policy, uint32_t unit,
                 struct position *position);

/* Bind what has no binding yet: tasks bound together, and tasks that are not bound. */
void bind_rest(struct layout_build *build);

#endif
