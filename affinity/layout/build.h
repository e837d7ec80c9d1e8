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

/* binding_sets.c: number of the binding made of these rows of a kind. */
uint32_t layout_build_bind(struct layout_build *builder, const struct node_class *kind,
                           const struct rows *spans, uint32_t nspans);
/* The i-th run of a binding, as rows of a kind. */
struct rows layout_build_binding_rows(const struct layout_build *builder,
                                      const struct node_class *kind, uint32_t binding, uint32_t i);
/* Bind what has no binding yet: tasks bound together, and tasks that are not bound. */
void layout_build_bind_rest(struct layout_build *builder);

/* shared_cores.c: fill layout->crowd, when all else is there. */
void layout_build_find_crowd(const struct layout_build *builder);

/* gpu_sets.c: kinds of nodes for a run that gives out GPUs: by what earlier runs left. The two
 * are to be freed with layout_build_free_gpus() when the kinds are not needed any more. */
struct placement_gpus {
    struct node_class_gpus *nodes; /* by node of the request */
    struct idset **owned;          /* the sets that were made for it, two a node; may be NULL */
};
int layout_build_find_gpus(const struct layout_build *builder, struct placement_gpus *gpus,
                           struct kinds *kinds, struct error *err);
void layout_build_free_gpus(const struct layout_build *builder, struct placement_gpus *gpus);
/* The number of a set in layout->gpu_sets. */
uint32_t layout_build_gpu_set(struct layout_build *builder, const uint32_t *ids, uint32_t n);
/* The GPUs that a task at a position of a paired plan gets, which the program claims on the node from now on. */
uint32_t layout_build_give_gpus(struct layout_build *builder, const struct policy *policy,
                                const struct positions *plan, uint32_t position, uint32_t node);
/* The same for a set. */
uint32_t layout_build_give_set(struct layout_build *builder, const struct idset *gpus,
                               uint32_t node);
/* --gpu-bind closest: when all tasks are bound. */
int layout_build_share_gpus(struct layout_build *builder, struct error *err);

/* node_claims.c: number the nodes that are used, count local ranks, make the claims and the task
 * map; from here on tasks are as layout.h has them. */
void layout_build_finish(struct layout_build *builder);

/* place.c: place one run behind those before; 0 or -1 with a sentence. */
struct passes;
int layout_build_place_run(struct layout_build *builder, struct placement *run, struct error *err);

/* node_count.c: with node_count, choose so many nodes for the first run, each with room for its share;
 * or for one task, where as many as fit are to come. */
int layout_build_choose_nodes(struct layout_build *builder, struct passes *placing,
                              const struct placement *run, struct error *err);
int layout_build_choose_any(struct layout_build *builder, struct passes *placing,
                            struct placement *run, struct error *err);
/* Tasks by node, which the caller frees. */
uint32_t *layout_build_share_out(struct layout_build *builder, struct passes *placing,
                                 const struct placement *run);

/* place_taskmap.c: seats for a run with a task map, in the order of its ranks. */
int layout_build_deal(struct layout_build *builder, struct passes *placing,
                      const struct placement *run, struct error *err);
/* place_rankfile.c: the same as layout_build_place_run for a run with a rank file. */
int layout_build_place_rankfile(struct layout_build *builder, const struct placement *run,
                                struct error *err);

/* place_slots.c: the same for a run with slots. */
int layout_build_place_slots(struct layout_build *builder, const struct placement *run,
                             struct error *err);

/* allocated_hosts.c: what is allocated, as rank files and task maps count it. */
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
int allocated_check_part(const struct layout_part *part, const struct taskmap_scheme *deal,
                         struct error *err);
/* What a part without a number that takes all that fits was told so by, for messages. */
const char *allocated_fill_name(const struct layout_part *part);
/* The number of tasks that a rank file or a task map gives; 0: neither does. */
uint32_t allocated_ntasks(const struct placement *run);
/* Does the number of tasks agree with them? */
int allocated_check_ntasks(const struct placement *run, struct error *err);
/* And with the slots that a shape gave? */
int allocated_check_slots(const struct layout_part *part, struct error *err);
/* A run took exactly these nodes (used[node of the request]): do they agree with node_count? */
int allocated_check_nodes(struct layout_build *builder, const struct placement *run,
                          const bool *used, struct error *err);

/* infeasible.c and infeasible.c: these all return -1 with a sentence. */
int infeasible_word(const struct all_positions *plans, const struct policy *policy,
                    struct error *err);
int infeasible_no_place(const struct layout_build *builder, const struct placement *run,
                        const struct all_positions *plans, struct error *err);
int infeasible_gpus(const struct layout_build *builder, const struct placement *run,
                    const struct all_positions *plans, struct error *err);
int infeasible_room(const struct layout_build *builder, const struct passes *placing,
                    const struct placement *run, struct error *err);
int infeasible_node_count(const struct layout_build *builder, const struct passes *placing,
                          const struct placement *run, const uint32_t *room, uint32_t share,
                          struct error *err);
/* A task map has `count` tasks on this node, where `fit` fit. */
int infeasible_map_share(const struct layout_build *builder, const struct passes *placing,
                         const struct placement *run, uint32_t node, uint32_t count, uint32_t fit,
                         struct error *err);

#endif
