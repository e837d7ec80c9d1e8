/* The types of resources that have a meaning here, and the keys that have none. */
#include <string.h>

#include "affinity/pool/request_private.h"
#include "affinity/resource/excerpt.h"
#include "base/near.h"

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
    return near_word(words, type, strlen(type));
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
