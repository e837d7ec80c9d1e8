/* What is in a slot: cores and GPUs of its own, and localities with theirs. */
#include <stdlib.h>
#include <string.h>

#include "affinity/treepool/request_private.h"
#include "base/edit_distance.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"

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

/* A locality in which nothing is counted is meant as a whole, as is all in a slot (RFC 14). */
static int request_settle_empty(struct request_walk *walk, struct request_need *need,
                                const struct shape_vertex *vertex)
{
    if (need->exclusive || need->cores.max || need->gpus.max || need->ninner)
        return 0;
    if (request_kind(vertex) == REQUEST_OTHER) {
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
    if (vertex->exclusive == SHAPE_SHARED)
        return shape_refuse(walk->shape, vertex, walk->err,
                            "%s is shared, and nothing in it is counted; expected, for example, "
                            "%s/core=2",
                            vertex->type, vertex->type);
    need->exclusive = true;
    return 0;
}

static int request_add_locality(struct request_walk *walk, struct request_need *need,
                                const struct shape_vertex *vertex)
{
    uint64_t before = walk->multitude;
    need->inner = array_grow(need->inner, need->ninner, sizeof(*need->inner));
    struct request_need *inner = &need->inner[need->ninner++];
    *inner = (struct request_need){.locality = mem_copy_text(vertex->type),
                                   .count = count_copy(&vertex->count),
                                   .exclusive = vertex->exclusive == SHAPE_EXCLUSIVE};
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
                            "only whole cores are given, and %s is less than one; expected core",
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

/* The types of resources that have a meaning here, and the keys that have none. */

static const struct {
    const char *type;
    enum request_kind kind;
} request_types[] = {
    {"slot", REQUEST_SLOT},         {"node", REQUEST_NODE},         {"core", REQUEST_CORE},
    {"gpu", REQUEST_GPU},           {"memory", REQUEST_MEMORY},     {"storage", REQUEST_STORAGE},
    {"socket", REQUEST_LOCALITY},   {"package", REQUEST_LOCALITY},  {"die", REQUEST_LOCALITY},
    {"numa", REQUEST_LOCALITY},     {"numanode", REQUEST_LOCALITY}, {"group", REQUEST_LOCALITY},
    {"l3cache", REQUEST_LOCALITY},  {"l2cache", REQUEST_LOCALITY},  {"l1cache", REQUEST_LOCALITY},
    {"cluster", REQUEST_CONTAINER}, {"rack", REQUEST_CONTAINER},    {"switch", REQUEST_CONTAINER},
    {"row", REQUEST_CONTAINER},     {"chassis", REQUEST_CONTAINER}, {"cabinet", REQUEST_CONTAINER},
    {"blade", REQUEST_CONTAINER},   {"pu", REQUEST_THREAD},         {"thread", REQUEST_THREAD},
    {"hwthread", REQUEST_THREAD},
};

#define REQUEST_NTYPES (sizeof(request_types) / sizeof(*request_types))

enum request_kind request_kind(const struct shape_vertex *vertex)
{
    for (size_t i = 0; i < REQUEST_NTYPES; i++)
        if (strcmp(vertex->type, request_types[i].type) == 0)
            return request_types[i].kind;
    return REQUEST_OTHER;
}

const char *request_near(const char *type)
{
    const char *words[REQUEST_NTYPES + 1];
    for (size_t i = 0; i < REQUEST_NTYPES; i++)
        words[i] = request_types[i].type;
    words[REQUEST_NTYPES] = NULL;
    return edit_distance_word(words, type, strlen(type));
}

int request_check_keys(const struct request_walk *walk, const struct shape_vertex *vertex)
{
    enum request_kind kind = request_kind(vertex);
    const char *type = vertex->type, *key = NULL;
    if (vertex->unit && kind != REQUEST_MEMORY && kind != REQUEST_STORAGE)
        key = "unit";
    else if (json_object_size(vertex->attributes))
        key = json_object_iter_key(json_object_iter(vertex->attributes));
    if (!key)
        return 0;
    return shape_refuse(walk->shape, vertex, walk->err,
                        "%s has the key %s, which asks for something that is not given here; "
                        "without it, or by a constraint, it may be had",
                        excerpt(type, strlen(type)).text, excerpt(key, strlen(key)).text);
}

/* Memory and storage: hints, in bytes a node. */

/* Names as SI and IEC have them; RFC 14 leaves units open. A single letter is as in options. */
static const struct {
    const char *name;
    uint64_t bytes;
} request_units[] = {
    {"B", 1},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000 * 1000},
    {"GB", 1000 * 1000 * 1000},
    {"TB", 1000ull * 1000 * 1000 * 1000},
    {"PB", 1000ull * 1000 * 1000 * 1000 * 1000},
    {"KiB", 1ull << 10},
    {"MiB", 1ull << 20},
    {"GiB", 1ull << 30},
    {"TiB", 1ull << 40},
    {"PiB", 1ull << 50},
    {"K", 1ull << 10},
    {"M", 1ull << 20},
    {"G", 1ull << 30},
    {"T", 1ull << 40},
    {"P", 1ull << 50},
};

static uint64_t request_unit(const char *unit)
{
    if (!unit)
        unit = "GiB"; /* RFC 49 */
    for (size_t i = 0; i < sizeof(request_units) / sizeof(*request_units); i++)
        if (strcmp(unit, request_units[i].name) == 0)
            return request_units[i].bytes;
    return 0;
}

int request_multiply(const struct request_walk *walk, const struct shape_vertex *vertex,
                     uint64_t *product, uint64_t by)
{
    if (!__builtin_mul_overflow(*product, by, product))
        return 0;
    return shape_refuse(walk->shape, vertex, walk->err,
                        "the total of %s is more than can be counted",
                        excerpt(vertex->type, strlen(vertex->type)).text);
}

int request_add_memory(struct request_walk *walk, const struct shape_vertex *vertex)
{
    uint64_t *sum =
        request_kind(vertex) == REQUEST_MEMORY ? &walk->request->memory : &walk->request->storage;
    uint64_t bytes = request_unit(vertex->unit);
    if (!bytes)
        return shape_refuse(walk->shape, vertex, walk->err,
                            "the unit %s of %s is not known; B, MB, GB, TB or MiB, GiB, TiB are",
                            excerpt(vertex->unit, strlen(vertex->unit)).text, vertex->type);
    if (vertex->nwith)
        return shape_refuse(walk->shape, vertex, walk->err, "nothing can stand in %s",
                            vertex->type);
    if (request_multiply(walk, vertex, &bytes, vertex->count.min) < 0 ||
        request_multiply(walk, vertex, &bytes, walk->multitude) < 0)
        return -1;
    if (__builtin_add_overflow(*sum, bytes, sum))
        *sum = UINT64_MAX;
    return 0;
}
