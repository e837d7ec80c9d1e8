/*
 * Placing a placement by a rank file: each rank where its line says, bound to what it says.
 */
#include "affinity/layout/place_rankfile.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/allocated_hosts.h"
#include "affinity/layout/binding_sets.h"
#include "affinity/layout/build.h"
#include "affinity/layout/infeasible.h"
#include "affinity/layout/node_class.h"
#include "affinity/layout/placement.h"
#include "affinity/layout/rankfile_cpus.h"
#include "base/mem.h"

/* What all lists of a file may cost together, beyond what the largest machines need: a bound on time.
 * Counted are threads that are bound to, eight times those of a new set, and steps of finding them. */
#define MAX_WORK (UINT64_C(1) << 31)

struct scene {
    struct layout_build *build;
    const struct placement *placement;
    const struct rankfile *file;
    struct allocated allocated;
    uint32_t *host_node;         /* by host of the file: which of those allocated */
    struct rankfile_cpus *picks; /* by class; made when first used */
    uint32_t **owner;    /* by node of the request, by row: whose it is, rank + 1; or NULL */
    uint32_t first_rank; /* of the placement */
    uint64_t work;
};

/* ---- whose a thread is ---- */

static uint32_t *node_owners(struct scene *scene, uint32_t node)
{
    if (!scene->owner[node])
        scene->owner[node] =
            mem_array(layout_build_class(scene->build, node)->nrows, sizeof(**scene->owner));
    return scene->owner[node];
}

static void own_rows(struct scene *scene, uint32_t node, struct rows rows, uint32_t rank)
{
    uint32_t *owner = node_owners(scene, node);
    for (uint32_t row = rows.first; row < rows.end; row++)
        if (!owner[row])
            owner[row] = rank + 1;
}

static void own_by_earlier(struct scene *scene)
{
    for (uint32_t rank = 0; rank < scene->first_rank; rank++) {
        const struct layout_task *task = &scene->build->layout->tasks[rank];
        struct rows rows;
        for (uint32_t i = 0; layout_build_occupied(scene->build, task, i, &rows); i++)
            own_rows(scene, task->node, rows, rank);
    }
}

/* ---- refusals ---- */

static int refuse_shared(const struct scene *scene, uint32_t node, uint32_t row, uint32_t owner,
                         struct error *err)
{
    const struct node_class *class = layout_build_class(scene->build, node);
    const char *host = scene->build->request->nodes[node].host;
    uint32_t os = class->topo->os[class->rows[row]], core = node_class_core(class, row);
    if (owner < scene->first_rank)
        return error_set(
            err,
            "processor %u of %s (OS index, in core %u) is rank %u's, of a part before; "
            "--oversubscribe lets them share",
            os, host, core, owner);
    owner -= scene->first_rank;
    return error_set(err,
                     "processor %u of %s (OS index, in core %u) is rank %u's already, of line %u; "
                     "--oversubscribe lets them share",
                     os, host, core, owner, scene->file->ranks[owner].line);
}

/* ---- one rank ---- */

static int check_host_limit(struct scene *scene, uint32_t node, struct error *err)
{
    const struct layout_node *given = &scene->build->request->nodes[node];
    if (!given->limit || scene->build->node_tasks[node] < given->limit)
        return 0;
    if (!scene->placement->policy.oversubscribe)
        return error_set(err, "%s has %u slot%s %s, and %s taken; --oversubscribe permits more",
                         given->host, given->limit, given->limit == 1 ? "" : "s",
                         infeasible_where(scene->build->request),
                         given->limit == 1 ? "that is" : "all are");
    scene->build->layout->oversubscribed = true;
    return 0;
}

static int own_picked(struct scene *scene, uint32_t node, const struct rankfile_cpus *pick,
                      uint32_t rank, struct error *err)
{
    uint32_t *owner = node_owners(scene, node);
    if (scene->build->layout->oversubscribed)
        return 0; /* nothing more is to be found out */
    for (uint32_t i = 0; i < pick->nspans; i++)
        for (uint32_t row = pick->spans[i].first; row < pick->spans[i].end; row++) {
            if (owner[row] && !scene->placement->policy.oversubscribe)
                return refuse_shared(scene, node, row, owner[row] - 1, err);
            if (owner[row]) {
                scene->build->layout->oversubscribed = true;
                return 0;
            }
            owner[row] = scene->first_rank + rank + 1;
        }
    return 0;
}

static int place_rank(struct scene *scene, uint32_t rank, struct layout_task *task,
                      struct error *err)
{
    struct layout_build *build = scene->build;
    const struct rankfile_rank *line = &scene->file->ranks[rank];
    uint32_t host = scene->host_node[line->host], node = scene->allocated.node[host];
    if (node == NO_NODE)
        return error_set(err, "%s has no core that is free for this program",
                         scene->allocated.hosts[host]);
    if (check_host_limit(scene, node, err) < 0)
        return -1;

    uint32_t class = build->classes->of[node];
    struct rankfile_cpus *pick = &scene->picks[class];
    if (!pick->class)
        rankfile_cpus_make(pick, &build->classes->classes[class]);
    if (rankfile_cpus_rank(pick, line, build->request->nodes[node].host, err) < 0 ||
        own_picked(scene, node, pick, rank, err) < 0)
        return -1;

    uint32_t before = binding_sets_count(build->bindings), threads = 0;
    build->node_tasks[node]++;
    task->node = node;
    task->binding = binding_sets_add(build->bindings, pick->class, pick->spans, pick->nspans);
    task->place = pick->spans[0].first;
    for (uint32_t i = 0; i < pick->nspans; i++)
        threads += pick->spans[i].end - pick->spans[i].first;
    scene->work += task->binding == before ? 8ull * threads : threads;
    scene->work += 16 * pick->work;
    if (scene->work > MAX_WORK)
        return error_set(err, "the lists up to this line name more processors than can be looked "
                              "at in a reasonable time");
    return 0;
}

/* ---- all of them ---- */

static int place_all_ranks(struct scene *scene, struct error *err)
{
    struct layout_build *build = scene->build;
    struct layout_task *tasks = layout_build_add_tasks(build, scene->placement);
    bool *used = mem_array(build->request->nnodes, sizeof(*used));
    int rc = 0;
    for (uint32_t rank = 0; rank < scene->placement->ntasks && rc == 0; rank++) {
        if (place_rank(scene, rank, &tasks[rank], err) < 0)
            rc = error_prefix(err, "%s:%u: rank %u", scene->file->name,
                              scene->file->ranks[rank].line, rank);
        else
            used[tasks[rank].node] = true;
    }
    if (rc == 0)
        rc = allocated_check_nodes(build->request, build->choice, scene->placement, used, err);
    free(used);
    return rc;
}

int place_rankfile(struct layout_build *build, const struct placement *placement, struct error *err)
{
    const struct rankfile *file = placement->rankfile;
    uint32_t nclasses = build->classes->nclasses, nnodes = build->request->nnodes;
    struct scene scene = {.build = build,
                          .placement = placement,
                          .file = file,
                          .host_node = mem_array(file->nhosts, sizeof(*scene.host_node)),
                          .picks = mem_array(nclasses, sizeof(*scene.picks)),
                          .owner = mem_array(nnodes, sizeof(*scene.owner)),
                          .first_rank = build->layout->ntasks};
    allocated_make(&scene.allocated, build->request);
    own_by_earlier(&scene);
    int rc = rankfile_find_nodes(file, placement->ntasks, scene.allocated.hosts,
                                 scene.allocated.nhosts, scene.host_node, err);
    if (rc == 0)
        rc = place_all_ranks(&scene, err);
    for (uint32_t i = 0; i < nclasses; i++)
        rankfile_cpus_free(&scene.picks[i]);
    for (uint32_t node = 0; node < nnodes; node++)
        free(scene.owner[node]);
    allocated_free(&scene.allocated);
    free(scene.host_node);
    free(scene.picks);
    free(scene.owner);
    return rc;
}
