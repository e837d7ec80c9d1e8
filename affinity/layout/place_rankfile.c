/*
 * Placing a run by a rank file: each rank where its line says, bound to what it says.
 */
#include "affinity/layout/place_rankfile.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/allocated_hosts.h"
#include "affinity/layout/binding_sets.h"
#include "affinity/layout/build.h"
#include "affinity/layout/infeasible.h"
#include "affinity/layout/rankfile_cpus.h"
#include "base/mem.h"

/* What all lists of a file may cost together, beyond what the largest machines need: a bound on time.
 * Counted are threads that are bound to, eight times those of a new set, and steps of finding them. */
#define MAX_WORK (UINT64_C(1) << 31)

struct scene {
    struct layout_build *builder;
    const struct placement *run;
    const struct rankfile *file;
    struct allocated allocated;
    uint32_t *host_node;         /* by host of the file: which of those allocated */
    struct rankfile_cpus *picks; /* by kind; made when first used */
    uint32_t **owner;    /* by node of the request, by row: whose it is, rank + 1; or NULL */
    uint32_t first_rank; /* of the run */
    uint64_t work;
};

/* ---- whose a thread is ---- */

static uint32_t *node_owners(struct scene *scene, uint32_t node)
{
    if (!scene->owner[node])
        scene->owner[node] =
            mem_array(layout_build_kind(scene->builder, node)->nrows, sizeof(**scene->owner));
    return scene->owner[node];
}

static void own_rows(struct scene *scene, uint32_t node, struct rows rows, uint32_t rank)
{
    uint32_t *owner = node_owners(scene, node);
    for (uint32_t row = rows.first; row < rows.end; row++)
        if (!owner[row])
            owner[row] = rank + 1;
}

/* What tasks of earlier runs occupy: what they are bound to, or their places. */
static void own_by_earlier(struct scene *scene)
{
    const struct layout_build *builder = scene->builder;
    for (uint32_t rank = 0; rank < scene->first_rank; rank++) {
        const struct layout_task *task = &builder->layout->tasks[rank];
        if (!policy_is_narrow(layout_build_policy(builder, task))) {
            own_rows(scene, task->node, (struct rows){task->place, task->place + 1}, rank);
            continue;
        }
        const struct node_class *kind = layout_build_kind(builder, task->node);
        for (uint32_t i = 0; i < builder->bindings[task->binding].nspans; i++)
            own_rows(scene, task->node, layout_build_binding_rows(builder, kind, task->binding, i),
                     rank);
    }
}

/* ---- refusals ---- */

static int refuse_rank(const struct scene *scene, uint32_t rank, struct error *err)
{
    return error_prefix(err, "%s:%u: rank %u", scene->file->name, scene->file->ranks[rank].line,
                        rank);
}

static int refuse_shared(const struct scene *scene, uint32_t node, uint32_t row, uint32_t owner,
                         struct error *err)
{
    const struct node_class *kind = layout_build_kind(scene->builder, node);
    const char *host = scene->builder->request->nodes[node].host;
    uint32_t os = kind->topo->os[kind->rows[row]], core = node_class_core(kind, row);
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

static int find_node(const struct scene *scene, uint32_t rank, uint32_t *node, struct error *err)
{
    uint32_t at = scene->host_node[scene->file->ranks[rank].host];
    *node = scene->allocated.node[at];
    if (*node == NO_NODE)
        return error_set(err, "%s has no core that is free for this program",
                         scene->allocated.hosts[at]);
    return 0;
}

static int place_rankfile_check_limit(struct scene *scene, uint32_t node, struct error *err)
{
    const struct layout_node *given = &scene->builder->request->nodes[node];
    if (!given->limit || scene->builder->node_tasks[node] < given->limit)
        return 0;
    if (!scene->run->policy.oversubscribe)
        return error_set(err, "%s has %u slot%s %s, and %s taken; --oversubscribe permits more",
                         given->host, given->limit, given->limit == 1 ? "" : "s",
                         infeasible_where(scene->builder->request),
                         given->limit == 1 ? "that is" : "all are");
    scene->builder->layout->oversubscribed = true;
    return 0;
}

static int own_picked(struct scene *scene, uint32_t node, const struct rankfile_cpus *pick,
                      uint32_t rank, struct error *err)
{
    uint32_t *owner = node_owners(scene, node);
    if (scene->builder->layout->oversubscribed)
        return 0; /* nothing more is to be found out */
    for (uint32_t i = 0; i < pick->nspans; i++)
        for (uint32_t row = pick->spans[i].first; row < pick->spans[i].end; row++) {
            if (owner[row] && !scene->run->policy.oversubscribe)
                return refuse_shared(scene, node, row, owner[row] - 1, err);
            if (owner[row]) {
                scene->builder->layout->oversubscribed = true;
                return 0;
            }
            owner[row] = scene->first_rank + rank + 1;
        }
    return 0;
}

static uint32_t bind_picked(struct scene *scene, const struct rankfile_cpus *pick)
{
    struct layout_build *builder = scene->builder;
    uint32_t before = builder->layout->nbindings, threads = 0;
    uint32_t binding = layout_build_bind(builder, pick->kind, pick->spans, pick->nspans);
    for (uint32_t i = 0; i < pick->nspans; i++)
        threads += pick->spans[i].end - pick->spans[i].first;
    scene->work += binding == before ? 8ull * threads : threads;
    return binding;
}

static struct rankfile_cpus *node_pick(struct scene *scene, uint32_t node)
{
    const struct kinds *kinds = &scene->builder->kinds;
    struct rankfile_cpus *pick = &scene->picks[kinds->of[node]];
    if (!pick->kind)
        rankfile_cpus_make(pick, &kinds->kinds[kinds->of[node]]);
    return pick;
}

static int place_rank(struct scene *scene, uint32_t rank, struct layout_task *task,
                      struct error *err)
{
    struct layout_build *builder = scene->builder;
    uint32_t node = 0;
    if (find_node(scene, rank, &node, err) < 0 || place_rankfile_check_limit(scene, node, err) < 0)
        return -1;
    struct rankfile_cpus *pick = node_pick(scene, node);
    if (rankfile_cpus_rank(pick, &scene->file->ranks[rank], builder->request->nodes[node].host,
                           err) < 0 ||
        own_picked(scene, node, pick, rank, err) < 0)
        return -1;
    builder->node_tasks[node]++;
    *task = (struct layout_task){
        .node = node, .binding = bind_picked(scene, pick), .place = pick->spans[0].first};
    scene->work += 16 * pick->work;
    if (scene->work > MAX_WORK)
        return error_set(err, "the lists up to this line name more processors than can be looked "
                              "at in a reasonable time");
    return 0;
}

/* ---- all of them ---- */

static int place_all(struct scene *scene, struct error *err)
{
    const struct placement *run = scene->run;
    struct layout *layout = scene->builder->layout;
    uint32_t rank = 0;
    layout->tasks =
        mem_resize(layout->tasks, (size_t)layout->ntasks + run->ntasks, sizeof(*layout->tasks));
    for (uint32_t part = run->first_part; part < run->first_part + run->nparts; part++)
        for (uint32_t i = 0; i < scene->builder->part_tasks[part]; i++, rank++) {
            struct layout_task task;
            if (place_rank(scene, rank, &task, err) < 0)
                return refuse_rank(scene, rank, err);
            task.app = part;
            task.gpus = LAYOUT_NO_GPUS;
            layout->tasks[layout->ntasks++] = task;
        }
    return 0;
}

static int check_nodes(const struct scene *scene, struct error *err)
{
    const struct layout *layout = scene->builder->layout;
    bool *used = mem_array(scene->builder->request->nnodes, sizeof(*used));
    for (uint32_t rank = scene->first_rank; rank < layout->ntasks; rank++)
        used[layout->tasks[rank].node] = true;
    int rc = allocated_check_nodes(scene->builder, scene->run, used, err);
    free(used);
    return rc;
}

static int scene_open(struct scene *scene, struct layout_build *builder,
                      const struct placement *run, struct error *err)
{
    *scene = (struct scene){.builder = builder,
                            .run = run,
                            .file = run->rankfile,
                            .first_rank = builder->layout->ntasks};
    allocated_make(&scene->allocated, builder->request);
    scene->host_node = mem_array(scene->file->nhosts, sizeof(*scene->host_node));
    scene->picks = mem_array(builder->kinds.nkinds, sizeof(*scene->picks));
    scene->owner = mem_array(builder->request->nnodes, sizeof(*scene->owner));
    own_by_earlier(scene);
    return rankfile_find_nodes(scene->file, run->ntasks, scene->allocated.hosts,
                               scene->allocated.nhosts, scene->host_node, err);
}

static void scene_close(struct scene *scene)
{
    for (uint32_t i = 0; i < scene->builder->kinds.nkinds; i++)
        rankfile_cpus_free(&scene->picks[i]);
    for (uint32_t node = 0; node < scene->builder->request->nnodes; node++)
        free(scene->owner[node]);
    allocated_free(&scene->allocated);
    free(scene->host_node);
    free(scene->picks);
    free(scene->owner);
}

int layout_build_place_rankfile(struct layout_build *builder, const struct placement *run,
                                struct error *err)
{
    struct scene scene;
    int rc = scene_open(&scene, builder, run, err);
    if (rc == 0)
        rc = place_all(&scene, err);
    if (rc == 0)
        rc = check_nodes(&scene, err);
    scene_close(&scene);
    return rc;
}
