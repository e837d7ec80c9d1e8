/*
 * layout - where every task runs: map, limit, bind, order (LAMA).
 *
 * A pure function: the same request gives the same layout, byte for byte. The policy strings are
 * those of the command line: words (`numa`, `core:span`) or LAMA map strings; man page
 * tprun-layout(7) has the rules. [Hursey, Squyres, Dontje: Locality-Aware Parallel Process
 * Mapping for Multi-Core HPC Systems, IEEE Cluster 2011]
 *
 * Parts of an MPMD program are placed in order; ranks are contiguous by part. A part without
 * layout options of its own goes on where the part before stopped. One with its own starts a new
 * pass over the hardware, and leaves out what earlier parts occupy.
 */
#ifndef AFFINITY_LAYOUT_LAYOUT_H
#define AFFINITY_LAYOUT_LAYOUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "affinity/policy/part_options.h"
#include "affinity/sets/idset.h"
#include "affinity/taskmap/taskmap.h"
#include "affinity/topology/topo.h"
#include "base/error.h"

#define LAYOUT_NO_GPUS UINT32_MAX

/* What of a layout is shown: a set. */
enum { LAYOUT_SHOW_ALLOC = 1, LAYOUT_SHOW_TOPO = 2, LAYOUT_SHOW_MAP = 4, LAYOUT_SHOW_BIND = 8 };

/* One node that may be used; everything borrowed for the length of the call and by the layout. Of
 * an allocated core, threads that topo does not allow do not exist. */
struct layout_node {
    const char *host;
    uint32_t target; /* its rank in R */
    const struct topo *topo;
    const struct idset
        *cores; /* allocated logical cores; one that topo does not allow is an error */
    const struct idset
        *gpus;      /* allocated GPUs, those that topo shows if it shows any; NULL: none */
    uint32_t limit; /* most tasks here (a hostfile's slots); 0: no limit */
};

/* With node_count, the first so many nodes that have room for an even share are used, and each gets
 * its share. Ranks go in blocks, node by node, unless the map goes round the nodes: n first, or second
 * as in WORD:span. */
struct layout_request {
    const struct layout_node *nodes;
    uint32_t nnodes;
    const char *slots_where; /* what the nodes' limits stand in; NULL: "in the host file" */
    bool claim_all;          /* what the nodes have is the program's, used or not */
    uint32_t node_count;     /* -N: exactly so many nodes; 0: as needed. See below */
    const struct layout_part *parts;
    uint32_t nparts;
    /* Where some of the nodes that were allocated are not to be used: the names of all, in order,
     * and which of them each node is. Rank files and task maps count these. NULL: nodes are all. */
    const char *const *hosts;
    uint32_t nhosts;
    const uint32_t *positions; /* [nnodes] */
};

struct layout_binding {  /* one distinct processor set; many tasks share it */
    struct idset *cpus;  /* OS index of each processor the task may run on */
    struct idset *cores; /* the logical cores they belong to */
};

struct layout_task {
    uint32_t node; /* node id: index into layout->nodes */
    uint32_t local_rank;
    uint32_t app;     /* index of the part */
    uint32_t binding; /* index into layout->bindings */
    uint32_t place;   /* the task's place: row of the node's topo table */
    uint32_t gpus;    /* the GPUs that it may see: index into layout->gpu_sets, or LAYOUT_NO_GPUS */
};

struct layout_used_node { /* a node that holds at least one task, ids dense from 0 */
    uint32_t source;      /* index into request->nodes */
    uint32_t ntasks;
    struct idset *claim; /* logical cores that the program claims there */
    struct idset *gpus;  /* GPUs that it claims there; NULL where no part asked for any */
};

/* Cores that are shared where no limit speaks of cores (--per, --mppr), without --oversubscribe. */
struct layout_crowd {
    uint32_t each;   /* the most tasks to a core; 0: nowhere more than one */
    uint32_t node;   /* id of the first node with this number of tasks on a core */
    uint32_t nnodes; /* that have more than one to a core */
};

struct layout {
    struct layout_task *tasks; /* by rank */
    uint32_t ntasks;
    struct layout_used_node *nodes;
    uint32_t nnodes;
    struct layout_binding *bindings;
    uint32_t nbindings;
    struct idset **gpu_sets; /* distinct sets of GPUs, logical ids as in R; many tasks share one */
    uint32_t ngpu_sets;
    bool gpus_assigned; /* some part asked for GPUs: a task without any is to see none */
    struct taskmap *map;
    bool bound; /* false: --bind-to none, each task may use all that is free on its node */
    struct layout_crowd crowd;
    bool oversubscribed; /* more tasks than the limits allow were placed */
};

/* NULL with a sentence: kind ERROR_USAGE for a wrong policy string (with the place in it),
 * ERROR_REFUSED for what does not fit (how many fit, what each limit allowed, which option would
 * let it run). */
struct layout *layout_make(const struct layout_request *request, struct error *err);
void layout_free(struct layout *layout);

/* Check the policy strings of a part without any hardware: 0, or -1 with a sentence. */
int layout_check_part(const struct layout_part *part, struct error *err);

/* The JSON object of `--dry-run --format=json`, its key "R" being `r` (borrowed; left out for
 * NULL). Nodes are named from the request. The text goes to put() in pieces of some 256 KiB, since
 * that of very many tasks is large. */
void layout_print_json(const struct layout *layout, const struct layout_request *request,
                       const json_t *r, void (*put)(void *arg, const char *text), void *arg);

#endif
