/* A shape to a request: down to the slot, vertex by vertex; what is above it are nodes and localities. */
#include "affinity/treepool/request.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/treepool/request_private.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"

void request_free(struct request *request)
{
    if (!request)
        return;
    for (size_t i = 0; i < request->nwithin; i++) {
        free(request->within[i].locality);
        count_clear(&request->within[i].count);
    }
    free(request->within);
    count_clear(&request->nodes);
    count_clear(&request->slots);
    request_need_clear(&request->slot);
    free(request->label);
    free(request);
}

/* The slots of a list and all below it: the first and the second. */
static void request_find_slots(const struct shape_vertex *list, size_t count,
                               const struct shape_vertex *slots[2])
{
    for (size_t i = 0; i < count && !slots[1]; i++) {
        if (request_kind(&list[i]) == REQUEST_SLOT)
            slots[slots[0] != NULL] = &list[i];
        request_find_slots(list[i].with, list[i].nwith, slots);
    }
}

static bool request_contains(const struct shape_vertex *vertex, const struct shape_vertex *slot)
{
    if (vertex == slot)
        return true;
    for (size_t i = 0; i < vertex->nwith; i++)
        if (request_contains(&vertex->with[i], slot))
            return true;
    return false;
}

static const struct shape_vertex *request_find_node(const struct shape_vertex *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct shape_vertex *node = request_kind(&list[i]) == REQUEST_NODE
                                              ? &list[i]
                                              : request_find_node(list[i].with, list[i].nwith);
        if (node)
            return node;
    }
    return NULL;
}

/* Times what stands above; *to is not given yet. */
static int request_set_count(const struct request_walk *walk, const struct shape_vertex *vertex,
                             struct count *to)
{
    const struct count *count = &vertex->count;
    uint64_t product = walk->factor;
    *to = count_copy(count);
    if (walk->factor == 1)
        return 0;
    count_clear(to);
    if (count->min != count->max)
        return shape_refuse(walk->shape, vertex, walk->err,
                            "%s is multiplied by the counts in front of it, so all of these are "
                            "single numbers, as in rack=2/node=4/slot",
                            vertex->type);
    if (request_multiply(walk, vertex, &product, count->min) < 0)
        return -1;
    if (product > COUNT_MAX)
        return shape_refuse(walk->shape, vertex, walk->err, "that makes more than %u of %s",
                            COUNT_MAX, vertex->type);
    *to = count_of((uint32_t)product);
    return 0;
}

/* What may be above a node, or above a slot where there is no node: cluster, rack and so on, of which only
 * the count means something. */
static int request_pass_above(struct request_walk *walk, const struct shape_vertex *vertex)
{
    struct excerpt type = excerpt(vertex->type, strlen(vertex->type));
    bool node_follows = request_find_node(vertex->with, vertex->nwith) != NULL;
    enum request_kind kind = request_kind(vertex);
    if (kind != REQUEST_CONTAINER && node_follows && kind != REQUEST_OTHER)
        return shape_refuse(walk->shape, vertex, walk->err, "a node cannot stand in %s", type.text);
    if (kind != REQUEST_CONTAINER && !node_follows)
        return shape_refuse(walk->shape, vertex, walk->err,
                            "%s in front of the slot lies in no node; node/socket/slot, for "
                            "example, says in which",
                            type.text);
    if (vertex->exclusive == SHAPE_EXCLUSIVE)
        return shape_refuse(walk->shape, vertex, walk->err,
                            "%s cannot be had as a whole; node{x} can", type.text);
    if (vertex->count.min != vertex->count.max)
        return shape_refuse(walk->shape, vertex, walk->err,
                            "the count of %s multiplies what stands in it, and has to be a "
                            "single number",
                            type.text);
    return request_multiply(walk, vertex, &walk->factor, vertex->count.min);
}

static int request_pass_node(struct request_walk *walk, const struct shape_vertex *node)
{
    struct request *request = walk->request;
    walk->below_node = true;
    request->node_exclusive = node->exclusive == SHAPE_EXCLUSIVE;
    if (request_find_node(node->with, node->nwith))
        return shape_refuse(walk->shape, node, walk->err,
                            "a node cannot stand in a node; expected slot=4/node/core or "
                            "node=2/slot=2/core");
    if (request_set_count(walk, node, &request->nodes) < 0)
        return -1;
    walk->factor = 1;
    return 0;
}

/* A locality between node and slot. */
static int request_pass_within(struct request_walk *walk, const struct shape_vertex *vertex)
{
    struct request *request = walk->request;
    size_t n = request->nwithin;
    request->within = array_grow(request->within, n, sizeof(*request->within));
    request->within[request->nwithin++] =
        (struct request_within){.locality = mem_copy_text(vertex->type),
                                .count = count_copy(&vertex->count),
                                .exclusive = vertex->exclusive == SHAPE_EXCLUSIVE};
    return request_multiply(walk, vertex, &walk->multitude, vertex->count.min);
}

/* A vertex that the slot stands in. */
static int request_pass(struct request_walk *walk, const struct shape_vertex *vertex)
{
    switch (request_kind(vertex)) {
    case REQUEST_NODE:
        return request_pass_node(walk, vertex);
    case REQUEST_CORE:
    case REQUEST_GPU:
    case REQUEST_MEMORY:
    case REQUEST_STORAGE:
    case REQUEST_THREAD:
        return shape_refuse(walk->shape, vertex, walk->err,
                            "a slot cannot stand in %s; expected slot/%s", vertex->type,
                            vertex->type);
    default:
        return walk->below_node ? request_pass_within(walk, vertex)
                                : request_pass_above(walk, vertex);
    }
}

/* A container or a node inside the slot: there may be one, and nothing beside it. */
static int request_check_alone(const struct request_walk *walk, const struct shape_vertex *list,
                               size_t count, const struct shape_vertex *vertex)
{
    for (size_t i = 0; i < count; i++)
        if (&list[i] != vertex)
            return shape_refuse(walk->shape, &list[i], walk->err,
                                "%s stands beside the node of the slot; expected it in the node: "
                                "slot/node/[core;gpu]",
                                excerpt(list[i].type, strlen(list[i].type)).text);
    if (count_within(&vertex->count, 1) == 1)
        return 0;
    char *nodes = count_encode(&vertex->count);
    shape_refuse(walk->shape, vertex, walk->err,
                 "a slot lies on one node; slot=%s/node/... is a slot on each of as many nodes, "
                 "node=%s/slot=N/... is N on each",
                 nodes, nodes);
    free(nodes);
    return -1;
}

/* The list of the slot that has the node in it, or a container with it; down to the node. */
static const struct shape_vertex *request_enter_node(struct request_walk *walk)
{
    const struct shape_vertex *list = walk->slot->with;
    size_t count = walk->slot->nwith;
    for (;;) {
        const struct shape_vertex *down = list;
        while (!request_find_node(down, 1))
            down++;
        if (request_check_alone(walk, list, count, down) < 0 || request_check_keys(walk, down) < 0)
            return NULL;
        if (request_kind(down) == REQUEST_NODE)
            return down;
        if (request_pass_above(walk, down) < 0)
            return NULL;
        list = down->with;
        count = down->nwith;
    }
}

static bool request_has_cores(const struct request_need *need)
{
    bool has = need->exclusive || need->cores.max;
    for (size_t i = 0; i < need->ninner && !has; i++)
        has = request_has_cores(&need->inner[i]);
    return has;
}

/* A slot that is all of a node has all its cores, whatever else is counted; any other needs one. */
static int request_settle_slot(struct request_walk *walk, bool whole)
{
    struct request_need *slot = &walk->request->slot;
    bool empty = !slot->gpus.max && !slot->ninner;
    if (request_has_cores(slot) || (whole && empty))
        return 0;
    if (!whole)
        return shape_refuse(walk->shape, walk->slot, walk->err,
                            "a task runs on a core, and there is none in this slot; "
                            "expected, for example, slot/[core;gpu]");
    slot->cores = (struct count){1, COUNT_UNBOUNDED, '+', 1, NULL};
    return 0;
}

/* slot=4/node/...: so many nodes, a slot on each. */
static int request_read_node_slot(struct request_walk *walk)
{
    struct request *request = walk->request;
    const struct shape_vertex *node = request_enter_node(walk);
    if (!node)
        return -1;
    if (request_set_count(walk, walk->slot, &request->nodes) < 0)
        return -1;
    request->slots = count_of(1);
    if (request_fill(walk, &request->slot, node->with, node->nwith) < 0)
        return -1;
    const struct request_need *slot = &request->slot;
    bool counted = slot->cores.max || slot->gpus.max || slot->ninner;
    bool whole = node->exclusive == SHAPE_EXCLUSIVE ||
                 (node->exclusive == SHAPE_UNSAID && !counted) || request->node_exclusive;
    request->node_exclusive = whole;
    return request_settle_slot(walk, whole);
}

/* Slots on the nodes there are, or anywhere. */
static int request_read_part_slot(struct request_walk *walk)
{
    struct request *request = walk->request;
    const struct shape_vertex *slot = walk->slot;
    bool own_node = !walk->below_node && request->node_exclusive;
    struct count *count = own_node ? &request->nodes : &request->slots;
    if (own_node)
        request->slots = count_of(1);
    if (request_set_count(walk, slot, count) < 0)
        return -1;
    if (walk->below_node && request_multiply(walk, slot, &walk->multitude, slot->count.min) < 0)
        return -1;
    if (request_fill(walk, &request->slot, slot->with, slot->nwith) < 0)
        return -1;
    return request_settle_slot(walk, own_node);
}

/* An exclusive slot is one on nodes that are given as a whole. */
static int request_read_slot(struct request_walk *walk)
{
    const struct shape_vertex *slot = walk->slot;
    if (slot->exclusive == SHAPE_SHARED)
        return shape_refuse(walk->shape, slot, walk->err,
                            "what is in a slot is its own: it cannot be shared");
    walk->request->node_exclusive |= slot->exclusive == SHAPE_EXCLUSIVE;
    walk->request->label = mem_copy_text(slot->label);
    walk->request->slot.count = count_of(1);
    return request_find_node(slot->with, slot->nwith) ? request_read_node_slot(walk)
                                                      : request_read_part_slot(walk);
}

/* Down to the slot, by the vertex of the list that it stands in. */
static int request_read_list(struct request_walk *walk, const struct shape_vertex *list,
                             size_t count)
{
    const struct shape_vertex *down = list;
    while (!request_contains(down, walk->slot))
        down++;
    for (size_t i = 0; i < count; i++) { /* what stands beside it */
        enum request_kind kind = request_kind(&list[i]);
        bool memory = kind == REQUEST_MEMORY || kind == REQUEST_STORAGE;
        if (&list[i] == down)
            continue;
        if (request_check_keys(walk, &list[i]) < 0)
            return -1;
        if (!memory || !walk->below_node)
            return shape_refuse(walk->shape, &list[i], walk->err,
                                "%s is outside the slot, where no task could use it; expected, "
                                "for example, slot/[core;gpu]",
                                excerpt(list[i].type, strlen(list[i].type)).text);
        if (request_add_memory(walk, &list[i]) < 0)
            return -1;
    }
    if (request_check_keys(walk, down) < 0)
        return -1;
    if (down == walk->slot)
        return request_read_slot(walk);
    if (request_pass(walk, down) < 0)
        return -1;
    return request_read_list(walk, down->with, down->nwith);
}

static int request_find_slot(struct request_walk *walk)
{
    const struct shape *shape = walk->shape;
    const struct shape_vertex *slots[2] = {NULL, NULL};
    request_find_slots(shape->vertices, shape->nvertices, slots);
    walk->slot = slots[0];
    if (!slots[0])
        return shape_refuse(shape, &shape->vertices[0], walk->err,
                            "no slot, so no place for a task; expected, for example, "
                            "node=2/slot=4/core");
    if (!slots[1])
        return 0;
    return shape_refuse(shape, slots[1], walk->err,
                        "%s is another kind of slot than %s, and one kind can be had at a time",
                        excerpt(slots[1]->label, strlen(slots[1]->label)).text,
                        excerpt(slots[0]->label, strlen(slots[0]->label)).text);
}

struct request *request_from_shape(const struct shape *shape, struct error *err)
{
    struct request *request = mem_alloc(sizeof(*request));
    struct request_walk walk = {
        .shape = shape, .request = request, .factor = 1, .multitude = 1, .err = err};
    if (request_find_slot(&walk) == 0 &&
        request_read_list(&walk, shape->vertices, shape->nvertices) == 0)
        return request;
    request_free(request);
    return NULL;
}
