/*
 * start_queue - targets that wait for their turn: the fan-out is how many are being reached at a
 * time. Private to the tree.
 *
 * Groups leave in the order they came. A group is a slice of a shared list, so that the rest of one
 * whose first member failed costs nothing to put back.
 */
#ifndef LAUNCHER_TREE_START_QUEUE_H
#define LAUNCHER_TREE_START_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/tree/tree_target.h"

struct target_list { /* reference-counted */
    struct tree_target *targets;
    size_t count;
    size_t references;
};

struct start_queue_group { /* the first is reached from here, and is to reach the others */
    struct target_list *list;
    size_t first, count; /* of the list */
    double patience;     /* s that the first may take to answer */
    bool below; /* somebody further up tries again those that an agent here does not reach */
    bool again; /* not the first try of these: the first member learns of the others late */
};

struct start_queue {
    struct start_queue_group *groups; /* those before `next` have left */
    size_t next, count, room;
};

/* A copy with one reference, for who made it. */
struct target_list *target_list_new(const struct tree_target *targets, size_t count);
void target_list_free(struct target_list *list); /* gives one reference back */

/* Whether its first member is started with others by one command (multi_host_start.h). */
bool start_queue_group_is_shared(const struct start_queue_group *group);

/* The group's own reference is made here. */
void start_queue_add(struct start_queue *waiting, const struct start_queue_group *group);
/* The next one; NULL: nobody waits. */
const struct start_queue_group *start_queue_next(const struct start_queue *waiting);
/* The next one leaves, and its reference becomes the caller's; false: nobody waits. */
bool start_queue_take(struct start_queue *waiting, struct start_queue_group *group);
void start_queue_clear(struct start_queue *waiting);

#endif
