/* Hosts that a program's first tasks may be placed on, and what they may use of each, for first_plan.c. */
#include "launcher/plan/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void candidates_clear(struct candidates *candidates)
{
    for (uint32_t i = 0; i < candidates->count && !candidates->from; i++) {
        idset_free((struct idset *)(uintptr_t)candidates->nodes[i].cores);
        idset_free((struct idset *)(uintptr_t)candidates->nodes[i].gpus);
    }
    for (size_t i = 0; candidates->only && i < candidates->nparts; i++)
        idset_free(candidates->only[i]);
    free(candidates->only);
    rset_free(candidates->from);
    free(candidates->nodes);
    free(candidates->hosts);
    *candidates = (struct candidates){0};
}

void candidates_keep(struct candidates *candidates, const struct rset_node *node)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < candidates->count; i++) {
        struct layout_node *at = &candidates->nodes[i];
        idset_free((struct idset *)(uintptr_t)at->cores);
        idset_free((struct idset *)(uintptr_t)at->gpus);
        if (strcmp(at->host, node->host) != 0)
            continue;
        candidates->hosts[kept] = candidates->hosts[i];
        candidates->nodes[kept] = *at;
        candidates->nodes[kept].cores = idset_copy(node->children->cores);
        candidates->nodes[kept++].gpus = idset_copy(node->children->gpus);
    }
    candidates->count = kept;
}

/* Most tasks that a node takes; 0: as many as fit, or with *full none. Where cores were granted,
 * tasks with -c take several, and those that other programs hold are gone. */
static uint32_t task_limit(const struct candidates_source *source, uint32_t host, bool *full)
{
    const struct host_table *hosts = resources_hosts(source->resources);
    const struct node *node = host_at(hosts, host)->node;
    bool limits_cores = host_nodes(hosts)->limits_cores;
    const struct rset_node *held = resources_held_of(source->resources, host);
    size_t taken = held ? idset_count(held->children->cores) : 0;
    uint32_t widest = 1;
    bool more = false;
    *full = false;
    if (limits_cores && source->shapes) /* what was allocated keeps to it */
        return 0;
    if (!limits_cores || !node->limit)
        return node->limit;
    for (size_t i = 0; i < source->spec->nparts; i++) {
        const struct spec_part *part = &source->spec->parts[i];
        widest = part->cores_per_task > widest ? part->cores_per_task : widest;
        more = more || part->oversubscribe;
    }
    uint32_t limit = taken < node->limit ? (uint32_t)(node->limit - taken) / widest : 0;
    *full = !limit && !more;
    return limit || !more ? limit : 1;
}

/* R told what there is before it was known what tprun's own environment hides. */
static int granted_gpus(const struct candidates_source *source, uint32_t host, struct idset **gpus,
                        struct error *err)
{
    const struct rset_node *granted = shape_allocation_of(source->shapes, host);
    struct idset *seen;
    *gpus = NULL;
    if (!granted || idset_empty(granted->children->gpus))
        return 0;
    if (resources_gpus(source->resources, host, &seen, err) < 0)
        return -1;
    bool all = seen && idset_within(granted->children->gpus, seen);
    idset_free(seen);
    if (!all)
        return error_set(err,
                         "%s: the shape was given GPUs that tprun's own environment hides "
                         "(CUDA_VISIBLE_DEVICES and the like): unset it, or take them out of R",
                         granted->host);
    *gpus = idset_copy(granted->children->gpus);
    return 0;
}

void candidates_add(struct candidates *candidates, const struct host *host,
                    const struct idset *cores, const struct idset *gpus, uint32_t limit)
{
    uint32_t count = candidates->count++;
    candidates->hosts = array_grow(candidates->hosts, count, sizeof(*candidates->hosts));
    candidates->nodes = array_grow(candidates->nodes, count, sizeof(*candidates->nodes));
    candidates->hosts[count] = host->number; /* its position for rank files as well */
    candidates->nodes[count] = (struct layout_node){.host = host->node->host,
                                                    .target = host->node->target,
                                                    .topo = host->topo,
                                                    .cores = cores,
                                                    .gpus = gpus,
                                                    .limit = limit};
}

/* One that has nothing free is left out. */
static int add_wanted(const struct candidates_source *source, const struct host *host,
                      struct candidates *candidates, struct error *err)
{
    uint32_t number = host->number;
    const struct rset_node *granted = shape_allocation_of(source->shapes, number);
    struct idset *cores = !source->shapes ? resources_free_cores(source->resources, number)
                          : granted       ? idset_copy(granted->children->cores)
                                          : idset_new();
    struct idset *gpus;
    bool full;
    uint32_t limit = task_limit(source, number, &full);
    if (full || idset_empty(cores)) {
        idset_free(cores);
        return 0;
    }
    int rc = source->shapes ? granted_gpus(source, number, &gpus, err)
                            : resources_free_gpus(source->resources, number, &gpus, err);
    if (rc == 0)
        candidates_add(candidates, host, cores, gpus, limit);
    else
        idset_free(cores);
    return rc;
}

int candidates_find(const struct candidates_source *source, struct candidates *candidates,
                    struct error *err)
{
    const struct host_table *hosts = resources_hosts(source->resources);
    int rc = 0;
    IDSET_FOREACH(number, host_used(hosts))
    {
        const struct host *host = host_at(hosts, number);
        if (host->topo && (!source->choice || host_choice_wants(source->choice, number)))
            rc = add_wanted(source, host, candidates, err);
        if (rc < 0)
            break;
    }
    return rc;
}
