#include "launcher/tree/tree.h"

#include <stdlib.h>

#include "base/mem.h"
#include "launcher/tree/child.h"

struct tree {
    struct ev_loop *loop;
    const struct bootstrap *boot;
    const struct tree_ops *ops;
    void *arg;
    struct child_owner owner;
    struct child **children;
    uint32_t count;
    uint32_t present; /* children whose process or link is still there */
    pid_t *pids;
    bool ending;
    bool *freed;
};

/* ---- what children report ---- */

static void on_frame(void *arg, struct child *child, const struct frame *frame)
{
    struct tree *tree = arg;
    tree->ops->frame(tree->arg, child->number, frame);
}

static void on_room(void *arg)
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
    struct idset *nodes = idset_copy(child->nodes); /* the owner may forget them meanwhile */
    struct tree_unreached what = {.node = child->node,
                                  .host = child->host,
                                  .stage = child->stage,
                                  .text = text,
                                  .elapsed = ev_now(tree->loop) - child->started,
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
    tree->owner = (struct child_owner){loop,    boot,         tree,    on_frame, on_room,
                                       on_note, on_unreached, on_lost, on_gone,  on_here};
    return tree;
}

static void tree_add(struct tree *tree, const struct child_group *group)
{
    tree->children = mem_resize(tree->children, tree->count + 1, sizeof(*tree->children));
    tree->pids = mem_resize(tree->pids, tree->count + 1, sizeof(*tree->pids));
    tree->pids[tree->count] = 0;
    tree->present++;
    tree->children[tree->count] = child_start(&tree->owner, tree->count, group);
    tree->pids[tree->count] = tree->children[tree->count]->pid;
    tree->count++;
}

void tree_start(struct tree *tree, const struct tree_target *targets, size_t count,
                enum tree_try how)
{
    bool directly = how == TREE_AGAIN || how == TREE_LATE;
    size_t groups = directly || count < tree->boot->fanout ? count : tree->boot->fanout;
    size_t at = 0;
    for (size_t i = 0; i < groups; i++) {
        size_t size = (count - at) / (groups - i); /* the rest, shared evenly */
        double share = how == TREE_LATE || (how == TREE_FIRST && size == 1) ? 1 : 0.5;
        struct child_group group = {&targets[at], &targets[at + 1], size - 1,
                                    share * tree->boot->start_timeout};
        tree_add(tree, &group);
        at += size;
    }
}

void tree_free(struct tree *tree)
{
    if (!tree)
        return;
    for (uint32_t i = 0; i < tree->count; i++)
        child_free(tree->children[i]);
    free(tree->children);
    free(tree->pids);
    free(tree);
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
    for (uint32_t i = 0; i < tree->count; i++)
        if (is_up(tree->children[i]) && idset_has(tree->children[i]->nodes, node))
            link_send(tree->children[i]->link, frame);
}

static bool serves(const struct child *child, const struct idset *nodes)
{
    struct idset *both = idset_intersect(child->nodes, nodes);
    bool any = !idset_empty(both);
    idset_free(both);
    return any && is_up(child);
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
    for (uint32_t i = 0; i < tree->count; i++) {
        struct idset *left = idset_subtract(tree->children[i]->nodes, nodes);
        idset_free(tree->children[i]->nodes);
        tree->children[i]->nodes = left;
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
        child_end(tree->children[i], patience);
}

const pid_t *tree_pids(const struct tree *tree, size_t *count)
{
    *count = tree->count;
    return tree->pids;
}

void tree_disown(struct tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        link_disown(tree->children[i]->link);
        if (tree->children[i]->words_fd >= 0)
            close(tree->children[i]->words_fd);
    }
}
