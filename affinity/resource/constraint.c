/* Constraints as a tree, from and to JSON, and the ranks of R that one lets through. */
#include "affinity/resource/constraint.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/constraint_private.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/text.h"

const char *const constraint_names[CONSTRAINT_KINDS] = {
    [CONSTRAINT_AND] = "and",           [CONSTRAINT_OR] = "or",
    [CONSTRAINT_NOT] = "not",           [CONSTRAINT_PROPERTIES] = "properties",
    [CONSTRAINT_HOSTLIST] = "hostlist", [CONSTRAINT_RANKS] = "ranks",
};

struct constraint *constraint_new(enum constraint_kind kind)
{
    struct constraint *fresh = mem_alloc(sizeof(*fresh));
    fresh->kind = kind;
    if (kind >= CONSTRAINT_PROPERTIES)
        fresh->values = json_array();
    if (kind == CONSTRAINT_HOSTLIST)
        fresh->hosts = hostlist_new();
    return fresh;
}

void constraint_free(struct constraint *constraint)
{
    if (!constraint)
        return;
    for (size_t i = 0; i < constraint->nparts; i++)
        constraint_free(constraint->parts[i]);
    free(constraint->parts);
    json_decref(constraint->values);
    for (size_t i = 0; i < constraint->nranks; i++)
        idset_free(constraint->ranks[i]);
    free(constraint->ranks);
    hostlist_free(constraint->hosts);
    free(constraint);
}

void constraint_add(struct constraint *to, struct constraint *part)
{
    to->parts = array_grow(to->parts, to->nparts, sizeof(struct constraint *));
    to->parts[to->nparts++] = part;
}

int constraint_add_value(struct constraint *leaf, const char *value, size_t *nhosts,
                         struct error *err)
{
    if (leaf->kind == CONSTRAINT_PROPERTIES) {
        if (!value[*value == '^'])
            return error_set(err, "constraint: a property's name is missing%s",
                             *value ? " behind ^" : " between the quotes");
    } else if (leaf->kind == CONSTRAINT_RANKS) {
        struct idset *more = idset_decode(value, err);
        if (!more)
            return error_prefix(err, "constraint: ranks");
        leaf->ranks = array_grow(leaf->ranks, leaf->nranks, sizeof(struct idset *));
        leaf->ranks[leaf->nranks++] = more;
    } else {
        size_t before = hostlist_count(leaf->hosts);
        if (hostlist_append_text(leaf->hosts, value, err) < 0)
            return error_prefix(err, "constraint: hosts");
        *nhosts += hostlist_count(leaf->hosts) - before;
        if (*nhosts > CONSTRAINT_MAX_HOSTS)
            return error_set(err, "constraint: more than %u hosts in all", CONSTRAINT_MAX_HOSTS);
    }
    json_array_append_new(leaf->values, json_string(value));
    return 0;
}

/* Constraints from and to JSON (RFC 31). */

/* What counts up while a constraint is read. */
struct constraint_reader {
    size_t nhosts;
    struct error *err;
};

static struct constraint *constraint_read(struct constraint_reader *in, const json_t *value,
                                          size_t depth);

static int constraint_read_parts(struct constraint_reader *in, struct constraint *constraint,
                                 const json_t *values, size_t depth)
{
    json_t *value;
    size_t i;
    if (constraint->kind == CONSTRAINT_NOT && json_array_size(values) > 1)
        return error_set(in->err,
                         "constraint: \"not\" negates one value, got %zu; put an \"and\" "
                         "or \"or\" around them",
                         json_array_size(values));
    json_array_foreach(values, i, value)
    {
        struct constraint *part = constraint_read(in, value, depth + 1);
        if (!part)
            return -1;
        constraint_add(constraint, part);
    }
    return 0;
}

static int constraint_read_values(struct constraint_reader *in, struct constraint *leaf,
                                  const json_t *values)
{
    json_t *value;
    size_t i;
    json_array_foreach(values, i, value)
    {
        if (!json_is_string(value))
            return error_set(in->err, "constraint: the values of \"%s\" are strings",
                             constraint_names[leaf->kind]);
        if (constraint_add_value(leaf, json_string_value(value), &in->nhosts, in->err) < 0)
            return -1;
    }
    return 0;
}

static struct constraint *constraint_read_operator(struct constraint_reader *in, const char *name,
                                                   const json_t *values, size_t depth)
{
    enum constraint_kind kind = 0;
    while (kind < CONSTRAINT_KINDS && strcmp(constraint_names[kind], name) != 0)
        kind++;
    if (kind == CONSTRAINT_KINDS)
        error_set(in->err,
                  "constraint: unknown operator %s (expected and, or, not, properties, hostlist or "
                  "ranks)",
                  excerpt(name, strlen(name)).text);
    else if (!json_is_array(values))
        error_set(in->err, "constraint: \"%s\" has an array of values", name);
    else if (depth > CONSTRAINT_MAX_DEPTH)
        error_set(in->err, "constraint: it is nested more than %d deep", CONSTRAINT_MAX_DEPTH);
    else {
        struct constraint *constraint = constraint_new(kind);
        int rc = kind < CONSTRAINT_PROPERTIES ? constraint_read_parts(in, constraint, values, depth)
                                              : constraint_read_values(in, constraint, values);
        if (rc == 0)
            return constraint;
        constraint_free(constraint);
    }
    return NULL;
}

static struct constraint *constraint_read(struct constraint_reader *in, const json_t *value,
                                          size_t depth)
{
    void *first = json_object_iter((json_t *)value);
    if (!json_is_object(value) || json_object_size(value) > 1) {
        error_set(in->err, "constraint: it is an object with one operator, as in "
                           "{\"properties\": [\"ssd\"]}");
        return NULL;
    }
    if (!first) /* matches always */
        return constraint_new(CONSTRAINT_AND);
    return constraint_read_operator(in, json_object_iter_key(first), json_object_iter_value(first),
                                    depth);
}

struct constraint *constraint_from_json(const json_t *value, struct error *err)
{
    struct constraint_reader in = {0, err};
    return constraint_read(&in, value, 1);
}

json_t *constraint_to_json(const struct constraint *constraint)
{
    json_t *values = constraint->values;
    if (!values) {
        values = json_array();
        for (size_t i = 0; i < constraint->nparts; i++)
            json_array_append_new(values, constraint_to_json(constraint->parts[i]));
    } else {
        json_incref(values);
    }
    return json_pack("{s:o}", constraint_names[constraint->kind], values);
}

/* Which ranks of R a constraint lets through: each part is a set of ranks. */

/* A property of R; its ranks are decoded when they are first asked for. */
struct constraint_property {
    const char *name, *text;
    struct idset *ranks;
};

struct constraint_host {
    const char *name;
    uint32_t rank;
};

struct constraint_world {
    const struct rset *R;
    struct idset *all;                      /* its ranks */
    struct constraint_property *properties; /* by name */
    size_t nproperties;
    struct constraint_host *hosts; /* [R->nnodes] by name, made when one is first asked for */
};

static struct idset *constraint_eval(const struct constraint *constraint,
                                     struct constraint_world *world);

/* ---- many sets made one ---- */

#define CONSTRAINT_SETS 64

/* Sets of ranks on their way to be one: the i-th, where it is there, is made of 2^i sets. So each
 * id is copied log n times, and few sets are kept. */
struct constraint_sets {
    enum constraint_kind kind; /* or: all ids; and: those that all sets have */
    struct idset *sets[CONSTRAINT_SETS];
};

/* Both sets are taken. */
static struct idset *constraint_join(enum constraint_kind kind, struct idset *a, struct idset *b)
{
    struct idset *out = kind == CONSTRAINT_OR ? idset_union(a, b) : idset_intersect(a, b);
    idset_free(a);
    idset_free(b);
    return out;
}

/* `set` is taken. */
static void constraint_sets_add(struct constraint_sets *sets, struct idset *set)
{
    size_t i = 0;
    for (; sets->sets[i]; i++) {
        set = constraint_join(sets->kind, sets->sets[i], set);
        sets->sets[i] = NULL;
    }
    sets->sets[i] = set;
}

/* NULL of no sets. */
static struct idset *constraint_sets_take(struct constraint_sets *sets)
{
    struct idset *out = NULL;
    for (size_t i = 0; i < CONSTRAINT_SETS; i++)
        if (sets->sets[i])
            out = out ? constraint_join(sets->kind, sets->sets[i], out) : sets->sets[i];
    return out;
}

/* ---- and, or, not ---- */

/* Of no parts: all. */
static struct idset *constraint_eval_parts(const struct constraint *constraint,
                                           struct constraint_world *world)
{
    struct constraint_sets sets = {.kind = constraint->kind};
    for (size_t i = 0; i < constraint->nparts; i++)
        constraint_sets_add(&sets, constraint_eval(constraint->parts[i], world));
    struct idset *out = constraint_sets_take(&sets);
    return out ? out : idset_copy(world->all);
}

static struct idset *constraint_eval_not(const struct constraint *constraint,
                                         struct constraint_world *world)
{
    struct idset *part = constraint_eval_parts(constraint, world);
    struct idset *out = idset_subtract(world->all, part);
    idset_free(part);
    return out;
}

/* ---- properties ---- */

static int constraint_compare_properties(const void *a, const void *b)
{
    const struct constraint_property *x = a, *y = b;
    return strcmp(x->name, y->name);
}

struct constraint_name { /* what is looked for in the world */
    const struct constraint_world *world;
    const char *name;
};

static bool constraint_property_before(const void *arg, size_t i)
{
    const struct constraint_name *wanted = arg;
    return strcmp(wanted->world->properties[i].name, wanted->name) < 0;
}

/* The first property whose name is not before this one. */
static size_t constraint_first_property(const struct constraint_world *world, const char *name)
{
    return search_first(world->nproperties, constraint_property_before,
                        &(struct constraint_name){world, name});
}

static void constraint_add_matching(struct constraint_sets *sets,
                                    struct constraint_property *property)
{
    if (!property->ranks)
        property->ranks = idset_decode(property->text, NULL);
    if (property->ranks)
        constraint_sets_add(sets, idset_copy(property->ranks));
}

/* A property is meant by its name, and by the part of it before an '@'. */
static struct idset *constraint_property_ranks(const char *name, struct constraint_world *world)
{
    struct constraint_sets sets = {.kind = CONSTRAINT_OR};
    char *stem = mem_format("%s@", name);
    size_t len = strlen(stem), at = constraint_first_property(world, name);
    if (at < world->nproperties && strcmp(world->properties[at].name, name) == 0)
        constraint_add_matching(&sets, &world->properties[at]);
    for (at = constraint_first_property(world, stem);
         at < world->nproperties && strncmp(world->properties[at].name, stem, len) == 0; at++)
        constraint_add_matching(&sets, &world->properties[at]);
    free(stem);
    struct idset *out = constraint_sets_take(&sets);
    return out ? out : idset_new();
}

static struct idset *constraint_eval_properties(const struct constraint *constraint,
                                                struct constraint_world *world)
{
    struct constraint_sets sets = {.kind = CONSTRAINT_AND};
    json_t *value;
    size_t i;
    constraint_sets_add(&sets, idset_copy(world->all));
    json_array_foreach(constraint->values, i, value)
    {
        const char *name = json_string_value(value);
        bool without = *name == '^';
        struct idset *ranks = constraint_property_ranks(name + without, world);
        if (without) {
            struct idset *others = idset_subtract(world->all, ranks);
            idset_free(ranks);
            ranks = others;
        }
        constraint_sets_add(&sets, ranks);
    }
    return constraint_sets_take(&sets);
}

/* ---- hosts and ranks ---- */

static int constraint_compare_hosts(const void *a, const void *b)
{
    const struct constraint_host *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static bool constraint_host_before(const void *arg, size_t i)
{
    const struct constraint_name *wanted = arg;
    return strcmp(wanted->world->hosts[i].name, wanted->name) < 0;
}

static struct idset *constraint_eval_hosts(const struct constraint *constraint,
                                           struct constraint_world *world)
{
    const struct rset *R = world->R;
    if (!world->hosts) {
        world->hosts = mem_array(R->nnodes, sizeof(*world->hosts));
        for (size_t i = 0; i < R->nnodes; i++)
            world->hosts[i] = (struct constraint_host){R->nodes[i].host, R->nodes[i].rank};
        if (R->nnodes)
            qsort(world->hosts, R->nnodes, sizeof(*world->hosts), constraint_compare_hosts);
    }
    struct constraint_sets sets = {.kind = CONSTRAINT_OR};
    for (size_t i = 0; i < hostlist_count(constraint->hosts); i++) {
        const char *name = hostlist_nth(constraint->hosts, i);
        struct idset *ranks = idset_new();
        for (size_t at = search_first(R->nnodes, constraint_host_before,
                                      &(struct constraint_name){world, name});
             at < R->nnodes && strcmp(world->hosts[at].name, name) == 0; at++)
            idset_add(ranks, world->hosts[at].rank);
        constraint_sets_add(&sets, ranks);
    }
    struct idset *out = constraint_sets_take(&sets);
    return out ? out : idset_new();
}

static struct idset *constraint_eval_ranks(const struct constraint *constraint,
                                           struct constraint_world *world)
{
    struct constraint_sets sets = {.kind = CONSTRAINT_OR};
    for (size_t i = 0; i < constraint->nranks; i++)
        constraint_sets_add(&sets, idset_copy(constraint->ranks[i]));
    struct idset *ranks = constraint_sets_take(&sets);
    return ranks ? constraint_join(CONSTRAINT_AND, ranks, idset_copy(world->all)) : idset_new();
}

static struct idset *constraint_eval(const struct constraint *constraint,
                                     struct constraint_world *world)
{
    static struct idset *(*const evals[CONSTRAINT_KINDS])(const struct constraint *constraint,
                                                          struct constraint_world *world) = {
        [CONSTRAINT_AND] = constraint_eval_parts,
        [CONSTRAINT_OR] = constraint_eval_parts,
        [CONSTRAINT_NOT] = constraint_eval_not,
        [CONSTRAINT_PROPERTIES] = constraint_eval_properties,
        [CONSTRAINT_HOSTLIST] = constraint_eval_hosts,
        [CONSTRAINT_RANKS] = constraint_eval_ranks,
    };
    return evals[constraint->kind](constraint, world);
}

/* ---- all of R ---- */

static struct constraint_world constraint_world_make(const struct rset *R)
{
    struct constraint_world world = {.R = R, .all = rset_ranks(R)};
    const char *name;
    json_t *value;
    world.properties = mem_array(json_object_size(R->properties), sizeof(*world.properties));
    json_object_foreach(R->properties, name, value)
    {
        if (json_is_string(value))
            world.properties[world.nproperties++] =
                (struct constraint_property){.name = name, .text = json_string_value(value)};
    }
    if (world.nproperties)
        qsort(world.properties, world.nproperties, sizeof(*world.properties),
              constraint_compare_properties);
    return world;
}

static void constraint_world_clear(struct constraint_world *world)
{
    for (size_t i = 0; i < world->nproperties; i++)
        idset_free(world->properties[i].ranks);
    free(world->properties);
    free(world->hosts);
    idset_free(world->all);
}

struct idset *constraint_match(const struct constraint *constraint, const struct rset *R)
{
    struct constraint_world world = constraint_world_make(R);
    struct idset *out = constraint_eval(constraint, &world);
    constraint_world_clear(&world);
    return out;
}

static const char *constraint_find_unknown(const struct constraint *constraint,
                                           struct constraint_world *world, bool negated)
{
    const char *unknown = NULL;
    json_t *value;
    size_t i;
    for (i = 0; i < constraint->nparts && !unknown; i++)
        unknown = constraint_find_unknown(constraint->parts[i], world,
                                          negated != (constraint->kind == CONSTRAINT_NOT));
    if (unknown || constraint->kind != CONSTRAINT_PROPERTIES)
        return unknown;
    json_array_foreach(constraint->values, i, value)
    {
        const char *name = json_string_value(value);
        bool without = *name == '^';
        if (without != negated)
            continue;
        struct idset *ranks = constraint_property_ranks(name + without, world);
        bool has = !idset_empty(ranks);
        idset_free(ranks);
        if (!has)
            return name + without;
    }
    return NULL;
}

const char *constraint_unknown_property(const struct constraint *constraint, const struct rset *R)
{
    struct constraint_world world = constraint_world_make(R);
    const char *unknown = constraint_find_unknown(constraint, &world, false);
    constraint_world_clear(&world);
    return unknown;
}
