/* What is in a slot: cores and GPUs of its own, and localities with theirs. */
#include <stdlib.h>
#include <string.h>

#include "affinity/pool/request_private.h"
#include "affinity/resource/excerpt.h"
#include "base/mem.h"

void request_need_clear(struct request_need *need)
{
    for (size_t i = 0; i < need->ninner; i++)
        request_need_clear(&need->inner[i]);
    free(need->inner);
    free(need->locality);
    count_clear(&need->count);
    count_clear(&need->cores);
    count_clear(&need->gpus);
}

/* Cores or GPUs. */
static int request_add_units(struct request_walk *walk, struct count *units,
                             const struct shape_vertex *vertex)
{
    const char *why = NULL;
    if (units->max)
        why = "stands twice in one place: add the counts up";
    else if (vertex->exclusive == SHAPE_SHARED)
        why = "in a slot is the slot's own: it cannot be shared";
    else if (vertex->nwith)
        why = "is the smallest part that is given: nothing can stand in it";
    if (why)
        return shape_refuse(walk->shape, vertex, walk->err, "%s %s", vertex->type, why);
    *units = count_copy(&vertex->count);
    return 0;
}

static int request_refuse_other(struct request_walk *walk, const struct shape_vertex *vertex)
{
    const char *near = request_near(vertex->type);
    struct excerpt type = excerpt(vertex->type, strlen(vertex->type));
    if (near)
        return shape_refuse(walk->shape, vertex, walk->err,
                            "no resource %s is known here; %s may be meant", type.text, near);
    return shape_refuse(walk->shape, vertex, walk->err,
                        "no resource %s is known here; if it is a locality of your nodes say "
                        "what of it: the whole, {x}, or cores in it, /core=2",
                        type.text);
}

/* A locality in which nothing is counted is meant as a whole, as is all in a slot (RFC 14). */
static int request_settle_empty(struct request_walk *walk, struct request_need *need,
                                const struct shape_vertex *vertex)
{
    if (need->exclusive || need->cores.max || need->gpus.max || need->ninner)
        return 0;
    if (request_kind(vertex) == REQUEST_OTHER)
        return request_refuse_other(walk, vertex);
    if (vertex->exclusive == SHAPE_SHARED)
        return shape_refuse(walk->shape, vertex, walk->err,
                            "%s is not to be had as a whole and nothing is counted in it; "
                            "%s/core=2, for example, is right",
                            vertex->type, vertex->type);
    need->exclusive = true;
    return 0;
}

static struct request_need *request_add_inner(struct request_need *need,
                                              const struct shape_vertex *vertex)
{
    size_t n = need->ninner;
    if ((n & (n - 1)) == 0)
        need->inner = mem_resize(need->inner, n ? 2 * n : 1, sizeof(*need->inner));
    struct request_need *inner = &need->inner[need->ninner++];
    *inner = (struct request_need){.locality = mem_copy_text(vertex->type),
                                   .count = count_copy(&vertex->count),
                                   .exclusive = vertex->exclusive == SHAPE_EXCLUSIVE};
    return inner;
}

static int request_add_locality(struct request_walk *walk, struct request_need *need,
                                const struct shape_vertex *vertex)
{
    uint64_t before = walk->multitude;
    struct request_need *inner = request_add_inner(need, vertex);
    if (request_multiply(walk, vertex, &walk->multitude, vertex->count.min) < 0 ||
        request_fill(walk, inner, vertex->with, vertex->nwith) < 0)
        return -1;
    walk->multitude = before;
    return request_settle_empty(walk, inner, vertex);
}

static int request_add(struct request_walk *walk, struct request_need *need,
                       const struct shape_vertex *vertex)
{
    switch (request_kind(vertex)) {
    case REQUEST_CORE:
        return request_add_units(walk, &need->cores, vertex);
    case REQUEST_GPU:
        return request_add_units(walk, &need->gpus, vertex);
    case REQUEST_MEMORY:
    case REQUEST_STORAGE:
        return request_add_memory(walk, vertex);
    case REQUEST_LOCALITY:
    case REQUEST_OTHER:
        return request_add_locality(walk, need, vertex);
    case REQUEST_THREAD:
        return shape_refuse(walk->shape, vertex, walk->err,
                            "whole cores are given, and %s is less than one; core is right",
                            vertex->type);
    default:
        return shape_refuse(walk->shape, vertex, walk->err,
                            "%s cannot stand here: a slot is a part of one node, or one node",
                            vertex->type);
    }
}

int request_fill(struct request_walk *walk, struct request_need *need,
                 const struct shape_vertex *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (request_check_keys(walk, &list[i]) < 0 || request_add(walk, need, &list[i]) < 0)
            return -1;
    return 0;
}
