/*
 * builder - a layout in the making, shared by the steps of layout_make().
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
struct run {
    uint32_t first_part, nparts;
    uint32_t ntasks;
    bool fill; /* --per without -n: ntasks is whatever fits, and not known before */
    struct policy policy;
    const struct rankfile *rankfile; /* of the first part; or NULL */
    const struct layout_slot *slots; /* likewise */
    struct deal deal;                /* of the first part */
};

/* A binding's rows, as runs in spans[]. They are rows of the topo, so that kinds which differ only
 * elsewhere share a binding. */
struct binding_rows {
    const struct topo *topo;
    uint32_t first_span, nspans;
};

struct builder {
    const struct layout_request *request;
    struct kinds kinds;
    struct layout *layout;
    struct run *runs;
    uint32_t nruns;
    uint32_t *run_of;              /* by part */
    uint32_t *part_tasks;          /* by part, defaults filled in */
    struct binding_rows *bindings; /* beside layout->bindings */
    struct rows *spans;
    uint32_t nspans;
    uint32_t binding_room, span_room;
    struct table binding_numbers;
    struct table set_numbers; /* of layout->gpu_sets */
    uint32_t set_room;
    struct idset **node_gpus; /* by node: GPUs that tasks there were given; NULL: none so far */
    uint32_t *node_tasks;     /* by node of the request: tasks placed there so far */
    uint32_t *chosen;         /* the nodes that the n loop goes over */
    uint32_t nchosen;
    uint32_t rotation; /* with node_count: whose turn it is to get one more than the rest */
};

/* With room for all runs, and all nodes chosen; end() frees all but the layout. */
void builder_start(struct builder *builder, const struct layout_request *request);
void builder_end(struct builder *builder);

const struct policy *builder_policy(const struct builder *builder, const struct layout_task *task);
const struct kind *builder_kind(const struct builder *builder, uint32_t node);

/* layout_bindings.c: number of the binding made of these rows of a kind. */
uint32_t builder_bind(struct builder *builder, const struct kind *kind, const struct rows *spans,
                      uint32_t nspans);
/* The i-th run of a binding, as rows of a kind. */
struct rows builder_binding_rows(const struct builder *builder, const struct kind *kind,
                                 uint32_t binding, uint32_t i);
/* Bind what has no binding yet: tasks bound together, and tasks that are not bound. */
void builder_bind_rest(struct builder *builder);

/* layout_crowd.c: fill layout->crowd, when all else is there. */
void builder_find_crowd(const struct builder *builder);

/* layout_gpus.c: kinds of nodes for a run that gives out GPUs: by what earlier runs left. The two
 * are to be freed with builder_free_gpus() when the kinds are not needed any more. */
struct run_gpus {
    struct kind_gpus *nodes; /* by node of the request */
    struct idset **owned;    /* the sets that were made for it, two a node; may be NULL */
};
int builder_find_gpus(const struct builder *builder, struct run_gpus *gpus, struct kinds *kinds,
                      struct error *err);
void builder_free_gpus(const struct builder *builder, struct run_gpus *gpus);
/* The number of a set in layout->gpu_sets. */
uint32_t builder_gpu_set(struct builder *builder, const uint32_t *ids, uint32_t n);
/* The GPUs that a task at a position of a paired plan gets, which the program claims on the node from now on. */
uint32_t builder_give_gpus(struct builder *builder, const struct policy *policy,
                           const struct plan *plan, uint32_t position, uint32_t node);
/* The same for a set. */
uint32_t builder_give_set(struct builder *builder, const struct idset *gpus, uint32_t node);
/* --gpu-bind closest: when all tasks are bound. */
int builder_share_gpus(struct builder *builder, struct error *err);

/* layout_nodes.c: number the nodes that are used, count local ranks, make the claims and the task
 * map; from here on tasks are as layout.h has them. */
void builder_finish(struct builder *builder);

/* run.c: place one run behind those before; 0 or -1 with a sentence. */
struct placing;
int builder_place_run(struct builder *builder, struct run *run, struct error *err);

/* run_nodes.c: with node_count, choose so many nodes for the first run, each with room for its share;
 * or for one task, where as many as fit are to come. */
int builder_choose_nodes(struct builder *builder, struct placing *placing, const struct run *run,
                         struct error *err);
int builder_choose_any(struct builder *builder, struct placing *placing, struct run *run,
                       struct error *err);
/* Tasks by node, which the caller frees. */
uint32_t *builder_share_out(struct builder *builder, struct placing *placing,
                            const struct run *run);

/* run_deal.c: seats for a run with a task map, in the order of its ranks. */
int builder_deal(struct builder *builder, struct placing *placing, const struct run *run,
                 struct error *err);
/* run_rankfile.c: the same as builder_place_run for a run with a rank file. */
int builder_place_rankfile(struct builder *builder, const struct run *run, struct error *err);

/* run_slots.c: the same for a run with slots. */
int builder_place_slots(struct builder *builder, const struct run *run, struct error *err);

/* exact.c: what is allocated, as rank files and task maps count it. */
struct allocated {
    const char *const *hosts;
    uint32_t nhosts;
    uint32_t *node; /* of the request, for each host; NO_NODE where it is not to be used */
    const char **own;
};
#define NO_NODE UINT32_MAX
void allocated_make(struct allocated *allocated, const struct layout_request *request);
void allocated_free(struct allocated *allocated);

/* Options that stand against each other, and counts that no hardware can mend. */
int exact_check_part(const struct layout_part *part, const struct deal *deal, struct error *err);
/* What a part without a number that takes all that fits was told so by, for messages. */
const char *exact_fill_name(const struct layout_part *part);
/* The number of tasks that a rank file or a task map gives; 0: neither does. */
uint32_t exact_ntasks(const struct run *run);
/* Does the number of tasks agree with them? */
int exact_check_ntasks(const struct run *run, struct error *err);
/* And with the slots that a shape gave? */
int exact_check_slots(const struct layout_part *part, struct error *err);
/* A run took exactly these nodes (used[node of the request]): do they agree with node_count? */
int exact_check_nodes(struct builder *builder, const struct run *run, const bool *used,
                      struct error *err);

/* refusal.c and refusal_room.c: these all return -1 with a sentence. */
int refuse_word(const struct plans *plans, const struct policy *policy, struct error *err);
int refuse_no_place(const struct builder *builder, const struct run *run, const struct plans *plans,
                    struct error *err);
int refuse_gpus(const struct builder *builder, const struct run *run, const struct plans *plans,
                struct error *err);
int refuse_room(const struct builder *builder, const struct placing *placing, const struct run *run,
                struct error *err);
int refuse_node_count(const struct builder *builder, const struct placing *placing,
                      const struct run *run, const uint32_t *room, uint32_t share,
                      struct error *err);
/* A task map has `count` tasks on this node, where `fit` fit. */
int refuse_map_share(const struct builder *builder, const struct placing *placing,
                     const struct run *run, uint32_t node, uint32_t count, uint32_t fit,
                     struct error *err);

#endif
