/* The tree below an agent, for the agent. */
#include "launcher/agent/downlink.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/protocol/task_report.h"
#include "launcher/tree/tree.h"

struct downlink {
    struct ev_loop *loop;
    struct uplink *uplink;
    struct tree *tree;   /* NULL: nobody is below */
    struct idset *nodes; /* below, that are not lost */
    pid_t other;         /* a further process that is no task, or 0 */
    pid_t *pids;         /* of the last downlink_pids() */
    bool empty;          /* after tree_end(): all children are gone */
    const struct downlink_ops *ops;
    void *owner;
};

/* ---- what comes from below ---- */

/* The time in it is turned into this machine's. */
static void pass_ended(struct downlink *downlink, uint32_t child, const struct frame *frame)
{
    struct buf copy = BUF_INIT;
    if (frame->len < 8)
        return;
    ended_report_pack_at(
        &copy, ended_report_time(frame) - (uint64_t)tree_clock_offset(downlink->tree, child),
        frame);
    struct frame mine = *frame;
    mine.bytes = buf_bytes(&copy);
    uplink_send(downlink->uplink, &mine);
    buf_free(&copy);
}

static void downlink_on_frame(void *arg, uint32_t child, const struct frame *frame)
{
    struct downlink *downlink = arg;
    if (frame->type == FRAME_ENDED)
        pass_ended(downlink, child, frame);
    else if (!downlink->ops->frame(downlink->owner, frame))
        tree_relay(downlink->tree, child, uplink_link(downlink->uplink), frame);
    else if (frame_is_bulk(frame->type))
        tree_consumed(downlink->tree, child, link_weight(frame));
}

static void forget(struct downlink *downlink, const struct idset *nodes)
{
    struct idset *left = idset_subtract(downlink->nodes, nodes);
    idset_free(downlink->nodes);
    downlink->nodes = left;
    downlink->ops->gone(downlink->owner, nodes);
}

static void downlink_on_unreached(void *arg, const struct tree_unreached *what)
{
    struct downlink *downlink = arg;
    if (uplink_is_lost(downlink->uplink) || !downlink->nodes)
        return;
    char *nodes = idset_encode(what->nodes);
    json_t *value = json_pack("{s:i, s:s, s:i, s:o, s:f, s:s}", "node", (int)what->node, "host",
                              what->host, "stage", (int)what->stage, "text", frame_text(what->text),
                              "elapsed", what->elapsed, "nodes", nodes);
    uplink_send_json(downlink->uplink, (struct frame){.type = FRAME_UNREACHED, .node = what->node},
                     value);
    free(nodes);
    forget(downlink, what->nodes);
    tree_forget(downlink->tree, what->nodes);
}

static void downlink_on_lost(void *arg, const char *host, const struct idset *nodes,
                             const char *why)
{
    struct downlink *downlink = arg;
    if (uplink_is_lost(downlink->uplink) || !downlink->nodes)
        return;
    char *text = idset_encode(nodes);
    json_t *value =
        json_pack("{s:s, s:s, s:o}", "host", host, "nodes", text, "text", frame_text(why));
    uplink_send_json(downlink->uplink,
                     (struct frame){.type = FRAME_LOST, .node = uplink_node(downlink->uplink)},
                     value);
    free(text);
    forget(downlink, nodes);
}

static void downlink_on_room(void *arg)
{
    struct downlink *downlink = arg;
    downlink->ops->room(downlink->owner);
}

static void downlink_on_note(void *arg, const char *text)
{
    struct downlink *downlink = arg;
    uplink_note(downlink->uplink, "%s", text);
}

static void downlink_on_empty(void *arg)
{
    ((struct downlink *)arg)->empty = true;
}

static const struct tree_ops tree_ops = {downlink_on_frame,
                                         downlink_on_unreached,
                                         downlink_on_lost,
                                         downlink_on_room,
                                         downlink_on_note,
                                         downlink_on_empty,
                                         NULL};

/* ---- life ---- */

struct downlink *downlink_new(struct ev_loop *loop, struct uplink *uplink,
                              const struct downlink_ops *ops, void *owner)
{
    struct downlink *downlink = mem_alloc(sizeof(*downlink));
    *downlink = (struct downlink){.loop = loop, .uplink = uplink, .ops = ops, .owner = owner};
    return downlink;
}

void downlink_free(struct downlink *downlink)
{
    if (!downlink)
        return;
    tree_free(downlink->tree);
    idset_free(downlink->nodes);
    free(downlink->pids);
    free(downlink);
}

void downlink_start(struct downlink *downlink, const struct bootstrap *boot, const json_t *below)
{
    size_t count;
    struct tree_target *targets = tree_targets_from_json(below, &count, NULL);
    if (!targets || !count) {
        free(targets);
        return;
    }
    downlink->nodes = idset_new();
    for (size_t i = 0; i < count; i++)
        idset_add(downlink->nodes, targets[i].node);
    downlink->tree = tree_new(downlink->loop, boot, &tree_ops, downlink);
    tree_start(downlink->tree, targets, count, TREE_BELOW);
    tree_targets_free(targets, count);
}

/* ---- use ---- */

const struct idset *downlink_nodes(const struct downlink *downlink)
{
    return downlink->nodes;
}

bool downlink_has(const struct downlink *downlink, uint32_t node)
{
    return downlink->nodes && idset_has(downlink->nodes, node);
}

void downlink_send(struct downlink *downlink, const struct frame *frame)
{
    if (downlink->tree)
        tree_send(downlink->tree, frame);
}

void downlink_send_node(struct downlink *downlink, uint32_t node, const struct frame *frame)
{
    if (downlink->tree)
        tree_send_node(downlink->tree, node, frame);
}

void downlink_send_nodes(struct downlink *downlink, const struct idset *nodes,
                         const struct frame *frame)
{
    if (downlink->tree)
        tree_send_nodes(downlink->tree, nodes, frame);
}

bool downlink_has_room(const struct downlink *downlink, const struct idset *nodes)
{
    return !downlink->tree || tree_room(downlink->tree, nodes);
}

void downlink_relay_room(struct downlink *downlink)
{
    if (downlink->tree)
        tree_relay_room(downlink->tree);
}

void downlink_add_pid(struct downlink *downlink, pid_t pid)
{
    downlink->other = pid;
}

const pid_t *downlink_agent_pids(const struct downlink *downlink, size_t *count)
{
    *count = 0;
    return downlink->tree ? tree_pids(downlink->tree, count) : NULL;
}

const pid_t *downlink_pids(struct downlink *downlink, size_t *count)
{
    size_t below;
    const pid_t *pids = downlink_agent_pids(downlink, &below);
    *count = below;
    if (!downlink->other)
        return pids;
    downlink->pids = mem_resize(downlink->pids, below + 1, sizeof(pid_t));
    if (below)
        memcpy(downlink->pids, pids, below * sizeof(pid_t));
    downlink->pids[(*count)++] = downlink->other;
    return downlink->pids;
}

/* ---- the end ---- */

void downlink_end(struct downlink *downlink, double patience)
{
    if (downlink->nodes) {
        struct idset *all = downlink->nodes;
        downlink->nodes = idset_new();
        downlink->ops->gone(downlink->owner, all);
        idset_free(all);
    }
    if (downlink->tree)
        tree_end(downlink->tree, patience);
}

bool downlink_is_empty(const struct downlink *downlink)
{
    return !downlink->tree || downlink->empty;
}
