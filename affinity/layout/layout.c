/* layout_make(): the steps of a layout in their order. */
#include "affinity/layout/layout.h"

#include <stdlib.h>

#include "affinity/layout/allocated_hosts.h"
#include "affinity/layout/bind.h"
#include "affinity/layout/binding_sets.h"
#include "affinity/layout/build.h"
#include "affinity/layout/gpu_closest.h"
#include "affinity/layout/gpu_sets.h"
#include "affinity/layout/node_class.h"
#include "affinity/layout/node_count.h"
#include "affinity/layout/place.h"
#include "affinity/layout/placement.h"
#include "affinity/layout/used_nodes.h"
#include "base/mem.h"

int layout_check_part(const struct layout_part *part, struct error *err)
{
    struct policy policy;
    struct taskmap_scheme scheme;
    if (taskmap_scheme_parse(part->taskmap, &scheme, err) < 0)
        return -1;
    int rc = allocated_check_part(part, &scheme, err);
    taskmap_scheme_free(&scheme);
    return rc < 0 ? -1 : policy_parse(part, &policy, err);
}

static int place_all(struct layout_build *build, struct placements *placements, struct error *err)
{
    for (uint32_t i = 0; i < placements->count; i++) {
        struct placement *placement = &placements->list[i];
        if (place_placement(build, placement, err) < 0)
            return -1;
        build->layout->bound |= placement->policy.bind != POLICY_BIND_NONE;
        build->layout->gpus_assigned |= policy_uses_gpus(&placement->policy);
    }
    bind_rest(build);
    if (gpu_closest_share(build, err) < 0)
        return -1;
    used_nodes_finish(build);
    return 0;
}

struct layout *layout_make(const struct layout_request *request, struct error *err)
{
    struct placements placements;
    struct node_classes classes = {.nclasses = 0};
    struct node_choice choice = {.nodes = mem_array(request->nnodes, sizeof(*choice.nodes))};
    struct layout_build build = {.request = request,
                                 .placements = &placements,
                                 .classes = &classes,
                                 .layout = mem_alloc(sizeof(*build.layout)),
                                 .node_tasks = mem_array(request->nnodes, sizeof(uint32_t)),
                                 .choice = &choice,
                                 .bindings = binding_sets_new(),
                                 .gpu_sets = gpu_sets_new(request->nnodes)};
    node_choice_all(&choice, request->nnodes, NULL);
    int rc = placements_make(&placements, request, err);
    if (rc == 0)
        rc = node_classes_make(&classes, request, NULL, err);
    if (rc == 0)
        rc = place_all(&build, &placements, err);
    placements_free(&placements);
    node_classes_free(&classes);
    binding_sets_free(build.bindings);
    gpu_sets_free(build.gpu_sets);
    free(build.node_tasks);
    free(choice.nodes);
    if (rc == 0)
        return build.layout;
    layout_free(build.layout);
    return NULL;
}

void layout_free(struct layout *layout)
{
    if (!layout)
        return;
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        idset_free(layout->nodes[i].claim);
        idset_free(layout->nodes[i].gpus);
    }
    for (uint32_t i = 0; i < layout->ngpu_sets; i++)
        idset_free(layout->gpu_sets[i]);
    free(layout->gpu_sets);
    for (uint32_t i = 0; i < layout->nbindings; i++) {
        idset_free(layout->bindings[i].cpus);
        idset_free(layout->bindings[i].cores);
    }
    taskmap_free(layout->map);
    free(layout->nodes);
    free(layout->bindings);
    free(layout->tasks);
    free(layout);
}
