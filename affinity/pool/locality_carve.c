/* What becomes of R's topology when a part of R is given away, and where that is used (RFC 49). */
#include <stdlib.h>
#include <string.h>

#include "affinity/pool/locality.h"
#include "base/mem.h"

static struct idset *carve_ranks(const struct rset *R)
{
    struct idset *ranks = idset_new();
    for (size_t i = 0; i < R->nnodes; i++)
        idset_add(ranks, R->nodes[i].rank);
    return ranks;
}

/* Ranks that `R` has, in its own numbering or from 0 on. NULL where the text is no idset. */
static struct idset *carve_set(const char *text, const struct rset *R, const struct idset *ranks,
                               bool renumber)
{
    uint32_t first, last;
    struct idset *old = text ? idset_decode(text, NULL) : NULL;
    if (!old)
        return NULL;
    struct idset *kept = idset_intersect(old, ranks);
    idset_free(old);
    if (!renumber)
        return kept;
    struct idset *fresh = idset_new();
    for (size_t at = 0; idset_range(kept, &at, &first, &last);) {
        uint32_t position = (uint32_t)(rset_find_rank(R, first) - R->nodes);
        idset_add_range(fresh, position, position + (last - first));
    }
    idset_free(kept);
    return fresh;
}

static json_t *carve_text(const struct idset *set)
{
    char *text = idset_encode(set);
    json_t *value = json_string(text);
    free(text);
    return value;
}

/* An entry of children with new ranks; what is not one stays as it is. */
static void carve_entry(json_t *list, json_t *entry, const struct rset *R,
                        const struct idset *ranks, bool renumber)
{
    const char *text = json_string_value(json_object_get(entry, "ranks"));
    struct idset *set = carve_set(text, R, ranks, renumber);
    if (!set) {
        json_array_append(list, entry);
        return;
    }
    if (!idset_empty(set)) {
        json_t *copy = json_copy(entry);
        json_object_set_new(copy, "ranks", carve_text(set));
        json_array_append_new(list, copy);
    }
    idset_free(set);
}

static json_t *carve_scheduling(const json_t *scheduling, const struct rset *R, bool renumber)
{
    const char *writer = json_string_value(json_object_get(scheduling, "writer"));
    json_t *children = json_object_get(scheduling, "children");
    if (!writer || strcmp(writer, LOCALITY_WRITER) != 0 || !json_is_array(children))
        return json_incref((json_t *)scheduling);
    struct idset *ranks = carve_ranks(R);
    json_t *list = json_array(), *copy = json_copy((json_t *)scheduling);
    for (size_t i = 0; i < json_array_size(children); i++)
        carve_entry(list, json_array_get(children, i), R, ranks, renumber);
    json_object_set_new(copy, "children", list);
    idset_free(ranks);
    return copy;
}

json_t *locality_trim(const json_t *scheduling, const struct rset *kept)
{
    return carve_scheduling(scheduling, kept, false);
}

static json_t *carve_properties(const struct rset *R)
{
    json_t *fresh = json_object();
    struct idset *ranks = carve_ranks(R);
    const char *name;
    json_t *value;
    json_object_foreach(R->properties, name, value)
    {
        struct idset *set = carve_set(json_string_value(value), R, ranks, true);
        if (set && !idset_empty(set))
            json_object_set_new(fresh, name, carve_text(set));
        idset_free(set);
    }
    idset_free(ranks);
    if (json_object_size(fresh))
        return fresh;
    json_decref(fresh);
    return NULL;
}

struct rset *locality_rerank(const struct rset *R)
{
    struct rset *fresh = rset_new();
    for (size_t i = 0; i < R->nnodes; i++)
        rset_append(fresh, (uint32_t)i, R->nodes[i].host, R->nodes[i].children->cores,
                    R->nodes[i].children->gpus);
    fresh->starttime = R->starttime;
    fresh->expiration = R->expiration;
    fresh->properties = R->properties ? carve_properties(R) : NULL;
    fresh->scheduling = carve_scheduling(R->scheduling, R, true);
    return fresh;
}
