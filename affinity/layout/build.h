/*
 * build - a layout in the making: what the steps of layout_make() share. Each table has a header of
 * its own. Private to layout/.
 *
 * Until the last step a task's node is an index into the request's nodes and its place a row of
 * its class; tasks that are bound together, or not at all, have no binding yet (NO_BINDING).
 */
#ifndef AFFINITY_LAYOUT_BUILD_H
#define AFFINITY_LAYOUT_BUILD_H

#include "affinity/layout/layout.h"

struct binding_sets;
struct gpu_sets;
struct node_class;
struct node_classes;
struct node_choice;
struct placement;
struct placements;
struct policy;
struct rows;

#define NO_BINDING UINT32_MAX

struct layout_build {
    const struct layout_request *request;
    const struct placements *placements;
    const struct node_classes *classes;
    struct layout *layout; /* tasks so far; the rest is filled in at the end */
    uint32_t *node_tasks;  /* by node of the request: tasks placed there so far */
    struct node_choice *choice;
    struct binding_sets *bindings;
    struct gpu_sets *gpu_sets;
};

const struct node_class *layout_build_class(const struct layout_build *build, uint32_t node);
/* That of the placement that a task is of. */
const struct policy *layout_build_policy(const struct layout_build *build,
                                         const struct layout_task *task);
/* The i-th run of rows that a placed task occupies: what it is bound to where that is cores or
 * threads, else its place. False behind the last. */
bool layout_build_occupied(const struct layout_build *build, const struct layout_task *task,
                           uint32_t i, struct rows *rows);

/* The tasks of a placement, behind those before, with their parts and no GPUs; node, binding and
 * place are the caller's to fill in. */
struct layout_task *layout_build_add_tasks(struct layout_build *build,
                                           const struct placement *placement);

#endif
