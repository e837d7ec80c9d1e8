/* Parts to placements, and how many tasks each part has, before anything is placed. */
#include "affinity/layout/placement.h"

#include <stdlib.h>

#include "affinity/layout/allocated_hosts.h"
#include "base/mem.h"

static int group_parts(struct placements *placements, const struct layout_request *request,
                       struct error *err)
{
    for (uint32_t i = 0; i < request->nparts; i++) {
        const struct layout_part *part = &request->parts[i];
        if (i == 0 || policy_is_own(part)) {
            struct placement *fresh = &placements->list[placements->count];
            *fresh = (struct placement){.number = placements->count++,
                                        .first_part = i,
                                        .rankfile = part->rankfile,
                                        .slots = part->slots};
            if (taskmap_scheme_parse(part->taskmap, &fresh->taskmap, err) < 0 ||
                allocated_check_part(part, &fresh->taskmap, err) < 0 ||
                policy_parse(part, &fresh->policy, err) < 0)
                return -1;
            fresh->fill = (part->per || part->fill) && !part->ntasks && !allocated_ntasks(fresh) &&
                          !part->nslots;
        }
        struct placement *placement = &placements->list[placements->count - 1];
        if (placement->fill && i > placement->first_part)
            return error_usage(err,
                               "part %u: %s takes all that fits, so nothing is left for part %u, "
                               "which goes on behind it; give it a -n",
                               placement->first_part + 1,
                               allocated_fill_name(&request->parts[placement->first_part]), i + 1);
        placements->of_part[i] = placement->number;
        placement->nparts++;
        placement->policy.oversubscribe = placement->policy.oversubscribe || part->oversubscribe;
    }
    return 0;
}

/* Where every placement says which nodes it takes, these are all that is asked for. */
static bool all_are_exact(const struct placements *placements)
{
    for (uint32_t i = 0; i < placements->count; i++)
        if (!allocated_ntasks(&placements->list[i]))
            return false;
    return true;
}

/* Sums of what is asked for; those that fill are left out. */
static int count_tasks(struct placements *placements, const struct layout_request *request,
                       uint64_t *total, struct error *err)
{
    for (uint32_t i = 0; i < request->nparts; i++) {
        struct placement *placement = &placements->list[placements->of_part[i]];
        const struct layout_part *part = &request->parts[i];
        uint32_t exact = placement->nparts == 1 ? allocated_ntasks(placement) : 0;
        if (placement->fill)
            continue;
        uint32_t ntasks = part->ntasks          ? part->ntasks
                          : exact               ? exact
                          : part->nslots        ? part->nslots
                          : request->node_count ? request->node_count
                                                : 1;
        placements->part_tasks[i] = ntasks;
        placement->ntasks += ntasks;
        *total += ntasks;
    }
    if (*total > PROGRAM_MAX_TASKS)
        return error_usage(err, "%llu tasks are more than the %u that one program may have",
                           (unsigned long long)*total, PROGRAM_MAX_TASKS);
    for (uint32_t i = 0; i < placements->count; i++)
        if (allocated_check_ntasks(&placements->list[i], err) < 0)
            return -1;
    for (uint32_t i = 0; i < request->nparts; i++)
        if (allocated_check_slots(&request->parts[i], err) < 0)
            return -1;
    return 0;
}

static int check_node_count(const struct placements *placements,
                            const struct layout_request *request, uint64_t ntasks,
                            struct error *err)
{
    bool fills = false;
    for (uint32_t i = 0; i < placements->count; i++)
        fills = fills || placements->list[i].fill;
    if (request->node_count > request->nnodes && !all_are_exact(placements))
        return error_set(err, "-N %u: there %s only %u node%s to choose from", request->node_count,
                         request->nnodes == 1 ? "is" : "are", request->nnodes,
                         request->nnodes == 1 ? "" : "s");
    if (!fills && ntasks < request->node_count)
        return error_usage(err,
                           "-N %u: %llu task%s cannot occupy %u nodes, every node gets at least "
                           "one; ask for -n %u or more, or fewer nodes",
                           request->node_count, (unsigned long long)ntasks, ntasks == 1 ? "" : "s",
                           request->node_count, request->node_count);
    return 0;
}

int placements_make(struct placements *placements, const struct layout_request *request,
                    struct error *err)
{
    uint64_t ntasks = 0;
    *placements = (struct placements){
        .list = mem_array(request->nparts, sizeof(*placements->list)),
        .of_part = mem_array(request->nparts, sizeof(*placements->of_part)),
        .part_tasks = mem_array(request->nparts, sizeof(*placements->part_tasks))};
    if (group_parts(placements, request, err) < 0)
        return -1;
    if (request->nnodes == 0 && !all_are_exact(placements)) /* those say what is wrong */
        return error_set(err, "no node is left to run on");
    if (count_tasks(placements, request, &ntasks, err) < 0)
        return -1;
    return check_node_count(placements, request, ntasks, err);
}

void placements_free(struct placements *placements)
{
    for (uint32_t i = 0; i < placements->count; i++)
        taskmap_scheme_free(&placements->list[i].taskmap);
    free(placements->list);
    free(placements->of_part);
    free(placements->part_tasks);
}
