/* What holds for a shape from text and from JSON alike: its vertices, their keys, labels of slots. */
#include "affinity/shape/shape.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/shape/shape_private.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"

static void shape_free_list(struct shape_vertex *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct shape_vertex *vertex = &list[i];
        shape_free_list(vertex->with, vertex->nwith);
        count_clear(&vertex->count);
        json_decref(vertex->attributes);
        free(vertex->type);
        free(vertex->label);
        free(vertex->unit);
    }
    free(list);
}

void shape_free(struct shape *shape)
{
    if (!shape)
        return;
    shape_free_list(shape->vertices, shape->nvertices);
    free(shape->text);
    free(shape);
}

static int shape_bad_at(const struct shape *shape, size_t at, struct error *err, const char *fmt,
                        va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, fmt, args) < 0)
        text = NULL;
    if (shape->text)
        error_set(err, "shape: %s%s", text ? text : "",
                  pointer(shape->text, strlen(shape->text), at).text);
    else
        error_set(err, "shape: %s", text ? text : "");
    free(text);
    return -1;
}

int shape_bad(const struct shape_reader *in, size_t at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    shape_bad_at(in->shape, at, in->err, fmt, args);
    va_end(args);
    return -1;
}

int shape_refuse(const struct shape *shape, const struct shape_vertex *vertex, struct error *err,
                 const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    shape_bad_at(shape, vertex->at, err, fmt, args);
    va_end(args);
    return -1;
}

struct shape_vertex *shape_add(struct shape_reader *in, struct shape_vertex **list, size_t *count)
{
    if (++in->nvertices > SHAPE_MAX_VERTICES) {
        shape_bad(in, in->at, "more than %d resources; use counts, as in core=8",
                  SHAPE_MAX_VERTICES);
        return NULL;
    }
    size_t n = *count;
    *list = array_grow(*list, n, sizeof(**list));
    struct shape_vertex *vertex = &(*list)[(*count)++];
    *vertex = (struct shape_vertex){.exclusive = SHAPE_UNSAID, .at = in->at};
    return vertex;
}

bool shape_is_slot(const struct shape_vertex *vertex)
{
    return strcmp(vertex->type, SHAPE_SLOT) == 0;
}

size_t shape_count_slots(const struct shape_vertex *list, size_t count)
{
    size_t slots = 0;
    for (size_t i = 0; i < count; i++)
        slots += shape_is_slot(&list[i]) + shape_count_slots(list[i].with, list[i].nwith);
    return slots;
}

int shape_check_vertex(const struct shape_reader *in, const struct shape_vertex *vertex)
{
    if (shape_is_slot(vertex) && !vertex->nwith)
        return shape_bad(in, vertex->at, "a slot must contain resources, as in slot/core");
    return 0;
}

/* The labels of a list and all below it, in `seen`; `alone`: there is one slot. */
static int shape_check_labels(struct shape_reader *in, struct shape_vertex *list, size_t count,
                              bool alone, json_t *seen)
{
    for (size_t i = 0; i < count; i++) {
        struct shape_vertex *vertex = &list[i];
        if (shape_is_slot(vertex) && !vertex->label) {
            if (!alone)
                return shape_bad(in, vertex->at,
                                 "each of several slots must have a label, as in slot{first}");
            vertex->label = mem_copy_text(SHAPE_LABEL);
        }
        if (vertex->label && json_object_get(seen, vertex->label))
            return shape_bad(in, vertex->at, "label %s is given twice",
                             excerpt(vertex->label, strlen(vertex->label)).text);
        if (vertex->label)
            json_object_set_new(seen, vertex->label, json_true());
        if (shape_check_labels(in, vertex->with, vertex->nwith, alone, seen) < 0)
            return -1;
    }
    return 0;
}

int shape_finish(struct shape_reader *in)
{
    struct shape *shape = in->shape;
    bool alone = shape_count_slots(shape->vertices, shape->nvertices) == 1;
    json_t *seen = json_object();
    int rc = shape_check_labels(in, shape->vertices, shape->nvertices, alone, seen);
    json_decref(seen);
    return rc;
}

/* The keys of a vertex (RFC 14), whether they come from text or from JSON. */

static const char *shape_set_exclusive(struct shape_vertex *vertex, json_t *value)
{
    if (!json_is_boolean(value))
        return "must be true or false";
    if (vertex->exclusive != SHAPE_UNSAID)
        return "is given twice";
    vertex->exclusive = json_is_true(value) ? SHAPE_EXCLUSIVE : SHAPE_SHARED;
    return NULL;
}

static const char *shape_set_text(char **to, const json_t *value)
{
    if (!json_is_string(value))
        return "must be a string";
    if (*to)
        return "is given twice";
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
    return "cannot stand in braces: write type=count{...}/with";
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
    /* Any other key is an attribute. */
    if (strcmp(key, "id") == 0 && !json_is_string(value))
        return "must be a string";
    if (!vertex->attributes)
        vertex->attributes = json_object();
    if (json_object_get(vertex->attributes, key))
        return "is given twice";
    if (!shape_is_shallow(value, SHAPE_MAX_DEPTH))
        return "is nested too deeply";
    json_object_set(vertex->attributes, key, value);
    return NULL;
}
