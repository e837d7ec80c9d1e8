/* Which ranks of R a constraint lets through: each part is a set of ranks. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/constraint_private.h"

struct constraint_world {
    const struct rset *R;
    struct idset *all; /* its ranks */
};

static struct idset *constraint_eval(const struct constraint *constraint,
                                     const struct constraint_world *world);

/* Both sets are taken. */
static struct idset *constraint_join(enum constraint_kind kind, struct idset *a, struct idset *b)
{
    struct idset *out = kind == CONSTRAINT_OR ? idset_union(a, b) : idset_intersect(a, b);
    idset_free(a);
    idset_free(b);
    return out;
}

/* Of no parts: all. */
static struct idset *constraint_eval_parts(const struct constraint *constraint,
                                           const struct constraint_world *world)
{
    if (!constraint->nparts)
        return idset_copy(world->all);
    struct idset *out = constraint_eval(constraint->parts[0], world);
    for (size_t i = 1; i < constraint->nparts; i++)
        out = constraint_join(constraint->kind, out, constraint_eval(constraint->parts[i], world));
    return out;
}

static struct idset *constraint_eval_not(const struct constraint *constraint,
                                         const struct constraint_world *world)
{
    struct idset *part = constraint_eval_parts(constraint, world);
    struct idset *out = idset_subtract(world->all, part);
    idset_free(part);
    return out;
}

/* A property is meant by its name, and by the part of it before an '@'. */
static bool constraint_names_property(const char *name, const char *property)
{
    size_t len = strlen(name);
    return strncmp(name, property, len) == 0 && (!property[len] || property[len] == '@');
}

static struct idset *constraint_property_ranks(const char *name, const struct rset *R)
{
    const char *property;
    json_t *value;
    struct idset *out = idset_new();
    json_object_foreach(R->properties, property, value)
    {
        const char *text = json_string_value(value);
        if (!text || !constraint_names_property(name, property))
            continue;
        struct idset *ranks = idset_decode(text, NULL);
        if (ranks)
            out = constraint_join(CONSTRAINT_OR, out, ranks);
    }
    return out;
}

static struct idset *constraint_eval_properties(const struct constraint *constraint,
                                                const struct constraint_world *world)
{
    json_t *value;
    size_t i;
    struct idset *out = idset_copy(world->all);
    json_array_foreach(constraint->values, i, value)
    {
        const char *name = json_string_value(value);
        bool without = *name == '^';
        struct idset *ranks = constraint_property_ranks(name + without, world->R);
        struct idset *left = without ? idset_subtract(out, ranks) : idset_intersect(out, ranks);
        idset_free(ranks);
        idset_free(out);
        out = left;
    }
    return out;
}

static struct idset *constraint_eval_hosts(const struct constraint *constraint,
                                           const struct constraint_world *world)
{
    struct idset *out = idset_new();
    for (size_t i = 0; i < world->R->nnodes; i++)
        if (constraint_has_host(&constraint->hosts, world->R->nodes[i].host))
            idset_add(out, world->R->nodes[i].rank);
    return out;
}

static struct idset *constraint_eval_ranks(const struct constraint *constraint,
                                           const struct constraint_world *world)
{
    return idset_intersect(world->all, constraint->ranks);
}

static struct idset *constraint_eval(const struct constraint *constraint,
                                     const struct constraint_world *world)
{
    static struct idset *(*const evals[CONSTRAINT_KINDS])(const struct constraint *constraint,
                                                          const struct constraint_world *world) = {
        [CONSTRAINT_AND] = constraint_eval_parts,
        [CONSTRAINT_OR] = constraint_eval_parts,
        [CONSTRAINT_NOT] = constraint_eval_not,
        [CONSTRAINT_PROPERTIES] = constraint_eval_properties,
        [CONSTRAINT_HOSTLIST] = constraint_eval_hosts,
        [CONSTRAINT_RANKS] = constraint_eval_ranks,
    };
    return evals[constraint->kind](constraint, world);
}

struct idset *constraint_match(const struct constraint *constraint, const struct rset *R)
{
    struct constraint_world world = {R, idset_new()};
    for (size_t i = 0; i < R->nnodes; i++)
        idset_add(world.all, R->nodes[i].rank);
    struct idset *out = constraint_eval(constraint, &world);
    idset_free(world.all);
    return out;
}

static bool constraint_has_property(const struct rset *R, const char *name)
{
    struct idset *ranks = constraint_property_ranks(name, R);
    bool has = !idset_empty(ranks);
    idset_free(ranks);
    return has;
}

static const char *constraint_find_unknown(const struct constraint *constraint,
                                           const struct rset *R, bool negated)
{
    const char *unknown = NULL;
    json_t *value;
    size_t i;
    for (i = 0; i < constraint->nparts && !unknown; i++)
        unknown = constraint_find_unknown(constraint->parts[i], R,
                                          negated != (constraint->kind == CONSTRAINT_NOT));
    if (unknown || constraint->kind != CONSTRAINT_PROPERTIES)
        return unknown;
    json_array_foreach(constraint->values, i, value)
    {
        const char *name = json_string_value(value);
        bool without = *name == '^';
        if (without == negated && !constraint_has_property(R, name + without))
            return name + without;
    }
    return NULL;
}

const char *constraint_unknown_property(const struct constraint *constraint, const struct rset *R)
{
    return constraint_find_unknown(constraint, R, false);
}
