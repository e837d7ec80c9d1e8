/* Resource sets from and to their JSON form (RFC 20 version 1). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/rset.h"
#include "affinity/resource/rset_private.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"

/* Consecutive ranks of one R_lite entry. */
struct rset_span {
    uint32_t first, last;
    uint32_t entry; /* index in R_lite */
    const struct rset_children *children;
};

struct rset_reader {
    struct rset *set;
    struct rset_span *spans;
    size_t nspans;
    uint64_t nranks;
};

static const struct rset_type {
    json_type type;
    const char *name;
} rset_types[] = {
    {JSON_OBJECT, "an object"},   {JSON_ARRAY, "an array"},  {JSON_STRING, "a string"},
    {JSON_INTEGER, "an integer"}, {JSON_REAL, "a fraction"}, {JSON_TRUE, "true"},
    {JSON_FALSE, "false"},        {JSON_NULL, "null"},
};

static const char *rset_type_name(json_type type)
{
    for (size_t i = 0; i < sizeof(rset_types) / sizeof(rset_types[0]); i++)
        if (rset_types[i].type == type)
            return rset_types[i].name;
    return "nothing";
}

/* object[key], which has to be there and of one type. `where` names the object, with its dot. */
static json_t *rset_key(const json_t *object, const char *where, const char *key, json_type type,
                        struct error *err)
{
    json_t *value = json_object_get(object, key);
    const char *right = type == JSON_STRING ? "an idset in a string" : rset_type_name(type);
    if (!value)
        error_set(err, "missing key %s%s: expected %s", where, key, right);
    else if (json_typeof(value) != type)
        error_set(err, "%s%s: expected %s, got %s", where, key, right,
                  rset_type_name(json_typeof(value)));
    else
        return value;
    return NULL;
}

/* object[key] as an idset that may not be empty. */
static struct idset *rset_key_idset(const json_t *object, const char *where, const char *key,
                                    struct error *err)
{
    json_t *value = rset_key(object, where, key, JSON_STRING, err);
    if (!value)
        return NULL;
    struct idset *ids = idset_decode(json_string_value(value), err);
    if (!ids) {
        error_prefix(err, "%s%s", where, key);
        return NULL;
    }
    if (!idset_empty(ids))
        return ids;
    idset_free(ids);
    error_set(err, "%s%s is empty: expected at least one id", where, key);
    return NULL;
}

/* The children of one entry as the set's own; NULL with a sentence. */
static const struct rset_children *rset_read_children(struct rset *set, const json_t *entry,
                                                      const char *where, struct error *err)
{
    json_t *children = rset_key(entry, where, "children", JSON_OBJECT, err);
    if (!children)
        return NULL;
    char *inside = mem_format("%schildren.", where);
    struct idset *gpus = NULL, *cores = rset_key_idset(children, inside, "core", err);
    if (cores && json_object_get(children, "gpu"))
        gpus = rset_key_idset(children, inside, "gpu", err);
    else if (cores)
        gpus = idset_new();
    const struct rset_children *shared = gpus ? rset_share(set, cores, gpus) : NULL;
    idset_free(cores);
    idset_free(gpus);
    free(inside);
    return shared;
}

static int rset_read_entry(struct rset_reader *in, const json_t *entry, uint32_t index,
                           struct error *err)
{
    char where[64];
    snprintf(where, sizeof(where), "execution.R_lite[%u].", index);
    if (!json_is_object(entry))
        return error_set(err,
                         "execution.R_lite[%u] is %s: an object with rank and children is "
                         "right there",
                         index, rset_type_name(json_typeof(entry)));
    struct idset *ranks = rset_key_idset(entry, where, "rank", err);
    if (!ranks)
        return -1;
    const struct rset_children *children = rset_read_children(in->set, entry, where, err);
    struct rset_span span = {.entry = index, .children = children};
    for (size_t at = 0; children && idset_range(ranks, &at, &span.first, &span.last);) {
        in->spans = array_grow(in->spans, in->nspans, sizeof(*in->spans));
        in->spans[in->nspans++] = span;
    }
    in->nranks += idset_count(ranks);
    idset_free(ranks);
    return children ? 0 : -1;
}

static int rset_compare_spans(const void *a, const void *b)
{
    const struct rset_span *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

static int rset_read_lite(struct rset_reader *in, const json_t *execution, struct error *err)
{
    json_t *lite = rset_key(execution, "execution.", "R_lite", JSON_ARRAY, err);
    if (!lite)
        return -1;
    if (!json_array_size(lite))
        return error_set(err, "execution.R_lite is empty: expected at least one entry");
    for (size_t i = 0; i < json_array_size(lite); i++)
        if (rset_read_entry(in, json_array_get(lite, i), (uint32_t)i, err) < 0)
            return -1;
    /* Entries come in any order (RFC 20); a rank may be in one of them only. */
    qsort(in->spans, in->nspans, sizeof(*in->spans), rset_compare_spans);
    for (size_t i = 1; i < in->nspans; i++) {
        const struct rset_span *a = &in->spans[i - 1], *b = &in->spans[i];
        if (b->first <= a->last)
            return error_set(err,
                             "rank %u is in execution.R_lite[%u] and in execution.R_lite[%u]: "
                             "expected one entry for each rank",
                             b->first, a->entry, b->entry);
    }
    return 0;
}

static int rset_read_nodelist(struct rset *set, const json_t *execution, struct error *err)
{
    json_t *list = rset_key(execution, "execution.", "nodelist", JSON_ARRAY, err);
    if (!list)
        return -1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        if (!json_is_string(item))
            return error_set(err,
                             "execution.nodelist[%zu] is %s: a host name or a hostlist is "
                             "right there",
                             i, rset_type_name(json_typeof(item)));
        if (hostlist_append_text(set->priv->hosts, json_string_value(item), err) < 0)
            return error_prefix(err, "execution.nodelist[%zu]", i);
    }
    return 0;
}

/* The first rank without a host, or the first host without a rank. */
static int rset_bad_counts(const struct rset_reader *in, struct error *err)
{
    const struct hostlist *hosts = in->set->priv->hosts;
    uint64_t nhosts = hostlist_count(hosts), left = nhosts;
    if (nhosts > in->nranks)
        return error_set(err,
                         "execution.nodelist has %llu hosts and execution.R_lite %llu rank%s: %s "
                         "has no rank; expected one host for each rank",
                         (unsigned long long)nhosts, (unsigned long long)in->nranks,
                         in->nranks == 1 ? "" : "s", hostlist_nth(hosts, (size_t)in->nranks));
    const struct rset_span *span = in->spans;
    while (left > span->last - span->first) {
        left -= (uint64_t)span->last - span->first + 1;
        span++;
    }
    return error_set(err,
                     "execution.nodelist has %llu host%s and execution.R_lite %llu ranks: rank "
                     "%llu has no host; expected one host for each rank",
                     (unsigned long long)nhosts, nhosts == 1 ? "" : "s",
                     (unsigned long long)in->nranks, (unsigned long long)span->first + left);
}

static int rset_read_nodes(struct rset *set, const json_t *execution, struct error *err)
{
    struct rset_reader in = {.set = set};
    int rc = rset_read_lite(&in, execution, err);
    if (rc == 0)
        rc = rset_read_nodelist(set, execution, err);
    const struct hostlist *hosts = set->priv->hosts;
    if (rc == 0 && hostlist_count(hosts) != in.nranks)
        rc = rset_bad_counts(&in, err);
    /* Ranks and hosts, each in order, one to one. */
    for (size_t i = 0; i < in.nspans && rc == 0; i++)
        for (uint32_t rank = in.spans[i].first; rank <= in.spans[i].last; rank++)
            rset_push(set, rank, hostlist_nth(hosts, set->nnodes), in.spans[i].children);
    free(in.spans);
    return rc;
}

static int rset_read_property(const char *name, const json_t *value, const struct idset *ranks,
                              struct error *err)
{
    size_t bad = strcspn(name, "!&'\"^`|()"); /* RFC 20 */
    if (!*name || name[bad])
        return error_set(err,
                         "execution.properties: the name %s %s; expected a name without any of "
                         "! & ' \" ^ ` | ( )",
                         excerpt(name, strlen(name)).text,
                         *name ? "has an illegal character" : "is empty");
    if (!json_is_string(value))
        return error_set(err,
                         "execution.properties: %s is %s: expected an idset of ranks in a string",
                         excerpt(name, strlen(name)).text, rset_type_name(json_typeof(value)));
    struct idset *ids = idset_decode(json_string_value(value), err);
    if (!ids)
        return error_prefix(err, "execution.properties: %s", excerpt(name, strlen(name)).text);
    struct idset *extra = idset_subtract(ids, ranks);
    int rc = 0;
    if (!idset_empty(extra))
        rc = error_set(err,
                       "execution.properties: %s names rank %u, which is not in "
                       "execution.R_lite",
                       excerpt(name, strlen(name)).text, idset_first(extra));
    idset_free(extra);
    idset_free(ids);
    return rc;
}

static int rset_read_properties(struct rset *set, const json_t *execution, struct error *err)
{
    const char *name;
    json_t *value;
    if (!json_object_get(execution, "properties"))
        return 0;
    json_t *properties = rset_key(execution, "execution.", "properties", JSON_OBJECT, err);
    if (!properties)
        return -1;
    struct idset *ranks = rset_ranks(set);
    int rc = 0;
    json_object_foreach(properties, name, value)
    {
        rc = rset_read_property(name, value, ranks, err);
        if (rc < 0)
            break;
    }
    idset_free(ranks);
    if (rc == 0)
        set->properties = json_incref(properties);
    return rc;
}

static int rset_read_time(const json_t *execution, const char *key, double *seconds,
                          struct error *err)
{
    const json_t *value = json_object_get(execution, key);
    if (!value)
        return 0;
    if (!json_is_number(value) || !(json_number_value(value) >= 0))
        return error_set(err,
                         "execution.%s is %s: expected seconds since 1970, or 0 for "
                         "none",
                         key,
                         json_is_number(value) ? "negative" : rset_type_name(json_typeof(value)));
    *seconds = json_number_value(value);
    return 0;
}

static int rset_read_times(struct rset *set, const json_t *execution, struct error *err)
{
    if (rset_read_time(execution, "starttime", &set->starttime, err) < 0 ||
        rset_read_time(execution, "expiration", &set->expiration, err) < 0)
        return -1;
    if (set->starttime != 0 && set->expiration != 0 && set->expiration <= set->starttime)
        return error_set(err,
                         "execution.expiration %.15g is not after execution.starttime %.15g: "
                         "expected a later time, or 0 for none",
                         set->expiration, set->starttime);
    return 0;
}

static int rset_read_nslots(struct rset *set, const json_t *execution, struct error *err)
{
    if (!json_object_get(execution, "nslots"))
        return 0;
    json_t *value = rset_key(execution, "execution.", "nslots", JSON_INTEGER, err);
    if (!value)
        return -1;
    if (json_integer_value(value) <= 0)
        return error_set(err, "execution.nslots is %lld: must be at least 1",
                         (long long)json_integer_value(value));
    set->nslots = (uint64_t)json_integer_value(value);
    return 0;
}

static int rset_read(struct rset *set, const json_t *R, struct error *err)
{
    if (!json_is_object(R))
        return error_set(err,
                         "a resource set is an object with version and execution (RFC 20), "
                         "not %s",
                         R ? rset_type_name(json_typeof(R)) : "nothing");
    json_t *version = rset_key(R, "", "version", JSON_INTEGER, err);
    if (!version)
        return -1;
    if (json_integer_value(version) != 1)
        return error_set(err, "version is %lld: 1 is the only version there is (RFC 20)",
                         (long long)json_integer_value(version));
    json_t *execution = rset_key(R, "", "execution", JSON_OBJECT, err);
    if (!execution || rset_read_nodes(set, execution, err) < 0 ||
        rset_read_properties(set, execution, err) < 0 || rset_read_times(set, execution, err) < 0 ||
        rset_read_nslots(set, execution, err) < 0)
        return -1;
    if (!json_object_get(R, "scheduling"))
        return 0;
    set->scheduling = json_incref(rset_key(R, "", "scheduling", JSON_OBJECT, err));
    return set->scheduling ? 0 : -1;
}

struct rset *rset_from_json(const json_t *R, struct error *err)
{
    struct rset *set = rset_new();
    if (rset_read(set, R, err) == 0)
        return set;
    rset_free(set);
    return NULL;
}

/* A parsed value takes up to a hundred times its text, so values are counted before that. */
static int rset_check_bulk(const char *text, size_t len, struct error *err)
{
    size_t values = 0, containers = 0;
    bool quoted = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '"')
            quoted = !quoted;
        else if (quoted)
            i += c == '\\';
        else if (c == '{' || c == '[')
            containers++;
        else if (c == ',' || c == ':')
            values++;
    }
    if (containers > RSET_MAX_CONTAINERS || values + containers > RSET_MAX_VALUES)
        return error_set(err,
                         "a resource set of %zu objects and arrays with %zu parts is too large: "
                         "%u and %u are the most that is read",
                         containers, values, RSET_MAX_CONTAINERS, RSET_MAX_VALUES);
    return 0;
}

struct rset *rset_decode(const char *text, size_t len, struct error *err)
{
    json_error_t bad;
    if (!len) {
        error_set(err, "it is empty; what was to make it may have failed");
        return NULL;
    }
    if (len > RSET_MAX_TEXT) {
        error_set(err, "a resource set of %zu bytes is too large: %u are the most that is read",
                  len, RSET_MAX_TEXT);
        return NULL;
    }
    if (rset_check_bulk(text, len, err) < 0)
        return NULL;
    json_t *R = json_loadb(text, len, JSON_REJECT_DUPLICATES, &bad);
    if (!R) {
        error_set(err, "line %d, column %d: not JSON: %s", bad.line, bad.column,
                  excerpt(bad.text, strlen(bad.text)).text);
        return NULL;
    }
    struct rset *set = rset_from_json(R, err);
    json_decref(R);
    return set;
}

/* The JSON form of resource sets (RFC 20 version 1). */

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
        json_t *sets = json_object(), *entry = json_object();
        json_object_set_new(sets, "core", idset_to_json(order[i]->cores));
        if (!idset_empty(order[i]->gpus))
            json_object_set_new(sets, "gpu", idset_to_json(order[i]->gpus));
        json_object_set_new(entry, "rank", idset_to_json(ranks[index]));
        json_object_set_new(entry, "children", sets);
        json_array_append_new(lite, entry);
        idset_free(ranks[index]);
    }
    free(ranks);
    free(order);
    return lite;
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
    struct hostlist *hosts = hostlist_new();
    for (size_t i = 0; i < set->nnodes; i++)
        hostlist_append(hosts, set->nodes[i].host);
    char *names = hostlist_encode(hosts);
    json_t *nodelist = json_array();
    if (*names)
        json_array_append_new(nodelist, json_string(names));
    json_object_set_new(execution, "nodelist", nodelist);
    free(names);
    hostlist_free(hosts);
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
