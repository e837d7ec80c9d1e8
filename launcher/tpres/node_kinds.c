/* The nodes of an R as kinds: those that differ in nothing but their names are one. */
#include "launcher/tpres/node_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "base/array.h"
#include "base/mem.h"

/* ---- properties: for each node the number of its set of them ---- */

/* A set is the one it was without its last property, and that property. */
struct step {
    uint32_t before, property;
};

struct steps {
    struct hash_table table;
    struct step *list; /* the set of number i + 1; number 0 is the empty one */
};

static bool same_step(const void *owner, uint32_t number, const void *thing)
{
    return memcmp((const struct step *)owner + number, thing, sizeof(struct step)) == 0;
}

static uint32_t *number_properties(const struct rset *R)
{
    uint32_t *numbers = mem_array(R->nnodes, sizeof(*numbers)), property = 0;
    struct steps steps = {0};
    const char *name;
    json_t *value;
    json_object_foreach(R->properties, name, value)
    {
        const char *text = json_string_value(value);
        struct idset *ranks = idset_decode(text ? text : "", NULL);
        for (size_t i = 0; ranks && i < R->nnodes; i++) {
            if (!idset_has(ranks, R->nodes[i].rank))
                continue;
            struct step step = {numbers[i], property};
            uint64_t hash = hash_table_hash(hash_table_hash(1, step.before), step.property);
            uint32_t known = steps.table.count;
            uint32_t number = hash_table_intern(&steps.table, hash, same_step, steps.list, &step);
            if (number == known) {
                steps.list = array_grow(steps.list, known, sizeof(*steps.list));
                steps.list[number] = step;
            }
            numbers[i] = number + 1;
        }
        idset_free(ranks);
        property++;
    }
    hash_table_free(&steps.table);
    free(steps.list);
    return numbers;
}

/* ---- kinds ---- */

static bool same_kind(const void *owner, uint32_t number, const void *thing)
{
    const struct tpres_kind *a = (const struct tpres_kind *)owner + number, *b = thing;
    return a->children == b->children && a->tree == b->tree && a->properties == b->properties;
}

/* The kind of these features, which may be new. */
static struct tpres_kind *node_kinds_find_kind(struct tpres_kinds *kinds, struct hash_table *table,
                                               struct tpres_kind features)
{
    uint64_t hash =
        hash_table_hash(hash_table_hash(hash_table_hash(1, (uintptr_t)features.children),
                                        (uint64_t)(int64_t)features.tree),
                        features.properties);
    uint32_t number = hash_table_intern(table, hash, same_kind, kinds->list, &features);
    if (number == kinds->count) {
        kinds->list = array_grow(kinds->list, kinds->count, sizeof(*kinds->list));
        features.ranks = idset_new();
        features.hosts = hostlist_new();
        kinds->list[kinds->count++] = features;
    }
    return &kinds->list[number];
}

int tpres_kinds_read(const struct rset *R, struct tpres_kinds *kinds, struct error *err)
{
    struct hash_table table = {0};
    *kinds = (struct tpres_kinds){.R = R, .localities = scheduling_read(R->scheduling, err)};
    if (!kinds->localities)
        return -1;
    uint32_t *properties = number_properties(R);
    for (size_t i = 0; i < R->nnodes; i++) {
        const struct rset_node *node = &R->nodes[i];
        struct tpres_kind *kind = node_kinds_find_kind(
            kinds, &table,
            (struct tpres_kind){.children = node->children,
                                .tree = scheduling_find(kinds->localities, node->rank),
                                .properties = properties[i]});
        idset_add(kind->ranks, node->rank);
        hostlist_append(kind->hosts, node->host);
    }
    free(properties);
    hash_table_free(&table);
    return 0;
}

void tpres_kinds_clear(struct tpres_kinds *kinds)
{
    for (size_t i = 0; i < kinds->count; i++) {
        idset_free(kinds->list[i].ranks);
        hostlist_free(kinds->list[i].hosts);
    }
    free(kinds->list);
    scheduling_free(kinds->localities);
}

char *tpres_kind_properties(const struct tpres_kinds *kinds, const struct tpres_kind *kind)
{
    struct buf out = BUF_INIT;
    const char *name;
    json_t *value;
    json_object_foreach(kinds->R->properties, name, value)
    {
        struct idset *ranks = idset_decode(json_string_value(value), NULL);
        if (ranks && idset_has(ranks, idset_first(kind->ranks)))
            buf_printf(&out, "%s%s", out.len ? "," : "", name);
        idset_free(ranks);
    }
    return buf_take_text(&out);
}

/* ---- topology ---- */

char *tpres_kind_topology(const struct tpres_kinds *kinds, const struct tpres_kind *kind)
{
    struct buf out = BUF_INIT;
    const struct scheduling_tree *tree =
        kind->tree < 0 ? NULL : &kinds->localities->trees[kind->tree];
    for (uint32_t i = 1; tree && i < tree->ndomains; i++) {
        const char *name = tree->domains[i].name;
        uint32_t before = 0, count = 0; /* domains of this name: in front of this one, and in all */
        for (uint32_t j = 1; j < tree->ndomains; j++)
            if (strcmp(tree->domains[j].name, name) == 0) {
                before += j < i;
                count++;
            }
        if (!before)
            buf_printf(&out, "%s%u %s", out.len ? ", " : "", count, name);
    }
    return buf_take_text(&out);
}
