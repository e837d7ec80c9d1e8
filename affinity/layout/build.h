/*
 * build - a layout in the making, shared by the steps of layout_make().
 *
 * Until the last step a task's node is an index into the request's nodes and its place a row of
 * its kind; tasks that are bound together, or not at all, have no binding yet (NO_BINDING).
 */
#ifndef AFFINITY_LAYOUT_BUILD_H
#define AFFINITY_LAYOUT_BUILD_H

#include "affinity/layout/node_class.h"
#include "affinity/layout/positions.h"
#include "affinity/policy/policy.h"
#include "affinity/taskmap/taskmap_scheme.h"
#include "base/hash_table.h"

#define NO_BINDING UINT32_MAX

/* Parts that are placed as if they were one program. */
struct placement {
    uint32_t first_part, nparts;
    uint32_t ntasks;
    bool fill; /* --per without -n: ntasks is whatever fits, and not known before */
    struct policy policy;
    const struct rankfile *rankfile; /* of the first part; or NULL */
    const struct layout_slot *slots; /* likewise */
    struct taskmap_scheme deal;      /* of the first part */
};

/* A binding's rows, as runs in spans[]. They are rows of the topo, so that kinds which differ only
 * elsewhere share a binding. */
struct binding_rows {
    const struct topo *topo;
    uint32_t first_span, nspans;
};

struct layout_build {
    const struct layout_request *request;
    struct kinds kinds;
    struct layout *layout;
    struct placement *runs;
    uint32_t nruns;
    uint32_t *run_of;              /* by part */
    uint32_t *part_tasks;          /* by part, defaults filled in */
    struct binding_rows *bindings; /* beside layout->bindings */
    struct rows *spans;
    uint32_t nspans;
    size_t span_capacity;
    struct hash_table binding_numbers;
    struct hash_table set_numbers; /* of layout->gpu_sets */
    struct idset **node_gpus; /* by node: GPUs that tasks there were given; NULL: none so far */
    uint32_t *node_tasks;     /* by node of the request: tasks placed there so far */
    uint32_t *chosen;         /* the nodes that the n loop goes over */
    uint32_t nchosen;
    uint32_t rotation; /* with node_count: whose turn it is to get one more than the rest */
};

/* With room for all runs, and all nodes chosen; end() frees all but the layout. */
void layout_build_start(struct layout_build *builder, const struct layout_request *request);
void layout_build_end(struct layout_build *builder);

const struct policy *layout_build_policy(const struct layout_build *builder,
                                         const struct layout_task *task);
const struct node_class *layout_build_kind(const struct layout_build *builder, uint32_t node);

#endif
