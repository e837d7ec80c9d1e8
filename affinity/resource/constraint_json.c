/* Constraints from and to JSON (RFC 31). */
#include <string.h>

#include "affinity/resource/constraint_private.h"
#include "affinity/resource/excerpt.h"

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
                         "constraint: \"not\" negates one value, and here are %zu; an "
                         "\"and\" or \"or\" around them is right",
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

static enum constraint_kind constraint_find_kind(const char *name)
{
    unsigned kind = 0;
    while (kind < CONSTRAINT_KINDS && strcmp(constraint_names[kind], name) != 0)
        kind++;
    return (enum constraint_kind)kind;
}

static struct constraint *constraint_read_operator(struct constraint_reader *in, const char *name,
                                                   const json_t *values, size_t depth)
{
    enum constraint_kind kind = constraint_find_kind(name);
    if (kind == CONSTRAINT_KINDS)
        error_set(in->err,
                  "constraint: %s is no operator; and, or, not, properties, hostlist and "
                  "ranks are",
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
