/*
 * part_options - where the tasks of one part of a program are to run, as the command line says it.
 */
#ifndef AFFINITY_POLICY_PART_OPTIONS_H
#define AFFINITY_POLICY_PART_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/policy/rankfile.h"
#include "affinity/sets/idset.h"

/* What one task of a part with a shape gets, exactly: of what its node was allocated. */
struct layout_slot {
    uint32_t node; /* index into the nodes of the request */
    const struct idset *cores, *gpus;
};

struct layout_part {
    uint32_t ntasks;         /* 0: one, or one a node with node_count, ... (CLI: -n) */
    bool fill;               /* with ntasks 0: all that fit. Past the cores where a node has a limit
                                and oversubscribe is set */
    uint32_t cores_per_task; /* -c; 0: not given */
    uint32_t gpus_per_task;  /* -g; 0: not given */
    const char *map;         /* --map-by, or NULL */
    const char *bind;        /* --bind-to, or NULL */
    const char *order;       /* --order / --rank-by, or NULL */
    const char *mppr;        /* --mppr, or NULL */
    const char *per;         /* --per, or NULL: with it ntasks 0 is all that fit */
    const char *gpu_bind;    /* --gpu-bind, or NULL */
    const char *taskmap;     /* --taskmap, or NULL */
    /* --rankfile, or NULL; borrowed. Its rank 0, like that of the task map, is the part's first. */
    const struct rankfile *rankfile;
    /* Nodes of the request that may be used; NULL: all. Borrowed; not with node_count. */
    const struct idset *only;
    const char *shape; /* --shape, or NULL: what was allocated */
    uint32_t nslots;   /* it gave so many slots, of which each task is to have one; 0: no shape */
    const struct layout_slot *slots; /* rank i of the part is bound to slot i; NULL: it is mapped */
    bool oversubscribe;
    const char *program; /* for pictures; may be NULL */
    bool local_memory;   /* --mem-bind local; places nothing, but is shown */
};

#endif
