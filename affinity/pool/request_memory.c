/* Memory and storage: hints, in bytes a node. */
#include <string.h>

#include "affinity/pool/request_private.h"
#include "affinity/resource/excerpt.h"

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
                        "so many of %s come to more than can be counted",
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
