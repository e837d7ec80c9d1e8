/* Task groups, for program.c and spawn.c: made of a layout and launched, found, over. */
#include "launcher/program/task_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/program/fence.h"
#include "launcher/program/program_check.h"
#include "launcher/protocol/environment_block.h"
#include "launcher/protocol/launch.h"
#include "launcher/protocol/task_table.h"

#define TASK_GROUP_MAX_R 65536 /* bytes of an R in a task's environment */

struct task_group {
    struct task_groups *groups;
    struct task_group *next; /* younger */
    uint32_t number;
    uint32_t first_rank, ntasks; /* of the program's ranks */
    struct spec *spec;           /* of one that was spawned; NULL: the program's */
    struct taskmap *map;
    uint32_t nnodes;
    uint32_t *tree_node;   /* [nnodes] by node id */
    uint32_t *node_tasks;  /* [nnodes] */
    struct rset *used;     /* by its tasks */
    struct idset *nodes;   /* of the tree, that heard of the launch */
    struct idset *pending; /* those of them that have not said that they are done */
    struct fence *fence;
    struct program_check
        *check; /* until all nodes have answered; NULL too where there is but one */
};

struct task_groups {
    struct tree *tree;
    const struct task_groups_ops *ops;
    void *owner;
    struct task_group *first; /* the oldest */
    uint32_t next_number, next_rank;
    const struct rset *claim; /* NULL: none yet */
    struct task_group *early; /* sent, but not started; NULL: none */
    json_t *early_launch;     /* what was sent */
};

/* ---- all of them ---- */

static void task_group_free(struct task_group *group)
{
    fence_free(group->fence);
    program_check_free(group->check);
    taskmap_free(group->map);
    rset_free(group->used);
    idset_free(group->nodes);
    idset_free(group->pending);
    free(group->tree_node);
    free(group->node_tasks);
    spec_free(group->spec);
    free(group);
}

struct task_groups *task_groups_new(struct tree *tree, const struct task_groups_ops *ops,
                                    void *owner)
{
    struct task_groups *groups = mem_alloc(sizeof(*groups));
    groups->tree = tree;
    groups->ops = ops;
    groups->owner = owner;
    return groups;
}

void task_groups_free(struct task_groups *groups)
{
    if (!groups)
        return;
    task_groups_forget_early(groups);
    while (groups->first) {
        struct task_group *group = groups->first;
        groups->first = group->next;
        task_group_free(group);
    }
    free(groups);
}

void task_groups_set_claim(struct task_groups *groups, const struct rset *claim)
{
    groups->claim = claim;
}

struct task_group *task_groups_first(const struct task_groups *groups)
{
    return groups->first;
}

struct task_group *task_group_next(const struct task_group *group)
{
    return group->next;
}

struct task_group *task_groups_find(const struct task_groups *groups, uint32_t number)
{
    struct task_group *group = groups->first;
    while (group && group->number != number)
        group = group->next;
    return group;
}

uint32_t task_groups_ranks(const struct task_groups *groups)
{
    return groups->next_rank;
}

struct idset *task_groups_pending(const struct task_groups *groups)
{
    struct idset *all = idset_new();
    for (const struct task_group *group = groups->first; group; group = group->next) {
        struct idset *both = idset_union(all, group->pending);
        idset_free(all);
        all = both;
    }
    return all;
}

/* What the groups' tasks use, and `also`. */
static struct rset *union_of_groups(const struct task_groups *groups, const struct rset *also)
{
    size_t count = 0;
    for (const struct task_group *group = groups->first; group; group = group->next)
        count++;
    const struct rset **sets = mem_array(count + 1, sizeof(*sets));
    count = 0;
    for (const struct task_group *group = groups->first; group; group = group->next)
        sets[count++] = group->used;
    if (also)
        sets[count++] = also;
    struct rset *all = rset_union_hosts(sets, count);
    free(sets);
    return all;
}

struct rset *task_groups_used(const struct task_groups *groups)
{
    return union_of_groups(groups, NULL);
}

struct rset *task_groups_held(const struct task_groups *groups)
{
    return union_of_groups(groups, groups->claim);
}

uint32_t *task_groups_tasks(const struct task_groups *groups, uint32_t nnodes)
{
    uint32_t *tasks = mem_array(nnodes, sizeof(*tasks));
    for (const struct task_group *group = groups->first; group; group = group->next)
        for (uint32_t i = 0; i < group->nnodes; i++)
            if (group->tree_node[i] < nnodes)
                tasks[group->tree_node[i]] += group->node_tasks[i];
    return tasks;
}

uint32_t task_groups_pending_on(const struct task_groups *groups, uint32_t node)
{
    uint32_t count = 0;
    for (const struct task_group *group = groups->first; group; group = group->next) {
        if (!idset_has(group->pending, node))
            continue;
        for (uint32_t i = 0; i < group->nnodes; i++)
            if (group->tree_node[i] == node)
                count += group->node_tasks[i];
    }
    return count;
}

bool task_groups_use(const struct task_groups *groups, const struct idset *nodes)
{
    for (const struct task_group *group = groups->first; group; group = group->next)
        if (idset_count_both(group->nodes, nodes))
            return true;
    return false;
}

/* ---- what is known of one ---- */

uint32_t task_group_number(const struct task_group *group)
{
    return group->number;
}

uint32_t task_group_first_rank(const struct task_group *group)
{
    return group->first_rank;
}

uint32_t task_group_ntasks(const struct task_group *group)
{
    return group->ntasks;
}

uint32_t task_group_nnodes(const struct task_group *group)
{
    return group->nnodes;
}

const uint32_t *task_group_tree_nodes(const struct task_group *group)
{
    return group->tree_node;
}

const struct taskmap *task_group_map(const struct task_group *group)
{
    return group->map;
}

const struct rset *task_group_used(const struct task_group *group)
{
    return group->used;
}

const struct idset *task_group_nodes(const struct task_group *group)
{
    return group->nodes;
}

const struct idset *task_group_pending(const struct task_group *group)
{
    return group->pending;
}

void task_group_set_spec(struct task_group *group, struct spec *spec)
{
    group->spec = spec;
}

const struct spec *task_group_spec(const struct task_group *group)
{
    return group->spec;
}

struct fence *task_group_fence(const struct task_group *group)
{
    return group->fence;
}

struct idset *task_group_own_ranks(const struct task_group *group, const struct idset *ranks)
{
    struct idset *own = idset_new();
    IDSET_FOREACH(rank, ranks)
    {
        if (rank >= group->first_rank && rank - group->first_rank < group->ntasks)
            idset_add(own, rank - group->first_rank);
    }
    return own;
}

struct idset *task_group_nodes_of(const struct task_group *group, const struct idset *ranks)
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

void task_group_send(struct task_group *group, const struct frame *frame)
{
    struct frame mine = *frame;
    mine.group = group->number;
    tree_send_nodes(group->groups->tree, group->nodes, &mine);
}

/* ---- fences and the check ---- */

static void task_group_on_fence_send(void *owner, const struct frame *frame)
{
    task_group_send(owner, frame);
}

static const struct fence_ops fence_ops = {task_group_on_fence_send};

static void task_group_on_refused(void *owner, uint64_t time, int status, const char *text,
                                  const struct idset *ranks)
{
    struct task_group *group = owner;
    group->groups->ops->refused(group->groups->owner, group, time, status, text, ranks);
}

static void task_group_on_checked(void *owner, bool refused)
{
    struct task_group *group = owner;
    struct frame go = {.type = FRAME_GO};
    program_check_free(group->check);
    group->check = NULL;
    if (refused)
        group->groups->ops->unstartable(group->groups->owner, group);
    else
        task_group_send(group, &go);
}

static const struct program_check_ops check_ops = {task_group_on_refused, task_group_on_checked};

void task_group_prepared(struct task_group *group, uint32_t node, const json_t *value)
{
    if (group->check)
        program_check_answer(group->check, node, value);
}

/* ---- made ---- */

static struct task_group *task_group_new(struct task_groups *groups,
                                         const struct task_group_source *from)
{
    struct task_group *group = mem_alloc(sizeof(*group));
    const struct layout *layout = plan_layout(from->plan);
    group->groups = groups;
    group->number = groups->next_number++;
    group->first_rank = groups->next_rank;
    group->ntasks = layout->ntasks;
    groups->next_rank += layout->ntasks;
    group->map = taskmap_copy(layout->map);
    group->used = plan_used(from->plan);
    group->nnodes = layout->nnodes;
    group->tree_node = mem_array(group->nnodes, sizeof(*group->tree_node));
    group->node_tasks = mem_array(group->nnodes, sizeof(*group->node_tasks));
    struct idset *own = idset_new();
    for (uint32_t i = 0; i < group->nnodes; i++) {
        group->tree_node[i] = plan_candidates(from->plan)->hosts[layout->nodes[i].source];
        group->node_tasks[i] = layout->nodes[i].ntasks;
        idset_add(own, group->tree_node[i]);
    }
    if (group->nnodes > 1)
        group->check =
            program_check_new(own, from->spec, group->first_rank, group->ntasks, &check_ops, group);
    group->nodes = own;
    if (!group->number && !from->spec->initial_program) /* every agent hears of the first */
        tree_add_nodes(groups->tree, group->nodes);
    group->pending = idset_copy(group->nodes);
    group->fence = fence_new(group->nnodes, &fence_ops, group);
    return group;
}

/* ---- launched ---- */

/* This program and those that it runs in. */
static char *enclosing_programs(const struct task_group_origin *origin)
{
    struct idset *all = origin->enclosing ? idset_decode(origin->enclosing, NULL) : NULL;
    if (!all)
        all = idset_new();
    idset_add(all, (uint32_t)strtoul(origin->program, NULL, 10));
    char *text = idset_encode(all);
    idset_free(all);
    return text;
}

/* What goes into the environment of every task has to be short enough for the kernel: properties and
 * topology are left out first. */
static char *resources_text(const struct task_group *group)
{
    struct rset *held = group->number ? task_groups_held(group->groups) : NULL;
    json_t *R = rset_to_json(held ? held : group->groups->claim);
    char *text = json_dumps(R, JSON_COMPACT);
    if (strlen(text) > TASK_GROUP_MAX_R) {
        free(text);
        json_object_del(R, "scheduling");
        json_object_del(json_object_get(R, "execution"), "properties");
        text = json_dumps(R, JSON_COMPACT);
    }
    json_decref(R);
    rset_free(held);
    if (strlen(text) <= TASK_GROUP_MAX_R)
        return text;
    free(text);
    return NULL;
}

/* FRAME_LAUNCH's JSON; new reference. */
static json_t *make_launch(const struct task_group *group, const struct task_group_source *from,
                           const struct task_group_origin *origin)
{
    char *enclosing = enclosing_programs(origin), *resources = resources_text(group);
    const char **hosts = mem_array(group->nnodes, sizeof(*hosts));
    for (uint32_t i = 0; i < group->nnodes; i++)
        hosts[i] = origin->hosts[group->tree_node[i]];
    struct launch_source source = {.group = group->number,
                                   .first_rank = group->first_rank,
                                   .spawned = from->spawned,
                                   .spawner = from->spawner,
                                   .spawner_rank = from->spawner_rank,
                                   .preput = from->preput,
                                   .npreput = from->npreput,
                                   .spec = from->spec,
                                   .layout = plan_layout(from->plan),
                                   .program = origin->program,
                                   .instance = origin->instance,
                                   .instance_id = origin->instance_id,
                                   .resources = resources,
                                   .enclosing = enclosing,
                                   .tree_node = group->tree_node,
                                   .hosts = hosts};
    json_t *launch = launch_to_json(&source);
    free(hosts);
    free(enclosing);
    free(resources);
    return launch;
}

static void send_launch(struct task_group *group, const json_t *launch, char *const *environment,
                        bool early)
{
    struct buf message = BUF_INIT;
    environment_block_write(&message, launch, environment);
    struct frame frame = {.type = FRAME_LAUNCH,
                          .flags = early ? FRAME_LAUNCH_EARLY : 0,
                          .group = group->number,
                          .bytes = buf_bytes(&message),
                          .len = message.len};
    if (early)
        tree_send_early(group->groups->tree, group->tree_node[0], &frame);
    else
        task_group_send(group, &frame);
    buf_free(&message);
}

void task_groups_send_early(struct task_groups *groups, const struct task_group_source *from,
                            const struct task_group_origin *origin)
{
    groups->early = task_group_new(groups, from);
    groups->early_launch = make_launch(groups->early, from, origin);
    send_launch(groups->early, groups->early_launch, from->spec->environment, true);
}

void task_groups_forget_early(struct task_groups *groups)
{
    if (!groups->early)
        return;
    groups->next_number--;
    groups->next_rank -= groups->early->ntasks;
    task_group_free(groups->early);
    groups->early = NULL;
    json_decref(groups->early_launch);
    groups->early_launch = NULL;
}

struct task_group *task_group_start(struct task_groups *groups,
                                    const struct task_group_source *from,
                                    const struct task_group_origin *origin)
{
    bool sent = groups->early != NULL;
    struct task_group *group = sent ? groups->early : task_group_new(groups, from);
    struct task_group **last = &groups->first;
    json_t *launch = groups->early_launch;
    groups->early = NULL;
    groups->early_launch = NULL;
    groups->ops->added(groups->owner, group, from);
    while (*last)
        last = &(*last)->next;
    *last = group;
    /* What the front end needs to know of ranks. */
    const struct task_table_group table = {.program = origin->program,
                                           .first_rank = group->first_rank,
                                           .ntasks = group->ntasks,
                                           .host_names = origin->hosts,
                                           .tree_node = group->tree_node,
                                           .nnodes = group->nnodes,
                                           .map = group->map};
    json_t *mapped = task_table_to_json(&table);
    groups->ops->mapped(groups->owner, mapped);
    json_decref(mapped);
    if (!sent) /* it says what the program holds, this group's part only once that is listed */
        launch = make_launch(group, from, origin);
    groups->ops->launched(groups->owner, group, launch);
    if (!sent)
        send_launch(group, launch, from->spec->environment, false);
    json_decref(launch);
    return group;
}

/* ---- over ---- */

void task_group_nodes_done(struct task_group *group, const struct idset *nodes)
{
    struct idset *left = idset_subtract(group->pending, nodes);
    idset_free(group->pending);
    group->pending = left;
}

void task_group_drop(struct task_group *group)
{
    struct task_group **at = &group->groups->first;
    while (*at && *at != group)
        at = &(*at)->next;
    if (*at)
        *at = group->next;
    task_group_free(group);
}
