/* The JSON form of resource sets (RFC 20 version 1). */
#include <math.h>
#include <stdlib.h>

#include "affinity/resource/rset.h"
#include "affinity/resource/rset_private.h"
#include "base/mem.h"

static json_t *rset_idset_json(const struct idset *ids)
{
    char *text = idset_encode(ids);
    json_t *value = json_string(text);
    free(text);
    return value;
}

static json_t *rset_entry_json(const struct rset_children *children, const struct idset *ranks)
{
    json_t *sets = json_object();
    json_object_set_new(sets, "core", rset_idset_json(children->cores));
    if (!idset_empty(children->gpus))
        json_object_set_new(sets, "gpu", rset_idset_json(children->gpus));
    json_t *entry = json_object();
    json_object_set_new(entry, "rank", rset_idset_json(ranks));
    json_object_set_new(entry, "children", sets);
    return entry;
}

/* Nodes ascend by rank, so children appear in order of their lowest rank. */
static json_t *rset_lite_json(const struct rset *set)
{
    struct idset **ranks = mem_array(set->priv->nshared, sizeof(*ranks));
    const struct rset_children **order = mem_array(set->priv->nshared, sizeof(*order));
    size_t norder = 0;
    for (size_t i = 0; i < set->nnodes; i++) {
        const struct rset_children *children = set->nodes[i].children;
        size_t index = rset_children_index(children);
        if (!ranks[index]) {
            ranks[index] = idset_new();
            order[norder++] = children;
        }
        idset_add(ranks[index], set->nodes[i].rank);
    }
    json_t *lite = json_array();
    for (size_t i = 0; i < norder; i++) {
        size_t index = rset_children_index(order[i]);
        json_array_append_new(lite, rset_entry_json(order[i], ranks[index]));
        idset_free(ranks[index]);
    }
    free(ranks);
    free(order);
    return lite;
}

static json_t *rset_nodelist_json(const struct rset *set)
{
    json_t *list = json_array();
    struct hostlist *hosts = hostlist_new();
    for (size_t i = 0; i < set->nnodes; i++)
        hostlist_append(hosts, set->nodes[i].host);
    char *text = hostlist_encode(hosts);
    if (*text)
        json_array_append_new(list, json_string(text));
    free(text);
    hostlist_free(hosts);
    return list;
}

static json_t *rset_time_json(double seconds)
{
    if (seconds < 9e15 && seconds == floor(seconds))
        return json_integer((json_int_t)seconds);
    return json_real(seconds);
}

json_t *rset_to_json(const struct rset *set)
{
    json_t *execution = json_object();
    json_object_set_new(execution, "R_lite", rset_lite_json(set));
    json_object_set_new(execution, "nodelist", rset_nodelist_json(set));
    if (set->nslots)
        json_object_set_new(execution, "nslots", json_integer((json_int_t)set->nslots));
    if (set->properties)
        json_object_set(execution, "properties", set->properties);
    if (set->starttime != 0)
        json_object_set_new(execution, "starttime", rset_time_json(set->starttime));
    if (set->expiration != 0)
        json_object_set_new(execution, "expiration", rset_time_json(set->expiration));
    json_t *R = json_object();
    json_object_set_new(R, "version", json_integer(1));
    json_object_set_new(R, "execution", execution);
    if (set->scheduling)
        json_object_set(R, "scheduling", set->scheduling);
    return R;
}
