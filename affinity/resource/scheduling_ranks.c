/* Topologies under other ranks: renumbered, of two sets as one, and of a part that is given away. */
#include "affinity/resource/scheduling_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/scheduling.h"
#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"

#define NO_TOPOLOGY UINT32_MAX

/* Distinct topologies, and which of them each node has. */
struct forest {
    const struct rset *nodes;
    uint32_t *topo_of; /* by place in `nodes` */
    struct hash_table table;
    json_t **topos; /* borrowed */
    char **texts;   /* by which they are told apart */
};

static struct forest forest_new(const struct rset *nodes)
{
    struct forest forest = {.nodes = nodes, .topo_of = mem_array(nodes->nnodes, sizeof(uint32_t))};
    for (size_t i = 0; i < nodes->nnodes; i++)
        forest.topo_of[i] = NO_TOPOLOGY;
    return forest;
}

static void forest_free(struct forest *forest)
{
    for (uint32_t i = 0; i < forest->table.count; i++)
        free(forest->texts[i]);
    free(forest->texts);
    free(forest->topos);
    free(forest->topo_of);
    hash_table_free(&forest->table);
}

static const char *topo_text(const void *owner, uint32_t number)
{
    return ((const struct forest *)owner)->texts[number];
}

static uint32_t forest_number(struct forest *forest, json_t *topo)
{
    char *text = json_dumps(topo, JSON_COMPACT | JSON_SORT_KEYS);
    uint32_t known = forest->table.count;
    uint32_t number = hash_table_intern_text(&forest->table, text, topo_text, forest);
    if (number < known) {
        free(text);
        return number;
    }
    forest->topos = array_grow(forest->topos, known, sizeof(*forest->topos));
    forest->texts = array_grow(forest->texts, known, sizeof(*forest->texts));
    forest->topos[number] = topo;
    forest->texts[number] = text;
    return number;
}

/* The nodes of a set, whose i-th has rank ranks[i] (NULL: the rank that it has). */
struct grove {
    const struct rset *set;
    const uint32_t *ranks;
    struct idset *all; /* ranks of the set: an entry may name any number of others */
};

static int forest_add_entry(struct forest *forest, const struct grove *grove, const json_t *entry,
                            struct error *err)
{
    const char *text = json_string_value(json_object_get(entry, "ranks"));
    struct idset *named = idset_decode(text ? text : "", NULL);
    struct idset *ours = idset_intersect(named, grove->all);
    uint32_t topo = forest_number(forest, json_object_get(entry, "topo"));
    int rc = 0;
    IDSET_FOREACH(rank, ours)
    {
        size_t at = (size_t)(rset_find_rank(grove->set, rank) - grove->set->nodes);
        uint32_t fresh = grove->ranks ? grove->ranks[at] : rank;
        const struct rset_node *node = rset_find_rank(forest->nodes, fresh);
        if (!node)
            continue;
        uint32_t *here = &forest->topo_of[node - forest->nodes->nodes];
        if (*here != NO_TOPOLOGY && *here != topo) {
            rc = error_set(err,
                           "%s has one topology in the first and another in the second: leave "
                           "one out with tpres select --no-topology",
                           node->host);
            break;
        }
        *here = topo;
    }
    idset_free(named);
    idset_free(ours);
    return rc;
}

static int forest_add(struct forest *forest, const struct rset *set, const uint32_t *ranks,
                      struct error *err)
{
    struct grove grove = {set, ranks, rset_ranks(set)};
    const json_t *children = json_object_get(set->scheduling, "children");
    int rc = 0;
    for (size_t i = 0; i < json_array_size(children) && rc == 0; i++)
        rc = forest_add_entry(forest, &grove, json_array_get(children, i), err);
    idset_free(grove.all);
    return rc;
}

static json_t *forest_children(const struct forest *forest)
{
    uint32_t count = forest->table.count, norder = 0;
    struct idset **ranks = mem_array(count, sizeof(*ranks));
    uint32_t *order = mem_array(count, sizeof(*order));
    for (size_t i = 0; i < forest->nodes->nnodes; i++) {
        uint32_t topo = forest->topo_of[i];
        if (topo == NO_TOPOLOGY)
            continue;
        if (!ranks[topo]) {
            ranks[topo] = idset_new();
            order[norder++] = topo;
        }
        idset_add(ranks[topo], forest->nodes->nodes[i].rank);
    }
    json_t *children = json_array();
    for (uint32_t i = 0; i < norder; i++) {
        char *text = idset_encode(ranks[order[i]]);
        json_array_append_new(
            children, json_pack("{s:s,s:O}", "ranks", text, "topo", forest->topos[order[i]]));
        free(text);
        idset_free(ranks[order[i]]);
    }
    free(ranks);
    free(order);
    return children;
}

static int check_writer(const struct rset *set, struct error *err)
{
    const char *writer = json_string_value(json_object_get(set->scheduling, "writer"));
    if (!set->scheduling || (writer && strcmp(writer, SCHEDULING_WRITER) == 0))
        return 0;
    return error_set(err,
                     "scheduling is of another writer than " SCHEDULING_WRITER ", and the ranks in "
                     "it cannot be changed: leave it out with tpres select --no-topology");
}

/* The result has what else there is under `scheduling` of the set. */
static void forest_write(const struct forest *forest, struct rset *to, const struct rset *set)
{
    json_decref(to->scheduling);
    to->scheduling = set->scheduling ? json_copy(set->scheduling)
                                     : json_pack("{s:s}", "writer", SCHEDULING_WRITER);
    if (forest->table.count)
        json_object_set_new(to->scheduling, "children", forest_children(forest));
}

int scheduling_renumber(struct rset *to, const struct rset *set, const uint32_t *ranks,
                        struct error *err)
{
    if (!set->scheduling)
        return 0;
    if (check_writer(set, err) < 0)
        return -1;
    struct forest forest = forest_new(to);
    int rc = forest_add(&forest, set, ranks, err);
    if (rc == 0)
        forest_write(&forest, to, set);
    forest_free(&forest);
    return rc;
}

int scheduling_append(struct rset *sum, const struct rset *set, const struct rset *more,
                      const uint32_t *ranks, struct error *err)
{
    if (!set->scheduling && !more->scheduling)
        return 0;
    if (check_writer(set, err) < 0 || check_writer(more, err) < 0)
        return -1;
    struct forest forest = forest_new(sum);
    int rc = forest_add(&forest, set, NULL, err);
    if (rc == 0)
        rc = forest_add(&forest, more, ranks, err);
    if (rc == 0)
        forest_write(&forest, sum, set->scheduling ? set : more);
    forest_free(&forest);
    return rc;
}

/* What becomes of R's topology when a part of R is given away, and where that is used (RFC 49). */

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

static json_t *carve_scheduling(const json_t *scheduling, const struct rset *R, bool renumber)
{
    const char *writer = json_string_value(json_object_get(scheduling, "writer"));
    json_t *children = json_object_get(scheduling, "children");
    if (!writer || strcmp(writer, SCHEDULING_WRITER) != 0 || !json_is_array(children))
        return json_incref((json_t *)scheduling);
    struct idset *ranks = rset_ranks(R);
    json_t *list = json_array(), *copy = json_copy((json_t *)scheduling);
    for (size_t i = 0; i < json_array_size(children); i++) {
        json_t *entry = json_array_get(children, i);
        const char *text = json_string_value(json_object_get(entry, "ranks"));
        struct idset *set = carve_set(text, R, ranks, renumber);
        if (!set) { /* what is not an entry stays as it is */
            json_array_append(list, entry);
            continue;
        }
        if (!idset_empty(set)) {
            json_t *fresh = json_copy(entry);
            json_object_set_new(fresh, "ranks", idset_to_json(set));
            json_array_append_new(list, fresh);
        }
        idset_free(set);
    }
    json_object_set_new(copy, "children", list);
    idset_free(ranks);
    return copy;
}

json_t *scheduling_trim(const json_t *scheduling, const struct rset *kept)
{
    return carve_scheduling(scheduling, kept, false);
}

static json_t *carve_properties(const struct rset *R)
{
    json_t *fresh = json_object();
    struct idset *ranks = rset_ranks(R);
    const char *name;
    json_t *value;
    json_object_foreach(R->properties, name, value)
    {
        struct idset *set = carve_set(json_string_value(value), R, ranks, true);
        if (!idset_empty(set))
            json_object_set_new(fresh, name, idset_to_json(set));
        idset_free(set);
    }
    idset_free(ranks);
    if (json_object_size(fresh))
        return fresh;
    json_decref(fresh);
    return NULL;
}

void scheduling_rerank(struct rset *R)
{
    json_t *properties = R->properties ? carve_properties(R) : NULL;
    json_t *scheduling = carve_scheduling(R->scheduling, R, true);
    json_decref(R->properties);
    json_decref(R->scheduling);
    R->properties = properties;
    R->scheduling = scheduling;
    R->nslots = 0;
    for (size_t i = 0; i < R->nnodes; i++)
        R->nodes[i].rank = (uint32_t)i;
}
