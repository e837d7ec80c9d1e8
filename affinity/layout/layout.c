#include "affinity/layout/layout.h"

#include <stdlib.h>

#include "affinity/layout/allocated_hosts.h"
#include "affinity/layout/bind.h"
#include "affinity/layout/build.h"
#include "affinity/layout/gpu_sets.h"
#include "affinity/layout/node_claims.h"
#include "affinity/layout/place.h"

int layout_check_part(const struct layout_part *part, struct error *err)
{
    struct policy policy;
    struct taskmap_scheme deal;
    if (taskmap_scheme_parse(part->taskmap, &deal, err) < 0)
        return -1;
    int rc = allocated_check_part(part, &deal, err);
    taskmap_scheme_free(&deal);
    return rc < 0 ? -1 : policy_parse(part, &policy, err);
}

static int run_start(struct placement *run, const struct layout_part *part, struct error *err)
{
    run->rankfile = part->rankfile;
    run->slots = part->slots;
    if (taskmap_scheme_parse(part->taskmap, &run->deal, err) < 0 ||
        allocated_check_part(part, &run->deal, err) < 0)
        return -1;
    run->fill =
        (part->per || part->fill) && !part->ntasks && !allocated_ntasks(run) && !part->nslots;
    return policy_parse(part, &run->policy, err);
}

/* A part without layout options joins the run before it. */
static int make_runs(struct layout_build *builder, struct error *err)
{
    const struct layout_request *request = builder->request;
    for (uint32_t i = 0; i < request->nparts; i++) {
        const struct layout_part *part = &request->parts[i];
        if (i == 0 || policy_is_own(part)) {
            struct placement *fresh = &builder->runs[builder->nruns++];
            *fresh = (struct placement){.first_part = i};
            if (run_start(fresh, part, err) < 0)
                return -1;
            builder->layout->gpus_assigned |= policy_uses_gpus(&fresh->policy);
        }
        struct placement *run = &builder->runs[builder->nruns - 1];
        if (run->fill && i > run->first_part)
            return error_usage(err,
                               "part %u: %s takes all that fits, so nothing is left for part %u, "
                               "which goes on behind it; give it a -n",
                               run->first_part + 1,
                               allocated_fill_name(&request->parts[run->first_part]), i + 1);
        builder->run_of[i] = builder->nruns - 1;
        run->nparts++;
        run->policy.oversubscribe = run->policy.oversubscribe || part->oversubscribe;
    }
    return 0;
}

/* Where every run says which nodes it takes, these are all that is asked for. */
static bool all_are_exact(const struct layout_build *builder)
{
    for (uint32_t i = 0; i < builder->nruns; i++)
        if (!allocated_ntasks(&builder->runs[i]))
            return false;
    return true;
}

static int check_node_count(const struct layout_build *builder, uint64_t ntasks, struct error *err)
{
    const struct layout_request *request = builder->request;
    if (request->node_count > request->nnodes && !all_are_exact(builder))
        return error_set(err, "-N %u: there %s only %u node%s to choose from", request->node_count,
                         request->nnodes == 1 ? "is" : "are", request->nnodes,
                         request->nnodes == 1 ? "" : "s");
    if (ntasks < request->node_count)
        return error_usage(err,
                           "-N %u: %llu task%s cannot occupy %u nodes, every node gets at least "
                           "one; ask for -n %u or more, or fewer nodes",
                           request->node_count, (unsigned long long)ntasks, ntasks == 1 ? "" : "s",
                           request->node_count, request->node_count);
    return 0;
}

/* What a part has where -n was not given. */
static uint32_t default_tasks(const struct layout_build *builder, uint32_t part)
{
    const struct placement *run = &builder->runs[builder->run_of[part]];
    uint32_t exact = run->nparts == 1 ? allocated_ntasks(run) : 0;
    if (exact)
        return exact;
    if (builder->request->parts[part].nslots)
        return builder->request->parts[part].nslots;
    return builder->request->node_count ? builder->request->node_count : 1;
}

static int count_tasks(struct layout_build *builder, struct error *err)
{
    const struct layout_request *request = builder->request;
    uint64_t total = 0;
    bool fills = false;
    for (uint32_t i = 0; i < request->nparts; i++) {
        struct placement *run = &builder->runs[builder->run_of[i]];
        if (run->fill) {
            fills = true;
            continue;
        }
        uint32_t ntasks = request->parts[i].ntasks;
        builder->part_tasks[i] = ntasks ? ntasks : default_tasks(builder, i);
        run->ntasks += builder->part_tasks[i];
        total += builder->part_tasks[i];
    }
    if (total > PROGRAM_MAX_TASKS)
        return error_usage(err, "%llu tasks are more than the %u that one program may have",
                           (unsigned long long)total, PROGRAM_MAX_TASKS);
    for (uint32_t i = 0; i < builder->nruns; i++)
        if (allocated_check_ntasks(&builder->runs[i], err) < 0)
            return -1;
    for (uint32_t i = 0; i < request->nparts; i++)
        if (allocated_check_slots(&request->parts[i], err) < 0)
            return -1;
    return check_node_count(builder, fills ? UINT32_MAX : total, err);
}

static int build(struct layout_build *builder, struct error *err)
{
    if (make_runs(builder, err) < 0)
        return -1;
    if (builder->request->nnodes == 0 && !all_are_exact(builder)) /* those say what is wrong */
        return error_set(err, "no node is left to run on");
    if (count_tasks(builder, err) < 0 ||
        node_classes_make(&builder->kinds, builder->request, NULL, err) < 0)
        return -1;
    for (uint32_t i = 0; i < builder->nruns; i++)
        if (layout_build_place_run(builder, &builder->runs[i], err) < 0)
            return -1;
    for (uint32_t i = 0; i < builder->nruns; i++)
        builder->layout->bound |= builder->runs[i].policy.bind != POLICY_BIND_NONE;
    layout_build_bind_rest(builder);
    if (layout_build_share_gpus(builder, err) < 0)
        return -1;
    layout_build_finish(builder);
    return 0;
}

struct layout *layout_make(const struct layout_request *request, struct error *err)
{
    struct layout_build builder;
    layout_build_start(&builder, request);
    int rc = build(&builder, err);
    layout_build_end(&builder);
    if (rc == 0)
        return builder.layout;
    layout_free(builder.layout);
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
