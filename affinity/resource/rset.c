/* A resource set in memory: nodes, the children that they share, properties and times. */
#include "affinity/resource/rset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "affinity/resource/rset_private.h"
#include "base/array.h"
#include "base/mem.h"

struct rset *rset_new(void)
{
    struct rset *set = mem_alloc(sizeof(*set));
    set->priv = mem_alloc(sizeof(*set->priv));
    set->priv->hosts = hostlist_new();
    return set;
}

void rset_free(struct rset *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->priv->nshared; i++) {
        idset_free(set->priv->shared[i]->sets.cores);
        idset_free(set->priv->shared[i]->sets.gpus);
        free(set->priv->shared[i]);
    }
    free(set->priv->shared);
    hash_table_free(&set->priv->table);
    hostlist_free(set->priv->hosts);
    free(set->priv);
    json_decref(set->properties);
    json_decref(set->scheduling);
    free(set->nodes);
    free(set);
}

static bool rset_same_children(const void *owner, uint32_t number, const void *thing)
{
    const struct rset_children *a = &((const struct rset_private *)owner)->shared[number]->sets;
    const struct rset_children *b = thing;
    return idset_equal(a->cores, b->cores) && idset_equal(a->gpus, b->gpus);
}

const struct rset_children *rset_share(struct rset *set, const struct idset *cores,
                                       const struct idset *gpus)
{
    struct rset_private *priv = set->priv;
    const struct rset_children wanted = {(struct idset *)(uintptr_t)cores,
                                         (struct idset *)(uintptr_t)gpus};
    uint64_t hash = idset_hash(hash_table_hash(idset_hash(1, cores), 0), gpus);
    uint32_t number = hash_table_intern(&priv->table, hash, rset_same_children, priv, &wanted);
    if (number < priv->nshared)
        return &priv->shared[number]->sets;
    struct rset_shared *fresh = mem_alloc(sizeof(*fresh));
    fresh->sets = (struct rset_children){idset_copy(cores), idset_copy(gpus)};
    fresh->index = number;
    priv->shared = array_grow(priv->shared, priv->nshared, sizeof(*priv->shared));
    priv->shared[priv->nshared++] = fresh;
    return &fresh->sets;
}

size_t rset_children_index(const struct rset_children *children)
{
    return ((const struct rset_shared *)children)->index;
}

void rset_push(struct rset *set, uint32_t rank, const char *host,
               const struct rset_children *children)
{
    set->nodes = array_grow(set->nodes, set->nnodes, sizeof(*set->nodes));
    set->nodes[set->nnodes++] = (struct rset_node){rank, host, children};
}

void rset_append(struct rset *set, uint32_t rank, const char *host, const struct idset *cores,
                 const struct idset *gpus)
{
    struct hostlist *hosts = set->priv->hosts;
    struct idset *none = gpus ? NULL : idset_new();
    hostlist_append(hosts, host);
    rset_push(set, rank, hostlist_nth(hosts, hostlist_count(hosts) - 1),
              rset_share(set, cores, gpus ? gpus : none));
    idset_free(none);
}

struct idset *rset_ranks(const struct rset *set)
{
    struct idset *ranks = idset_new();
    for (size_t i = 0; i < set->nnodes; i++)
        idset_add(ranks, set->nodes[i].rank);
    return ranks;
}

/* The properties whose name `drop` does not refuse, cut down to `ranks` (NULL: all ranks). */
static json_t *rset_copy_properties(const json_t *properties, const struct idset *ranks,
                                    bool (*drop)(const char *name))
{
    json_t *kept = json_object();
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)properties, name, value)
    {
        const char *text_in = json_string_value(value);
        struct idset *old = text_in ? idset_decode(text_in, NULL) : NULL;
        if (!old || (drop && drop(name))) {
            idset_free(old);
            continue;
        }
        struct idset *now = ranks ? idset_intersect(old, ranks) : idset_copy(old);
        char *text = idset_encode(now);
        if (!idset_empty(now))
            json_object_set_new(kept, name, json_string(text));
        free(text);
        idset_free(now);
        idset_free(old);
    }
    if (json_object_size(kept))
        return kept;
    json_decref(kept);
    return NULL;
}

json_t *rset_trim_properties(const struct rset *set, const struct rset *kept)
{
    if (!set->properties)
        return NULL;
    struct idset *ranks = rset_ranks(kept);
    json_t *properties = rset_copy_properties(set->properties, ranks, NULL);
    idset_free(ranks);
    return properties;
}

static bool rset_is_local(const char *name)
{
    return name[0] == '+';
}

void rset_drop_local_properties(struct rset *set)
{
    if (!set->properties)
        return;
    json_t *kept = rset_copy_properties(set->properties, NULL, rset_is_local);
    json_decref(set->properties);
    set->properties = kept;
}

static int rset_compare_rank(const void *rank, const void *node)
{
    uint32_t a = *(const uint32_t *)rank, b = ((const struct rset_node *)node)->rank;
    return (a > b) - (a < b);
}

const struct rset_node *rset_find_rank(const struct rset *set, uint32_t rank)
{
    return set->nnodes
               ? bsearch(&rank, set->nodes, set->nnodes, sizeof(*set->nodes), rset_compare_rank)
               : NULL;
}

const struct rset_node *rset_find_host(const struct rset *set, const char *host)
{
    for (size_t i = 0; i < set->nnodes; i++)
        if (strcmp(set->nodes[i].host, host) == 0)
            return &set->nodes[i];
    return NULL;
}

struct host_index *rset_host_index(const struct rset *set)
{
    struct host_index *index = host_index_new(set->nnodes);
    for (size_t i = 0; i < set->nnodes; i++)
        host_index_add(index, set->nodes[i].host, i);
    return index;
}

void rset_write_time(double seconds, char text[RSET_TIME_SIZE])
{
    struct tm tm;
    time_t whole = seconds < 1e13 ? (time_t)floor(seconds) : 0;
    if (!whole || !gmtime_r(&whole, &tm) ||
        !strftime(text, RSET_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm))
        snprintf(text, RSET_TIME_SIZE, "%.0f s after 1970", seconds);
}

int rset_check_time(const struct rset *set, double now, struct error *err)
{
    char bound[RSET_TIME_SIZE], current[RSET_TIME_SIZE];
    rset_write_time(now, current);
    if (set->starttime != 0 && now < set->starttime) {
        rset_write_time(set->starttime, bound);
        return error_set(err,
                         "the resource set is not valid before %s (execution.starttime %.15g) and "
                         "it is %s: wait, or use one that is valid",
                         bound, set->starttime, current);
    }
    if (set->expiration != 0 && now >= set->expiration) {
        rset_write_time(set->expiration, bound);
        return error_set(err,
                         "the resource set expired at %s (execution.expiration %.15g) and it is "
                         "%s: use one that is still valid",
                         bound, set->expiration, current);
    }
    return 0;
}
