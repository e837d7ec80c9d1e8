/*
 * policy - the map, bind, limit and order strings of one part, parsed.
 *
 * Knows the words and letters, not the hardware: what a level means on a node is read there. The
 * words are the full-form strings that tprun-layout(7) lists; from here on only letters count,
 * and that a word was used is kept for what is refused by word.
 */
#ifndef AFFINITY_POLICY_POLICY_H
#define AFFINITY_POLICY_POLICY_H

#include "affinity/policy/part_options.h"
#include "affinity/topology/topo.h"
#include "base/error.h"

enum policy_bind {
    POLICY_BIND_OBJECTS,  /* to bind_count objects of bind_level */
    POLICY_BIND_TOGETHER, /* a node's tasks to the cores of all their places */
    POLICY_BIND_NONE
};

enum policy_gpu_bind {
    POLICY_GPUS_OWN,     /* a task sees those that it was given */
    POLICY_GPUS_CLOSEST, /* those nearest to what it is bound to, shared */
    POLICY_GPUS_UNTOUCHED
};

struct policy_limit {
    uint32_t count;
    enum topo_level level;
};

struct policy {
    enum topo_level loops[TOPO_NLEVELS]; /* innermost first */
    uint32_t nloops;
    uint32_t node_loop;       /* where the letter n stands in loops */
    enum topo_level map_word; /* TOPO_NLEVELS: it was a map string, or nothing was said */
    enum policy_bind bind;
    uint32_t bind_count;
    enum topo_level bind_level;
    enum topo_level bind_word; /* as map_word */
    struct policy_limit limits[TOPO_NLEVELS];
    uint32_t nlimits;
    bool limits_given; /* --mppr was */
    bool sequential;
    bool oversubscribe;
    uint32_t cores_per_task; /* slots of so many cores; 0: none are cut */
    uint32_t gpus_per_task;  /* each task gets so many; 0: none are given out */
    uint32_t gpu_tasks;      /* so many tasks share each GPU: 1, or N of --per N:gpu */
    enum policy_gpu_bind gpu_bind;
    bool bind_domain;   /* bound to the locality domain of its GPUs; bind_level does not count */
    uint32_t per_count; /* of --per; 0: not given */
    enum topo_level per_level; /* of --per; TOPO_NLEVELS: gpu */
};

/* 0, or -1 with a sentence of kind ERROR_USAGE that says which character is wrong. */
int policy_parse(const struct layout_part *part, struct policy *policy, struct error *err);

/* The part has layout options of its own; one without them goes on as the part before. */
bool policy_is_own(const struct layout_part *part);

bool policy_is_full(const struct policy *policy); /* names all nine levels */
/* A task bound to cores or hardware threads occupies them; any other only its place. */
bool policy_is_narrow(const struct policy *policy);
/* Ranks go round the nodes: n is the first loop, or the second as in WORD:span. */
bool policy_is_cyclic(const struct policy *policy);

bool policy_is_per_gpu(const struct policy *policy); /* --per N:gpu */
bool policy_uses_gpus(const struct policy *policy);

#endif
