/*
 * launch - the one message that tells every agent what to run: a group of tasks, the program's
 * first, or one that is added while others run.
 *
 * It holds the spec, whose environment stands behind the JSON (environment_block.h), the task map,
 * and the layouts of the nodes. Equal layouts are written once: the size of the message depends on
 * how many different ones there are, not on the number of tasks.
 */
#ifndef LAUNCHER_PROTOCOL_LAUNCH_H
#define LAUNCHER_PROTOCOL_LAUNCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "affinity/layout/layout.h"
#include "affinity/taskmap/taskmap.h"
#include "base/error.h"
#include "launcher/protocol/pair.h"
#include "launcher/spec/spec.h"

struct launch_task { /* one task of this node */
    uint32_t rank;   /* in its group */
    uint32_t local_rank;
    uint32_t app;     /* part of the spec */
    uint32_t binding; /* index into launch->cpus */
    uint32_t gpus;    /* index into launch->gpus; LAYOUT_NO_GPUS: none */
};

struct launch {
    uint32_t group;
    uint32_t first_rank;   /* of the program: of this group's rank 0 */
    bool spawned;          /* by a task */
    uint32_t spawner;      /* that task's group */
    uint32_t spawner_rank; /* its rank there */
    struct pair *preput;   /* what its key-value space holds at the start */
    size_t npreput;
    struct spec *spec; /* its parts are the group's */
    char *program;     /* id */
    char *instance;    /* directory */
    char *instance_id;
    char *resources; /* what the program holds, an R as text; NULL: too long to be handed on */
    char *enclosing; /* numbers of this program and of those it runs in, as an idset */
    uint32_t ntasks; /* of the group */
    uint32_t *sizes; /* [nparts of the spec] tasks of each part */
    struct taskmap *map;
    uint32_t nnodes;
    uint32_t *tree_node; /* [nnodes] where each node id is in the tree */
    char **hosts;        /* [nnodes] */

    /* this node's part */
    uint32_t node;             /* node id; UINT32_MAX when it only relays */
    struct launch_task *tasks; /* by local rank, which is by rank */
    uint32_t nlocal;
    struct idset *input_ranks; /* of SPEC_INPUT_RANKS; else NULL */
    struct idset **cpus;       /* distinct bindings, OS indexes */
    uint32_t ncpus;
    struct idset *claim; /* logical cores that an unbound program holds here; NULL: it is bound,
                            claims nothing, or this node cannot keep it there */
    bool gpus_assigned;  /* false: what tasks see of GPUs is left alone */
    struct idset **gpus; /* distinct sets, logical ids as in R */
    uint32_t ngpus;
};

struct launch_source { /* what the manager knows; all borrowed */
    uint32_t group;
    uint32_t first_rank;
    bool spawned;
    uint32_t spawner, spawner_rank;
    const struct pair *preput;
    size_t npreput;
    const struct spec *spec;
    const struct layout *layout;
    const char *program;
    const char *instance;
    const char *instance_id;
    const char *resources; /* or NULL */
    const char *enclosing;
    const uint32_t *tree_node; /* [layout->nnodes] */
    const char *const *hosts;  /* [layout->nnodes] */
};

/* Without the environment; new reference. */
json_t *launch_to_json(const struct launch_source *source);

/* Tasks of each part; caller frees. */
uint32_t *launch_part_sizes(const struct layout *layout, size_t nparts);
/* More tasks of it are on this node than processors that they may use. */
bool launch_is_crowded(const struct launch *launch);
/* What PMIx calls a group of a program; caller frees. */
char *launch_namespace(const char *instance_id, const char *program, uint32_t group);
/* The parts of a spec, [nparts], of so many tasks each, as PMIx tells of the parts of a job: they
 * borrow of the spec. Caller frees. */
struct namespace_app *launch_namespace_apps(const struct spec *spec, const uint32_t *sizes);
/* The name of the key-value space of PMI-1 and PMI-2 of a group; caller frees. */
char *launch_kvsname(const char *program, uint32_t group);
/* The decoded input_arg of SPEC_INPUT_RANKS, which the caller frees; NULL for other inputs. */
struct idset *launch_input_ranks(const struct spec *spec);
/* Nodes of the tree that have a task which reads stdin; caller frees. */
struct idset *launch_input_nodes(const struct spec *spec, const struct taskmap *map,
                                 const uint32_t *tree_node, uint32_t nnodes);
/* Whether this task has a terminal of its own. */
bool launch_has_terminal(const struct launch *launch, const struct launch_task *task);
/* Whether a rank reads stdin. `ranks` as launch_input_ranks() gives them. */
bool launch_reads_input(const struct spec *spec, const struct idset *ranks, uint32_t rank);

/* The part of the agent at `tree_node`, without the environment. NULL with a sentence. */
struct launch *launch_from_json(const json_t *value, uint32_t tree_node, struct error *err);
void launch_free(struct launch *launch);

#endif
