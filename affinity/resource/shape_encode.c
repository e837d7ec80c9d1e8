/* Shapes as canonical text: no blanks, quotes only where they are needed. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/shape_private.h"
#include "base/buf.h"

static void shape_put_list(const struct shape_vertex *list, size_t count, bool alone,
                           struct buf *out);

static void shape_put_json(const json_t *value, struct buf *out)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    buf_add_text(out, text ? text : "null");
    free(text);
}

static void shape_put_quoted(const char *text, struct buf *out)
{
    json_t *value = json_string(text);
    shape_put_json(value, out);
    json_decref(value);
}

/* A type, a label or a key; `taken` is a word that would mean something else. */
static void shape_put_word(const char *text, const char *taken, struct buf *out)
{
    bool sign = *text == '+' || *text == '-';
    if (shape_is_word(text) && !sign && (!taken || strcmp(text, taken) != 0))
        buf_add_text(out, text);
    else
        shape_put_quoted(text, out);
}

static void shape_put_item(const char *key, json_t *value, const char *taken, struct buf *out);

static void shape_put_object(json_t *object, struct buf *out)
{
    const char *key;
    json_t *value;
    size_t n = 0;
    buf_add_char(out, '{');
    json_object_foreach(object, key, value)
    {
        if (n++)
            buf_add_char(out, ',');
        shape_put_item(key, value, NULL, out);
    }
    buf_add_char(out, '}');
}

static void shape_put_string(const char *text, struct buf *out)
{
    json_t *value = NULL;
    enum shape_word kind = shape_read_word(text, strlen(text), &value);
    json_decref(value);
    if (kind == SHAPE_STRING && shape_is_word(text))
        buf_add_text(out, text);
    else
        shape_put_quoted(text, out);
}

static void shape_put_item(const char *key, json_t *value, const char *taken, struct buf *out)
{
    if (json_is_boolean(value))
        buf_add_char(out, json_is_true(value) ? '+' : '-');
    shape_put_word(key, taken, out);
    if (json_is_boolean(value))
        return;
    buf_add_char(out, ':');
    if (json_is_object(value))
        shape_put_object(value, out);
    else if (json_is_string(value))
        shape_put_string(json_string_value(value), out);
    else
        shape_put_json(value, out);
}

/* A comma, or the brace that opens. */
static void shape_put_next(size_t *n, struct buf *out)
{
    buf_add_char(out, (*n)++ ? ',' : '{');
}

static void shape_put_said(const char *key, const char *text, size_t *n, struct buf *out)
{
    if (!text)
        return;
    shape_put_next(n, out);
    buf_printf(out, "%s:", key);
    shape_put_string(text, out);
}

static void shape_put_attributes(json_t *attributes, size_t *n, struct buf *out)
{
    const char *key;
    json_t *value;
    json_object_foreach(attributes, key, value)
    {
        shape_put_next(n, out);
        shape_put_item(key, value, "x", out);
    }
}

static bool shape_has_keys(const struct shape_vertex *vertex)
{
    return vertex->exclusive != SHAPE_UNSAID || vertex->unit ||
           json_object_size(vertex->attributes);
}

/* The label of the only slot goes without saying where it is the usual one. */
static void shape_put_label(const struct shape_vertex *slot, bool alone, size_t *n, struct buf *out)
{
    if (alone && !shape_has_keys(slot) && strcmp(slot->label, SHAPE_LABEL) == 0)
        return;
    shape_put_next(n, out);
    if (strcmp(slot->label, "exclusive") == 0)
        shape_put_quoted(slot->label, out);
    else
        shape_put_word(slot->label, "x", out);
}

static void shape_put_braces(const struct shape_vertex *vertex, bool alone, struct buf *out)
{
    size_t n = 0;
    bool slot = shape_is_slot(vertex);
    if (slot)
        shape_put_label(vertex, alone, &n, out);
    if (vertex->exclusive != SHAPE_UNSAID) {
        shape_put_next(&n, out);
        buf_add_text(out, vertex->exclusive == SHAPE_EXCLUSIVE ? "x" : "-x");
    }
    shape_put_said("unit", vertex->unit, &n, out);
    shape_put_said("label", slot ? NULL : vertex->label, &n, out);
    shape_put_attributes(vertex->attributes, &n, out);
    if (n)
        buf_add_char(out, '}');
}

static void shape_put_vertex(const struct shape_vertex *vertex, bool alone, struct buf *out)
{
    shape_put_word(vertex->type, NULL, out);
    char *count = count_encode(&vertex->count);
    if (strcmp(count, "1") != 0)
        buf_printf(out, "=%s", count);
    free(count);
    shape_put_braces(vertex, alone, out);
    if (!vertex->nwith)
        return;
    buf_add_char(out, '/');
    shape_put_list(vertex->with, vertex->nwith, alone, out);
}

static void shape_put_list(const struct shape_vertex *list, size_t count, bool alone,
                           struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        if (count > 1)
            buf_add_char(out, i ? ';' : '[');
        shape_put_vertex(&list[i], alone, out);
    }
    if (count > 1)
        buf_add_char(out, ']');
}

char *shape_encode(const struct shape *shape)
{
    struct buf out = BUF_INIT;
    bool alone = shape_count_slots(shape->vertices, shape->nvertices) == 1;
    shape_put_list(shape->vertices, shape->nvertices, alone, &out);
    return buf_take_text(&out);
}
