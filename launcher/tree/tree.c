/* The children of this process in the tree: started in turn, sent to by node, ended. */
#include "launcher/tree/tree.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "launcher/tree/child.h"
#include "launcher/tree/multi_host_start.h"

#define NO_CHILD UINT32_MAX

struct tree {
    struct ev_loop *loop;
    const struct bootstrap *boot;
    const struct tree_ops *ops;
    void *arg;
    struct child_owner owner;
    struct child **children;
    uint32_t count;
    uint32_t *child_of; /* [nnodes] by node: the child that stands for it, or NO_CHILD */
    uint32_t nnodes;
    struct start_queue waiting;
    uint32_t reaching; /* children that count for the fan-out */
    uint32_t sharing;  /* those of them that are started together */
    double heard; /* s of the monotonic clock, when one last came up, or the first began to wait */
    uint32_t present; /* children whose process or link, and starts whose process, is still there */
    pid_t *pids;
    struct multi_host_start **starts;
    size_t nstarts;
    pid_t *all_pids; /* of children and of what starts several of them */
    bool ending;
};

static void tree_start_waiting(struct tree *tree);

/* It is up, or gone: the next has its turn. */
static void has_reached(struct tree *tree, struct child *child)
{
    if (!child->reaching)
        return;
    child->reaching = false;
    tree->reaching--;
    tree->sharing -= child->start != NULL;
    tree_start_waiting(tree);
}

/* ---- what children report ---- */

static void tree_on_frame(void *arg, struct child *child, const struct frame *frame)
{
    struct tree *tree = arg;
    if (child->reaching && child->stage == STAGE_UP) {
        tree->heard = clock_monotonic_seconds();
        has_reached(tree, child);
        if (child->start)
            multi_host_start_check(child->start);
    }
    tree->ops->frame(tree->arg, child->number, frame);
}

static void tree_on_room(void *arg)
{
    struct tree *tree = arg;
    tree->ops->room(tree->arg);
}

static void on_note(void *arg, const char *text)
{
    struct tree *tree = arg;
    tree->ops->note(tree->arg, text);
}

static void on_unreached(void *arg, struct child *child, const char *text)
{
    struct tree *tree = arg;
    if (!child->group.below && !child->silent && child->group.count > 1 && !tree->ending) {
        /* Its group goes on without it: those are nobody's until then. */
        struct start_queue_group rest = child->group;
        rest.first++;
        rest.count--;
        rest.again = true;
        start_queue_add(&tree->waiting, &rest);
        for (size_t i = 0; i < rest.count; i++)
            idset_remove(child->nodes, rest.list->targets[rest.first + i].node);
    }
    struct idset *nodes = idset_copy(child->nodes); /* the owner may forget them meanwhile */
    struct tree_unreached what = {.node = child->node,
                                  .host = child->host,
                                  .stage = child->stage,
                                  .text = text,
                                  .elapsed = clock_monotonic_seconds() - child->started,
                                  .silent = child->silent,
                                  .nodes = nodes};
    tree->ops->unreached(tree->arg, &what);
    idset_free(nodes);
}

static void on_lost(void *arg, struct child *child, const char *why)
{
    struct tree *tree = arg;
    if (tree->ending)
        return;
    struct idset *nodes = idset_copy(child->nodes);
    tree->ops->lost(tree->arg, child->host, nodes, why);
    idset_free(nodes);
}

static void on_gone(void *arg, struct child *child)
{
    struct tree *tree = arg;
    if (tree->pids[child->number] < 0)
        return;
    tree->pids[child->number] = -1;
    tree->present--;
    has_reached(tree, child);
    if (child->start)
        multi_host_start_check(child->start);
    if (tree->ending && !tree->present)
        tree->ops->empty(tree->arg);
}

static void on_start_gone(void *arg)
{
    struct tree *tree = arg;
    tree->present--;
    if (tree->ending && !tree->present)
        tree->ops->empty(tree->arg);
}

static int on_here(void *arg, int fd)
{
    struct tree *tree = arg;
    return tree->ops->agent_here(tree->arg, fd);
}

/* ---- starting ---- */

struct tree *tree_new(struct ev_loop *loop, const struct bootstrap *boot,
                      const struct tree_ops *ops, void *arg)
{
    struct tree *tree = mem_alloc(sizeof(*tree));
    tree->loop = loop;
    tree->boot = boot;
    tree->ops = ops;
    tree->arg = arg;
    tree->owner = (struct child_owner){loop,    boot,         tree,    tree_on_frame, tree_on_room,
                                       on_note, on_unreached, on_lost, on_gone,       on_here};
    return tree;
}

void tree_free(struct tree *tree)
{
    if (!tree)
        return;
    for (uint32_t i = 0; i < tree->count; i++)
        child_free(tree->children[i]);
    for (size_t i = 0; i < tree->nstarts; i++)
        multi_host_start_free(tree->starts[i]);
    free(tree->starts);
    free(tree->all_pids);
    start_queue_clear(&tree->waiting);
    free(tree->children);
    free(tree->child_of);
    free(tree->pids);
    free(tree);
}

static void know_nodes(struct tree *tree, const struct idset *nodes, uint32_t child)
{
    uint32_t last = idset_empty(nodes) ? 0 : idset_last(nodes);
    if (last >= tree->nnodes) {
        uint32_t more = last + 1 > 2 * tree->nnodes ? last + 1 : 2 * tree->nnodes;
        tree->child_of = mem_resize(tree->child_of, more, sizeof(*tree->child_of));
        for (; tree->nnodes < more; tree->nnodes++)
            tree->child_of[tree->nnodes] = NO_CHILD;
    }
    IDSET_FOREACH(node, nodes)
    tree->child_of[node] = child;
}

static void tree_add(struct tree *tree, struct multi_host_start **start,
                     const struct start_queue_group *group)
{
    tree->children = array_grow(tree->children, tree->count, sizeof(*tree->children));
    tree->pids = array_grow(tree->pids, tree->count, sizeof(*tree->pids));
    tree->pids[tree->count] = 0;
    tree->present++;
    struct child *child = child_start(&tree->owner, tree->count, group);
    tree->children[tree->count] = child;
    tree->pids[tree->count] = child->pid;
    tree->reaching += child->reaching;
    if (start_queue_group_is_shared(group)) {
        if (!*start) { /* who adds the last one runs it */
            struct multi_host_start_owner owner = {tree->loop, tree->boot, tree, on_note,
                                                   on_start_gone};
            *start = multi_host_start_new(&owner);
            tree->starts =
                array_grow(tree->starts, tree->nstarts, sizeof(struct multi_host_start *));
            tree->starts[tree->nstarts++] = *start;
            tree->present++;
        }
        multi_host_start_add(*start, child);
        tree->sharing++;
    }
    know_nodes(tree, child->nodes, tree->count);
    tree->count++;
}

/* Nothing has come up for so long that nothing is likely to. */
static void tree_give_up(struct tree *tree, const struct start_queue_group *group)
{
    char *text =
        mem_format("not tried, since no host has answered for %.3g s", tree->boot->start_timeout);
    for (size_t i = 0; i < group->count; i++) {
        const struct tree_target *target = &group->list->targets[group->first + i];
        struct idset *nodes = idset_new();
        idset_add(nodes, target->node);
        struct tree_unreached what = {.node = target->node,
                                      .host = target->host,
                                      .stage = bootstrap_first_stage(tree->boot),
                                      .text = text,
                                      .elapsed = -1,
                                      .nodes = nodes};
        tree->ops->unreached(tree->arg, &what);
        idset_free(nodes);
    }
    free(text);
}

/* One command is to start many: it waits until half of those before are up or have failed. */
static bool is_turn(const struct tree *tree, const struct multi_host_start *start)
{
    const struct start_queue_group *next = start_queue_next(&tree->waiting);
    return next &&
           (start || !start_queue_group_is_shared(next) || tree->sharing <= tree->boot->fanout / 2);
}

static void tree_start_waiting(struct tree *tree)
{
    struct multi_host_start *start = NULL;
    struct start_queue_group group;
    while (!tree->ending && tree->reaching < tree->boot->fanout && is_turn(tree, start) &&
           start_queue_take(&tree->waiting, &group)) {
        if (clock_monotonic_seconds() - tree->heard < tree->boot->start_timeout) {
            tree_add(tree, &start, &group);
            continue;
        }
        tree_give_up(tree, &group);
        target_list_free(group.list);
    }
    if (start)
        multi_host_start_run(start);
}

void tree_start(struct tree *tree, const struct tree_target *targets, size_t count,
                enum tree_try how)
{
    bool directly = how == TREE_AGAIN || how == TREE_LATE || tree->boot->flat;
    size_t groups = directly || count < tree->boot->fanout ? count : tree->boot->fanout;
    size_t at = 0;
    if (!count)
        return;
    struct target_list *list = target_list_new(targets, count);
    if (!tree->reaching)
        tree->heard = clock_monotonic_seconds();
    for (size_t i = 0; i < groups; i++) {
        size_t size = (count - at) / (groups - i); /* the rest, shared evenly */
        double share = how == TREE_LATE || (how == TREE_FIRST && size == 1) ? 1 : 0.5;
        struct start_queue_group group = {.list = list,
                                          .first = at,
                                          .count = size,
                                          .patience = share * tree->boot->start_timeout,
                                          .below = how == TREE_BELOW};
        start_queue_add(&tree->waiting, &group);
        at += size;
    }
    target_list_free(list);
    tree_start_waiting(tree);
}

/* ---- sending ---- */

static bool is_up(const struct child *child)
{
    return child->link && child->stage == STAGE_UP;
}

void tree_send(struct tree *tree, const struct frame *frame)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (is_up(tree->children[i]))
            link_send(tree->children[i]->link, frame);
}

void tree_send_node(struct tree *tree, uint32_t node, const struct frame *frame)
{
    uint32_t child = node < tree->nnodes ? tree->child_of[node] : NO_CHILD;
    if (child != NO_CHILD && is_up(tree->children[child]))
        link_send(tree->children[child]->link, frame);
}

bool tree_takes_early(const struct tree *tree, uint32_t node)
{
    uint32_t child = node < tree->nnodes ? tree->child_of[node] : NO_CHILD;
    return child != NO_CHILD && child_takes_early(tree->children[child]);
}

void tree_send_early(struct tree *tree, uint32_t node, const struct frame *frame)
{
    assert(tree_takes_early(tree, node));
    child_send_early(tree->children[tree->child_of[node]], frame);
}

static bool serves(const struct child *child, const struct idset *nodes)
{
    return is_up(child) && idset_count_both(child->nodes, nodes);
}

void tree_send_nodes(struct tree *tree, const struct idset *nodes, const struct frame *frame)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (serves(tree->children[i], nodes))
            link_send(tree->children[i]->link, frame);
}

size_t tree_room(const struct tree *tree, const struct idset *nodes)
{
    size_t room = LINK_WINDOW;
    for (uint32_t i = 0; i < tree->count; i++) {
        if (serves(tree->children[i], nodes) && link_room(tree->children[i]->link) < room)
            room = link_room(tree->children[i]->link);
    }
    return room;
}

void tree_consumed(struct tree *tree, uint32_t child, size_t bytes)
{
    if (tree->children[child]->link)
        link_consumed(tree->children[child]->link, bytes);
}

void tree_relay(struct tree *tree, uint32_t child, struct link *up, const struct frame *frame)
{
    if (up)
        link_send(up, frame);
    if (!frame_is_bulk(frame->type))
        return;
    if (!up || link_room(up))
        tree_consumed(tree, child, link_weight(frame));
    else
        tree->children[child]->owed += link_weight(frame);
}

void tree_relay_room(struct tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        if (tree->children[i]->owed)
            tree_consumed(tree, i, tree->children[i]->owed);
        tree->children[i]->owed = 0;
    }
}

int64_t tree_clock_offset(const struct tree *tree, uint32_t child)
{
    const struct link *link = tree->children[child]->link;
    return link ? link_clock_offset(link) : 0;
}

void tree_forget(struct tree *tree, const struct idset *nodes)
{
    IDSET_FOREACH(node, nodes)
    {
        uint32_t child = node < tree->nnodes ? tree->child_of[node] : NO_CHILD;
        if (child == NO_CHILD)
            continue;
        idset_remove(tree->children[child]->nodes, node);
        tree->child_of[node] = NO_CHILD;
    }
}

void tree_add_nodes(const struct tree *tree, struct idset *nodes)
{
    for (uint32_t i = 0; i < tree->count; i++)
        IDSET_FOREACH(node, tree->children[i]->nodes)
    idset_add(nodes, node);
}

/* ---- the end ---- */

void tree_end(struct tree *tree, double patience)
{
    if (tree->ending)
        return;
    tree->ending = true;
    if (!tree->present) {
        tree->ops->empty(tree->arg);
        return;
    }
    uint32_t count = tree->count;
    for (uint32_t i = 0; i < count; i++)
        if (tree->pids[i] >= 0)
            child_end(tree->children[i], patience);
    for (size_t i = 0; i < tree->nstarts; i++)
        multi_host_start_end(tree->starts[i], patience);
}

const pid_t *tree_pids(struct tree *tree, size_t *count)
{
    *count = tree->count + tree->nstarts;
    tree->all_pids = mem_resize(tree->all_pids, *count, sizeof(*tree->all_pids));
    for (uint32_t i = 0; i < tree->count; i++)
        tree->all_pids[i] = tree->pids[i];
    for (size_t i = 0; i < tree->nstarts; i++)
        tree->all_pids[tree->count + i] = multi_host_start_pid(tree->starts[i]);
    return tree->all_pids;
}

void tree_disown(struct tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        link_disown(tree->children[i]->link);
        if (tree->children[i]->words_fd >= 0)
            close(tree->children[i]->words_fd);
    }
    for (size_t i = 0; i < tree->nstarts; i++)
        multi_host_start_disown(tree->starts[i]);
}
