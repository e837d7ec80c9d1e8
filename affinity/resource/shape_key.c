/* The keys of a vertex (RFC 14), whether they come from text or from JSON. */
#include <string.h>

#include "affinity/resource/shape_private.h"
#include "base/mem.h"

static const char *shape_set_exclusive(struct shape_vertex *vertex, json_t *value)
{
    if (!json_is_boolean(value))
        return "is true or false";
    if (vertex->exclusive != SHAPE_UNSAID)
        return "is said twice";
    vertex->exclusive = json_is_true(value) ? SHAPE_EXCLUSIVE : SHAPE_SHARED;
    return NULL;
}

static const char *shape_set_text(char **to, const json_t *value)
{
    if (!json_is_string(value))
        return "is a string";
    if (*to)
        return "is said twice";
    *to = mem_copy_text(json_string_value(value));
    return NULL;
}

static const char *shape_set_unit(struct shape_vertex *vertex, json_t *value)
{
    return shape_set_text(&vertex->unit, value);
}

static const char *shape_set_label(struct shape_vertex *vertex, json_t *value)
{
    return shape_set_text(&vertex->label, value);
}

static const char *shape_set_part(struct shape_vertex *vertex, json_t *value)
{
    (void)vertex;
    (void)value;
    return "has a place of its own: type=count{...}/with";
}

static bool shape_is_shallow(json_t *value, size_t left)
{
    const char *key;
    json_t *item;
    size_t i;
    if (!json_is_object(value) && !json_is_array(value))
        return true;
    if (!left)
        return false;
    json_object_foreach(value, key, item)
    {
        if (!shape_is_shallow(item, left - 1))
            return false;
    }
    json_array_foreach(value, i, item)
    {
        if (!shape_is_shallow(item, left - 1))
            return false;
    }
    return true;
}

static const char *shape_set_attribute(struct shape_vertex *vertex, const char *key, json_t *value)
{
    if (strcmp(key, "id") == 0 && !json_is_string(value))
        return "is a string";
    if (!vertex->attributes)
        vertex->attributes = json_object();
    if (json_object_get(vertex->attributes, key))
        return "is said twice";
    if (!shape_is_shallow(value, SHAPE_MAX_DEPTH))
        return "is nested too deeply";
    json_object_set(vertex->attributes, key, value);
    return NULL;
}

const char *shape_set_key(struct shape_vertex *vertex, const char *key, json_t *value)
{
    static const struct {
        const char *key;
        const char *(*set)(struct shape_vertex *vertex, json_t *value);
    } keys[] = {
        {"exclusive", shape_set_exclusive}, {"unit", shape_set_unit},  {"label", shape_set_label},
        {"type", shape_set_part},           {"count", shape_set_part}, {"with", shape_set_part},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (strcmp(key, keys[i].key) == 0)
            return keys[i].set(vertex, value);
    return shape_set_attribute(vertex, key, value);
}
