/* Shapes from and to JSON: the key `resources` of RFC 14. */
#include <stdlib.h>
#include <string.h>

#include "affinity/shape/shape_private.h"
#include "base/mem.h"
#include "base/text.h"

static int shape_read_vertices(struct shape_reader *in, const json_t *array,
                               struct shape_vertex **list, size_t *count, size_t depth);

/* The rest of the object's keys. */
static int shape_read_keys(struct shape_reader *in, json_t *object, struct shape_vertex *vertex)
{
    static const char *const done[] = {"type", "count", "with"};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (i < 3 && strcmp(key, done[i]) != 0)
            i++;
        const char *why = i < 3 ? NULL : shape_set_key(vertex, key, value);
        if (why)
            return shape_bad(in, 0, "key %s of %s %s", excerpt(key, strlen(key)).text,
                             excerpt(vertex->type, strlen(vertex->type)).text, why);
    }
    return 0;
}

static int shape_read_amount(struct shape_reader *in, const json_t *object,
                             struct shape_vertex *vertex)
{
    struct error why = ERROR_INIT;
    const json_t *count = json_object_get(object, "count");
    struct excerpt type = excerpt(vertex->type, strlen(vertex->type));
    if (!count)
        return shape_bad(in, 0, "%s: missing key count", type.text);
    if (count_from_json(count, &vertex->count, &why) == 0)
        return 0;
    shape_bad(in, 0, "%s: %s", type.text, error_text(&why));
    error_clear(&why);
    return -1;
}

static int shape_read_parts(struct shape_reader *in, json_t *object, struct shape_vertex *vertex,
                            size_t depth)
{
    const json_t *with = json_object_get(object, "with");
    const char *type = json_string_value(json_object_get(object, "type"));
    if (!type || !*type)
        return shape_bad(in, 0, "the type of a resource must be a string that is not empty");
    vertex->type = mem_copy_text(type);
    if (shape_read_amount(in, object, vertex) < 0 || shape_read_keys(in, object, vertex) < 0)
        return -1;
    if (with && shape_read_vertices(in, with, &vertex->with, &vertex->nwith, depth + 1) < 0)
        return -1;
    return shape_check_vertex(in, vertex);
}

static int shape_read_vertices(struct shape_reader *in, const json_t *array,
                               struct shape_vertex **list, size_t *count, size_t depth)
{
    json_t *object;
    size_t i;
    if (!json_array_size(array))
        return shape_bad(in, 0,
                         "resources and each key \"with\" must be an array of objects that is not "
                         "empty");
    if (depth > SHAPE_MAX_DEPTH)
        return shape_bad(in, 0, "resources nest more than %d deep", SHAPE_MAX_DEPTH);
    json_array_foreach(array, i, object)
    {
        struct shape_vertex *vertex = shape_add(in, list, count);
        if (!vertex || shape_read_parts(in, object, vertex, depth) < 0)
            return -1;
    }
    return 0;
}

struct shape *shape_from_json(const json_t *resources, struct error *err)
{
    struct shape *shape = mem_alloc(sizeof(*shape));
    struct shape_reader in = {.shape = shape, .err = err};
    if (shape_read_vertices(&in, resources, &shape->vertices, &shape->nvertices, 1) == 0 &&
        shape_finish(&in) == 0)
        return shape;
    shape_free(shape);
    return NULL;
}

static void shape_set_said(json_t *object, const char *key, const char *text)
{
    if (text)
        json_object_set_new(object, key, json_string(text));
}

static json_t *shape_list_to_json(const struct shape_vertex *list, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct shape_vertex *vertex = &list[i];
        json_t *object = json_object();
        json_object_set_new(object, "type", json_string(vertex->type));
        json_object_set_new(object, "count", count_to_json(&vertex->count));
        shape_set_said(object, "unit", vertex->unit);
        if (vertex->exclusive != SHAPE_UNSAID)
            json_object_set_new(object, "exclusive",
                                json_boolean(vertex->exclusive == SHAPE_EXCLUSIVE));
        shape_set_said(object, "label", vertex->label);
        if (vertex->attributes)
            json_object_update(object, vertex->attributes);
        if (vertex->nwith)
            json_object_set_new(object, "with", shape_list_to_json(vertex->with, vertex->nwith));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *shape_to_json(const struct shape *shape)
{
    return shape_list_to_json(shape->vertices, shape->nvertices);
}
