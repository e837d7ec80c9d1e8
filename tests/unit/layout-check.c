#include "tests/unit/layout-check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/lama-plain.h"
#include "tests/unit/plain-machine.h"
#include "tests/unit/plain-rule.h"

static const struct layout_node *node_of(const struct layout *layout,
                                         const struct layout_request *request,
                                         const struct layout_task *task)
{
    return &request->nodes[layout->nodes[task->node].source];
}

/* The rows of a binding. */
static uint64_t rows_of(const struct topo *topo, const struct idset *cpus)
{
    uint64_t rows = 0;
    for (uint32_t row = 0; row < topo->npus; row++)
        if (idset_has(cpus, topo->os[row]))
            rows |= 1ull << row;
    return rows;
}

/* ---- tasks ---- */

static int check_binding(const struct layout_binding *binding, const struct layout_node *node,
                         uint32_t rank, struct error *err)
{
    struct idset *cpus = topo_cpus_of_cores(node->topo, node->cores);
    struct idset *cores = idset_new();
    for (uint32_t row = 0; row < node->topo->npus; row++)
        if (idset_has(binding->cpus, node->topo->os[row]))
            idset_add(cores, topo_core(node->topo, row));
    int rc = 0;
    if (idset_empty(binding->cpus))
        rc = error_set(err, "rank %u may run nowhere", rank);
    else if (!idset_within(binding->cpus, cpus))
        rc = error_set(err, "rank %u may leave what was allocated", rank);
    else if (!idset_equal(binding->cores, cores))
        rc = error_set(err, "rank %u: the cores are not those of the cpus", rank);
    idset_free(cpus);
    idset_free(cores);
    return rc;
}

static int check_task(const struct layout *layout, const struct layout_request *request,
                      uint32_t rank, struct error *err)
{
    const struct layout_task *task = &layout->tasks[rank];
    if (task->node >= layout->nnodes || task->binding >= layout->nbindings || task->app != 0)
        return error_set(err, "rank %u: node, binding or part is out of range", rank);
    const struct layout_node *node = node_of(layout, request, task);
    if (task->place >= node->topo->npus ||
        !idset_has(node->cores, topo_core(node->topo, task->place)))
        return error_set(err, "rank %u: its place was not allocated", rank);
    if (!idset_has(layout->bindings[task->binding].cpus, node->topo->os[task->place]))
        return error_set(err, "rank %u: its place is not in its binding", rank);
    if (taskmap_node(layout->map, rank) != task->node)
        return error_set(err, "rank %u: the task map has it elsewhere", rank);
    return check_binding(&layout->bindings[task->binding], node, rank, err);
}

static int check_tasks(const struct layout *layout, const struct layout_request *request,
                       struct error *err)
{
    uint32_t *local = mem_array(layout->nnodes, sizeof(*local));
    int rc = 0;
    for (uint32_t rank = 0; rank < layout->ntasks && rc == 0; rank++) {
        rc = check_task(layout, request, rank, err);
        if (rc == 0 && layout->tasks[rank].local_rank != local[layout->tasks[rank].node]++)
            rc = error_set(err, "rank %u: local ranks are not dense", rank);
    }
    for (uint32_t i = 0; i < layout->nnodes && rc == 0; i++)
        if (layout->nodes[i].ntasks != local[i] || !local[i])
            rc = error_set(err, "node %u: %u tasks, not %u", i, local[i], layout->nodes[i].ntasks);
    free(local);
    return rc;
}

/* ---- nodes ---- */

static int check_claim(const struct layout *layout, uint32_t node, struct error *err)
{
    struct idset *all = idset_new();
    int rc = 0;
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        if (layout->tasks[rank].node != node)
            continue;
        struct idset *more = idset_union(all, layout->bindings[layout->tasks[rank].binding].cores);
        idset_free(all);
        all = more;
    }
    if (layout->bound ? !idset_equal(all, layout->nodes[node].claim)
                      : !idset_within(layout->nodes[node].claim, all))
        rc = error_set(err, "node %u: the claim is not what the tasks are bound to", node);
    idset_free(all);
    return rc;
}

static int check_nodes(const struct layout *layout, const struct layout_request *request,
                       struct error *err)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        const struct layout_used_node *node = &layout->nodes[i];
        uint32_t limit = request->nodes[node->source].limit;
        if (node->source >= request->nnodes || (i && node->source <= node[-1].source))
            return error_set(err, "node %u: ids do not follow the request", i);
        if (limit && node->ntasks > limit && !layout->oversubscribed)
            return error_set(err, "node %u: %u tasks, limit %u", i, node->ntasks, limit);
        least = node->ntasks < least ? node->ntasks : least;
        most = node->ntasks > most ? node->ntasks : most;
        if (check_claim(layout, i, err) < 0)
            return -1;
    }
    if (request->node_count && (layout->nnodes != request->node_count || most - least > 1))
        return error_set(err, "-N %u: %u nodes with %u to %u tasks", request->node_count,
                         layout->nnodes, least, most);
    return 0;
}

/* ---- limits ---- */

/* Tasks with a part of this thing in what they occupy. */
static uint32_t count_on(const struct layout *layout, const struct topo *topo, uint32_t node,
                         uint64_t thing, bool narrow)
{
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        if (task->node != node)
            continue;
        uint64_t busy =
            narrow ? rows_of(topo, layout->bindings[task->binding].cpus) : 1ull << task->place;
        count += (busy & thing) != 0;
    }
    return count;
}

static int check_limit(const struct layout *layout, const struct plain_machine *machine,
                       uint32_t node, const struct plain_rule *rule, uint32_t limit,
                       struct error *err)
{
    const struct plain_level *level = &machine->levels[rule->limits[limit].level];
    bool narrow = rule->bound && !rule->together && rule->bind_level >= TOPO_CORE;
    for (uint32_t i = 0; i < level->count; i++) {
        uint32_t count = count_on(layout, machine->topo, node, level->sets[i], narrow);
        if (count > rule->limits[limit].most)
            return error_set(err, "node %u: %u tasks on thing %u of level %d, limit %u", node,
                             count, i, (int)rule->limits[limit].level, rule->limits[limit].most);
    }
    return 0;
}

static int check_limits(const struct layout *layout, const struct layout_request *request,
                        struct error *err)
{
    struct plain_rule rule;
    int rc = 0;
    plain_rule_read(&rule, &request->parts[0]);
    for (uint32_t node = 0; node < layout->nnodes && rc == 0; node++) {
        struct plain_machine machine;
        plain_machine_read(&machine, &request->nodes[layout->nodes[node].source]);
        if (rule.slot)
            plain_machine_cut(&machine, rule.slot);
        for (uint32_t i = 0; i < rule.nlimits && rc == 0; i++)
            rc = check_limit(layout, &machine, node, &rule, i, err);
    }
    return rc;
}

int layout_check(const struct layout *layout, const struct layout_request *request,
                 struct error *err)
{
    const struct layout_part *part = &request->parts[0];
    uint32_t ntasks = part->ntasks ? part->ntasks : request->node_count ? request->node_count : 1;
    if (layout->ntasks != ntasks || layout->map->ntasks != ntasks)
        return error_set(err, "%u tasks, not %u", layout->ntasks, ntasks);
    if (layout->oversubscribed && !part->oversubscribe)
        return error_set(err, "oversubscribed without leave");
    if (check_tasks(layout, request, err) < 0 || check_nodes(layout, request, err) < 0)
        return -1;
    return layout->oversubscribed ? 0 : check_limits(layout, request, err);
}

/* ---- beside the plain reading ---- */

static int compare_task(const struct layout *layout, const struct layout_request *request,
                        uint32_t rank, const struct plain_task *plain, struct error *err)
{
    const struct layout_task *task = &layout->tasks[rank];
    const struct topo *topo = node_of(layout, request, task)->topo;
    uint32_t node = layout->nodes[task->node].source;
    uint64_t rows = rows_of(topo, layout->bindings[task->binding].cpus);
    if (node == plain->node && task->place == plain->place && rows == plain->rows)
        return 0;
    return error_set(err,
                     "rank %u: node %u row %u, rows %" PRIx64 "; plainly it is node %u row %u, "
                     "rows %" PRIx64,
                     rank, node, task->place, rows, plain->node, plain->place, plain->rows);
}

int layout_compare(const struct layout *layout, const struct layout_request *request,
                   struct error *err)
{
    uint32_t ntasks = request->parts[0].ntasks;
    struct plain_task *plain = mem_array(ntasks, sizeof(*plain));
    bool fits = plain_place(request, plain);
    int rc = 0;
    if (layout && !fits)
        rc = error_set(err, "it was placed, and plainly does not fit");
    else if (!layout && fits)
        rc = error_set(err, "it was refused, and plainly fits");
    for (uint32_t rank = 0; layout && rank < ntasks && rc == 0; rank++)
        rc = compare_task(layout, request, rank, &plain[rank], err);
    free(plain);
    return rc;
}
