/* Shapes from text: the grammar of RFC 46. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/excerpt.h"
#include "affinity/resource/shape_private.h"
#include "base/mem.h"

static int shape_read_list(struct shape_reader *in, struct shape_vertex **list, size_t *count,
                           size_t depth);

/* The bytes of a count: up to what can stand behind one, or to the end of its brackets. */
static size_t shape_count_length(const char *text)
{
    static const char ends[] = "{}[]/; \t\r\n";
    if (*text != '[')
        return strcspn(text, ends);
    size_t inside = strcspn(text + 1, ends);
    return inside + 1 + (text[inside + 1] == ']');
}

static int shape_read_count(struct shape_reader *in, struct shape_vertex *vertex)
{
    struct error why = ERROR_INIT;
    shape_peek(in);
    const char *text = in->shape->text + in->at;
    size_t len = shape_count_length(text);
    if (count_decode(text, len, &vertex->count, &why) < 0) {
        shape_bad(in, in->at, "%s", error_text(&why));
        error_clear(&why);
        return -1;
    }
    in->at += len;
    return 0;
}

/* The first item of a slot is its label. */
static int shape_read_label(struct shape_reader *in, struct shape_vertex *slot)
{
    bool quoted;
    char c = shape_peek(in);
    size_t start = in->at;
    if (c == '+' || c == '-')
        return shape_bad(in, start, "a slot's label comes first, as in slot{name,-x}");
    slot->label = shape_read_string(in, "the label of the slot", &quoted);
    if (!slot->label)
        return -1;
    if (shape_peek(in) == ':')
        return shape_bad(in, start, "a slot's label comes first, as in slot{name,key:value}");
    if (!quoted && (strcmp(slot->label, "x") == 0 || strcmp(slot->label, "exclusive") == 0))
        return shape_bad(in, start,
                         "a slot's label comes first: slot{" SHAPE_LABEL
                         ",x} is exclusive, slot{\"%s\"} has that label",
                         slot->label);
    return 0;
}

static int shape_read_key(struct shape_reader *in, struct shape_vertex *vertex)
{
    char *key = NULL;
    json_t *value = NULL;
    shape_peek(in);
    size_t start = in->at;
    if (shape_read_item(in, true, &key, &value, 0) < 0)
        return -1;
    const char *why = shape_set_key(vertex, key, value);
    if (why)
        shape_bad(in, start, "the key %s %s", excerpt(key, strlen(key)).text, why);
    free(key);
    json_decref(value);
    return why ? -1 : 0;
}

/* Behind '{'. */
static int shape_read_braces(struct shape_reader *in, struct shape_vertex *vertex)
{
    size_t open = in->at - 1;
    int rc;
    if (shape_is_slot(vertex))
        rc = shape_read_label(in, vertex);
    else if (shape_take(in, '}'))
        return 0;
    else
        rc = shape_read_key(in, vertex);
    while (rc == 0 && shape_take(in, ','))
        rc = shape_read_key(in, vertex);
    if (rc == 0 && !shape_take(in, '}'))
        return shape_bad(in, shape_peek(in) ? in->at : open, "a '}' is missing%s",
                         in->at < in->len ? " here" : ": this '{' is not closed");
    return rc;
}

static int shape_read_vertex(struct shape_reader *in, struct shape_vertex *vertex, size_t depth)
{
    shape_peek(in);
    vertex->at = in->at;
    vertex->type = shape_read_string(in, "a type of resource (core, node, ...)", NULL);
    if (!vertex->type)
        return -1;
    if (!*vertex->type)
        return shape_bad(in, vertex->at, "the type of a resource is empty");
    vertex->count = count_of(1);
    if (shape_take(in, '=') && shape_read_count(in, vertex) < 0)
        return -1;
    if (shape_take(in, '{') && shape_read_braces(in, vertex) < 0)
        return -1;
    if (shape_take(in, '/') && shape_read_list(in, &vertex->with, &vertex->nwith, depth + 1) < 0)
        return -1;
    return shape_check_vertex(in, vertex);
}

static int shape_read_next(struct shape_reader *in, struct shape_vertex **list, size_t *count,
                           size_t depth)
{
    struct shape_vertex *vertex = shape_add(in, list, count);
    return vertex ? shape_read_vertex(in, vertex, depth) : -1;
}

static int shape_read_list(struct shape_reader *in, struct shape_vertex **list, size_t *count,
                           size_t depth)
{
    bool bracket = shape_take(in, '[');
    size_t open = in->at - bracket;
    if (depth > SHAPE_MAX_DEPTH)
        return shape_bad(in, in->at, "resources nest more than %d deep", SHAPE_MAX_DEPTH);
    int rc = shape_read_next(in, list, count, depth);
    while (bracket && rc == 0 && shape_take(in, ';'))
        rc = shape_read_next(in, list, count, depth);
    if (bracket && rc == 0 && !shape_take(in, ']'))
        return shape_bad(in, shape_peek(in) ? in->at : open, "a ';' or ']' is missing%s",
                         in->at < in->len ? " here" : ": this '[' is not closed");
    return rc;
}

static int shape_read_end(struct shape_reader *in)
{
    switch (shape_peek(in)) {
    case '\0':
        return 0;
    case ';':
        return shape_bad(in, in->at, "a ';' stands between brackets only, as in [a;b]");
    case ']':
        return shape_bad(in, in->at, "this ']' closes nothing");
    default:
        return shape_bad(in, in->at,
                         "this does not go on from there; type=count{key:value}/with is right");
    }
}

static int shape_read(struct shape_reader *in)
{
    struct shape *shape = in->shape;
    if (!shape_peek(in))
        return error_set(in->err, "shape: it is empty; node=2/slot=4/core, for example, is right");
    if (shape_read_list(in, &shape->vertices, &shape->nvertices, 1) < 0 || shape_read_end(in) < 0)
        return -1;
    return shape_finish(in);
}

struct shape *shape_decode(const char *text, struct error *err)
{
    size_t len = strnlen(text, SHAPE_MAX_TEXT + 1);
    if (len > SHAPE_MAX_TEXT) {
        error_set(err, "shape: the text is longer than %d bytes", SHAPE_MAX_TEXT);
        return NULL;
    }
    json_t *valid = json_stringn(text, len);
    if (!valid) {
        error_set(err, "shape %s: the text is not UTF-8", excerpt(text, len).text);
        return NULL;
    }
    json_decref(valid);
    struct shape *shape = mem_alloc(sizeof(*shape));
    shape->text = mem_copy_text_n(text, len);
    struct shape_reader in = {.shape = shape, .len = len, .err = err};
    if (shape_read(&in) == 0)
        return shape;
    shape_free(shape);
    return NULL;
}
