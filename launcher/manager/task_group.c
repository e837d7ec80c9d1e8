/* Groups: made of a layout and launched, found, over. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/protocol/launch.h"

#define GROUPS_MAX_R 65536 /* bytes of an R in a task's environment */

/* ---- what is known of one ---- */

struct group *groups_find(const struct manager *manager, uint32_t number)
{
    struct group *group = manager->groups;
    while (group && group->number != number)
        group = group->next;
    return group;
}

struct idset *groups_nodes_of(const struct group *group, const struct idset *ranks)
{
    struct idset *nodes = idset_new();
    IDSET_FOREACH(rank, ranks)
    {
        uint32_t node = rank < group->first_rank
                            ? UINT32_MAX
                            : taskmap_node(group->map, rank - group->first_rank);
        if (node < group->nnodes)
            idset_add(nodes, group->tree_node[node]);
    }
    return nodes;
}

static struct idset *own_nodes(const struct group *group)
{
    struct idset *nodes = idset_new();
    for (uint32_t i = 0; i < group->nnodes; i++)
        idset_add(nodes, group->tree_node[i]);
    return nodes;
}

struct idset *groups_pending(const struct manager *manager)
{
    struct idset *all = idset_new();
    for (const struct group *group = manager->groups; group; group = group->next) {
        struct idset *both = idset_union(all, group->pending);
        idset_free(all);
        all = both;
    }
    return all;
}

void groups_send(struct group *group, const struct frame *frame)
{
    struct frame mine = *frame;
    mine.group = group->number;
    tree_send_nodes(group->manager->tree, group->nodes, &mine);
}

/* ---- life ---- */

static void task_group_append(struct manager *manager, struct group *group)
{
    struct group **last = &manager->groups;
    while (*last)
        last = &(*last)->next;
    *last = group;
}

/* Cores of a node that its tasks are bound to. */
static struct idset **bound_cores(const struct layout *layout)
{
    struct idset **cores = mem_array(layout->nnodes, sizeof(*cores));
    for (uint32_t i = 0; i < layout->nnodes; i++)
        cores[i] = idset_new();
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        IDSET_FOREACH(core, layout->bindings[task->binding].cores)
        idset_add(cores[task->node], core);
    }
    return cores;
}

/* By R. Of what was allocated by a shape all is claimed, and some may be idle. */
struct rset *groups_claim(const struct group_plan *plan)
{
    const struct layout *layout = plan->layout;
    struct idset **bound = plan->idle && layout->bound ? bound_cores(layout) : NULL;
    struct rset *claim = rset_new();
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        const struct layout_node *node = &plan->candidates[layout->nodes[i].source];
        rset_append(claim, node->target, node->host, bound ? bound[i] : layout->nodes[i].claim,
                    layout->nodes[i].gpus);
        if (bound)
            idset_free(bound[i]);
    }
    free(bound);
    return claim;
}

static void on_fence_send(void *owner, const struct frame *frame)
{
    groups_send(owner, frame);
}

static const struct fence_ops fence_ops = {on_fence_send};

static struct group *group_new(struct manager *manager, const struct group_plan *plan)
{
    struct group *group = mem_alloc(sizeof(*group));
    const struct layout *layout = plan->layout;
    group->manager = manager;
    group->number = manager->next_group++;
    group->first_rank = manager->next_rank;
    group->ntasks = layout->ntasks;
    manager->next_rank += layout->ntasks;
    group->map = taskmap_copy(layout->map);
    group->claim = groups_claim(plan);
    group->nnodes = layout->nnodes;
    group->tree_node = mem_array(group->nnodes, sizeof(*group->tree_node));
    group->node_tasks = mem_array(group->nnodes, sizeof(*group->node_tasks));
    for (uint32_t i = 0; i < group->nnodes; i++) {
        group->tree_node[i] = plan->candidate_host[layout->nodes[i].source];
        group->node_tasks[i] = layout->nodes[i].ntasks;
    }
    group->nodes = own_nodes(group);
    if (!group->number) /* every agent hears of the first */
        tree_add_nodes(manager->tree, group->nodes);
    group->pending = idset_copy(group->nodes);
    group->fence = fence_new(group->nnodes, &fence_ops, group);
    program_check_open(group);
    pmi_services_add(group, plan);
    task_group_append(manager, group);
    return group;
}

/* What the front end needs to know of ranks. */
static void tell_mapped(const struct group *group)
{
    struct manager *manager = group->manager;
    if (!manager->front)
        return;
    json_t *hosts = json_array();
    for (uint32_t i = 0; i < group->nnodes; i++)
        json_array_append_new(hosts, json_string(host_names(manager->hosts)[group->tree_node[i]]));
    json_t *mapped = json_pack("{s:s, s:i, s:i, s:o, s:o}", "program", entry_id(manager->entry),
                               "first_rank", (int)group->first_rank, "ntasks", (int)group->ntasks,
                               "hosts", hosts, "taskmap", taskmap_to_json(group->map));
    link_send_json(manager->front, FRAME_MAPPED, 0, 0, mapped);
    json_decref(mapped);
}

/* This program and those that it runs in. */
static char *enclosing_programs(const struct manager *manager)
{
    struct idset *all = manager->enclosing ? idset_decode(manager->enclosing, NULL) : NULL;
    if (!all)
        all = idset_new();
    idset_add(all, (uint32_t)strtoul(entry_id(manager->entry), NULL, 10));
    char *text = idset_encode(all);
    idset_free(all);
    return text;
}

/* What goes into the environment of every task has to be short enough for the kernel: properties and
 * topology are left out first. */
static char *resources_text(const struct group *group)
{
    struct rset *held = group->number ? spawn_resources_held(group->manager) : NULL;
    json_t *R = rset_to_json(held ? held : group->manager->claim);
    char *text = json_dumps(R, JSON_COMPACT);
    if (strlen(text) > GROUPS_MAX_R) {
        free(text);
        json_object_del(R, "scheduling");
        json_object_del(json_object_get(R, "execution"), "properties");
        text = json_dumps(R, JSON_COMPACT);
    }
    json_decref(R);
    rset_free(held);
    if (strlen(text) <= GROUPS_MAX_R)
        return text;
    free(text);
    return NULL;
}

static void launch(struct group *group, const struct group_plan *plan)
{
    struct manager *manager = group->manager;
    char *enclosing = enclosing_programs(manager), *resources = resources_text(group);
    const char **hosts = mem_array(group->nnodes, sizeof(*hosts));
    for (uint32_t i = 0; i < group->nnodes; i++)
        hosts[i] = host_names(manager->hosts)[group->tree_node[i]];
    struct launch_source source = {.group = group->number,
                                   .first_rank = group->first_rank,
                                   .spawned = plan->spawned,
                                   .spawner = plan->spawner,
                                   .spawner_rank = plan->spawner_rank,
                                   .preput = plan->preput,
                                   .npreput = plan->npreput,
                                   .spec = plan->spec,
                                   .layout = plan->layout,
                                   .program = entry_id(manager->entry),
                                   .instance = instance_path(manager->instance),
                                   .instance_id = manager->family ? manager->family
                                                                  : instance_id(manager->instance),
                                   .resources = resources,
                                   .enclosing = enclosing,
                                   .tree_node = group->tree_node,
                                   .hosts = hosts};
    json_t *value = launch_to_json(&source);
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {.type = FRAME_LAUNCH, .bytes = text, .len = text ? strlen(text) : 0};
    groups_send(group, &frame);
    json_decref(value);
    free(hosts);
    free(text);
    free(enclosing);
    free(resources);
}

struct group *groups_start(struct manager *manager, const struct group_plan *plan)
{
    struct group *group = group_new(manager, plan);
    tell_mapped(group);
    launch(group, plan);
    return group;
}

void groups_drop(struct group *group)
{
    struct group **at = &group->manager->groups;
    while (*at && *at != group)
        at = &(*at)->next;
    if (*at)
        *at = group->next;
    fence_free(group->fence);
    taskmap_free(group->map);
    rset_free(group->claim);
    idset_free(group->nodes);
    idset_free(group->pending);
    free(group->tree_node);
    free(group->node_tasks);
    program_check_close(group);
    spawn_free(group->adding);
    spec_free(group->spec);
    free(group);
}

void groups_without(struct group *group, const struct idset *nodes)
{
    struct idset *left = idset_subtract(group->pending, nodes);
    idset_free(group->pending);
    group->pending = left;
}
