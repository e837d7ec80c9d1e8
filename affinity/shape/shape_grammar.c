/* Shapes from text and to text: the grammar of RFC 46. */
#include <stdlib.h>
#include <string.h>

#include "affinity/shape/shape_private.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- words and quoted strings ---- */

enum shape_word { SHAPE_STRING, SHAPE_VALUE, SHAPE_TOO_LARGE };

static bool shape_is_word_char(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte > ' ' && byte != 0x7f && !strchr("={}[]/;,:\"'", c);
}

/* Needs no quotes as type, label or key. */
static bool shape_is_word(const char *text)
{
    const char *at = text;
    while (shape_is_word_char(*at))
        at++;
    return at > text && !*at;
}

/* An unquoted value: a number, true, false or null is in *value then (a new reference). */
static enum shape_word shape_read_word(const char *text, size_t len, json_t **value)
{
    json_error_t bad;
    *value = json_loadb(text, len, JSON_DECODE_ANY, &bad);
    if (*value)
        return SHAPE_VALUE;
    return json_error_code(&bad) == json_error_numeric_overflow ? SHAPE_TOO_LARGE : SHAPE_STRING;
}

/* The next byte behind blanks; '\0' at the end. */
static char shape_peek(struct shape_reader *in)
{
    in->at += strspn(in->shape->text + in->at, " \t\r\n");
    return in->shape->text[in->at];
}

static bool shape_take(struct shape_reader *in, char c)
{
    if (shape_peek(in) != c)
        return false;
    in->at++;
    return true;
}

/* The end of the quoted string that starts at in->at; 0 where it has none. */
static size_t shape_find_quote(const struct shape_reader *in, char quote)
{
    const char *text = in->shape->text;
    for (size_t at = in->at + 1; at < in->len; at++) {
        if (text[at] == quote)
            return at + 1;
        if (text[at] == '\\' && quote == '"')
            at++;
    }
    return 0;
}

/* What stands in single quotes is taken as it is. */
static json_t *shape_read_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ')
            return NULL;
    return json_stringn(text, len);
}

static json_t *shape_read_quoted(struct shape_reader *in, char quote)
{
    const char *text = in->shape->text + in->at;
    size_t end = shape_find_quote(in, quote);
    if (!end) {
        shape_bad(in, in->at, "the quote is not closed");
        return NULL;
    }
    size_t len = end - in->at;
    json_t *value = quote == '"' ? json_loadb(text, len, JSON_DECODE_ANY, NULL)
                                 : shape_read_plain(text + 1, len - 2);
    if (value)
        in->at = end;
    else
        shape_bad(in, in->at, "not a valid JSON string");
    return value;
}

/* A word or a quoted string; *quoted may be NULL. NULL: refused, `what` was expected. */
static char *shape_read_string(struct shape_reader *in, const char *what, bool *quoted)
{
    char c = shape_peek(in);
    if (quoted)
        *quoted = c == '"' || c == '\'';
    if (c == '"' || c == '\'') {
        json_t *value = shape_read_quoted(in, c);
        char *text = value ? mem_copy_text(json_string_value(value)) : NULL;
        json_decref(value);
        return text;
    }
    const char *start = in->shape->text + in->at;
    size_t len = 0;
    while (shape_is_word_char(start[len]))
        len++;
    in->at += len;
    if (len)
        return mem_copy_text_n(start, len);
    if (c)
        shape_bad(in, in->at, "expected %s; text with special characters needs quotes", what);
    else
        shape_bad(in, in->at, "expected %s, got the end", what);
    return NULL;
}

/* ---- what stands in braces: items, and their values ---- */

static json_t *shape_read_value(struct shape_reader *in, size_t depth);

/* One `key:value`, `+key`, `-key` or `key`; outermost: `x` is short for exclusive. */
static int shape_read_item(struct shape_reader *in, bool outermost, char **key, json_t **value,
                           size_t depth)
{
    bool quoted;
    char sign = shape_take(in, '+') ? '+' : shape_take(in, '-') ? '-' : '\0';
    *key = shape_read_string(in, "a key", &quoted);
    if (!*key)
        return -1;
    if (outermost && !quoted && strcmp(*key, "x") == 0) {
        free(*key);
        *key = mem_copy_text("exclusive");
    }
    if (!shape_take(in, ':'))
        *value = json_boolean(sign != '-');
    else if (!sign)
        *value = shape_read_value(in, depth);
    else
        shape_bad(in, in->at - 1, "a key with + or - in front cannot have a value");
    if (*value)
        return 0;
    free(*key);
    *key = NULL;
    return -1;
}

/* A JSON array, as it is. */
static json_t *shape_read_array(struct shape_reader *in)
{
    json_error_t bad;
    json_t *array = json_loadb(in->shape->text + in->at, in->len - in->at,
                               JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &bad);
    if (array)
        in->at += (size_t)bad.position;
    else
        shape_bad(in, in->at, "not a JSON array: %s", bad.text);
    return array;
}

static json_t *shape_read_unquoted(struct shape_reader *in)
{
    const char *text = in->shape->text + in->at;
    size_t start = in->at;
    char *word = shape_read_string(in, "a value", NULL);
    json_t *value = NULL;
    if (!word)
        return NULL;
    enum shape_word kind = shape_read_word(text, in->at - start, &value);
    if (kind == SHAPE_STRING)
        value = json_string(word);
    if (kind == SHAPE_TOO_LARGE)
        shape_bad(in, start, "the number is too large; write it in quotes for a string");
    free(word);
    return value;
}

static int shape_read_member(struct shape_reader *in, json_t *object, size_t depth)
{
    size_t start = in->at;
    char *key = NULL;
    json_t *value = NULL;
    if (shape_read_item(in, false, &key, &value, depth) < 0)
        return -1;
    int rc = json_object_get(object, key) ? -1 : json_object_set(object, key, value);
    free(key);
    json_decref(value);
    return rc < 0 ? shape_bad(in, start, "the key is given twice") : 0;
}

/* An object, in JSON or in the relaxed syntax of the braces around it. */
static json_t *shape_read_object(struct shape_reader *in, size_t depth)
{
    size_t start = in->at++;
    if (depth > SHAPE_MAX_DEPTH) {
        shape_bad(in, start, "values nest more than %d deep", SHAPE_MAX_DEPTH);
        return NULL;
    }
    json_t *object = json_object();
    if (shape_take(in, '}'))
        return object;
    int rc = shape_read_member(in, object, depth);
    while (rc == 0 && shape_take(in, ','))
        rc = shape_read_member(in, object, depth);
    if (rc == 0 && !shape_take(in, '}'))
        rc = shape_bad(in, start, "this '{' is not closed");
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *shape_read_value(struct shape_reader *in, size_t depth)
{
    switch (shape_peek(in)) {
    case '{':
        return shape_read_object(in, depth + 1);
    case '[':
        return shape_read_array(in);
    case '"':
    case '\'': {
        char *text = shape_read_string(in, "a value", NULL);
        json_t *value = text ? json_string(text) : NULL;
        free(text);
        return value;
    }
    default:
        return shape_read_unquoted(in);
    }
}

/* ---- vertices, and lists of them ---- */

static int shape_read_list(struct shape_reader *in, struct shape_vertex **list, size_t *count,
                           size_t depth);

static int shape_read_count(struct shape_reader *in, struct shape_vertex *vertex)
{
    static const char ends[] = "{}[]/; \t\r\n";
    struct error why = ERROR_INIT;
    shape_peek(in);
    const char *text = in->shape->text + in->at;
    /* Up to what can stand behind a count, or to the end of its brackets. */
    size_t len = *text == '[' ? 1 + strcspn(text + 1, ends) : strcspn(text, ends);
    len += *text == '[' && text[len] == ']';
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
        return shape_bad(in, start, "the label of a slot must come first, as in slot{name,-x}");
    slot->label = shape_read_string(in, "the label of the slot", &quoted);
    if (!slot->label)
        return -1;
    if (shape_peek(in) == ':')
        return shape_bad(in, start,
                         "the label of a slot must come first, as in slot{name,key:value}");
    if (!quoted && (strcmp(slot->label, "x") == 0 || strcmp(slot->label, "exclusive") == 0))
        return shape_bad(in, start,
                         "the label of a slot must come first: slot{" SHAPE_LABEL
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
        shape_bad(in, start, "key %s %s", excerpt(key, strlen(key)).text, why);
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
        return shape_bad(in, shape_peek(in) ? in->at : open, "missing '}'%s",
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
        return shape_bad(in, shape_peek(in) ? in->at : open, "missing ';' or ']'%s",
                         in->at < in->len ? " here" : ": this '[' is not closed");
    return rc;
}

static int shape_read(struct shape_reader *in)
{
    struct shape *shape = in->shape;
    if (!shape_peek(in))
        return error_set(in->err, "shape: empty; expected resources, such as node=2/slot=4/core");
    if (shape_read_list(in, &shape->vertices, &shape->nvertices, 1) < 0)
        return -1;
    switch (shape_peek(in)) {
    case '\0':
        return shape_finish(in);
    case ';':
        return shape_bad(in, in->at, "';' must be inside brackets, as in [a;b]");
    case ']':
        return shape_bad(in, in->at, "']' without '['");
    default:
        return shape_bad(in, in->at, "unexpected text; expected type=count{key:value}/with");
    }
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

/* ---- as canonical text: no blanks, quotes only where they are needed ---- */

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

/* The label of the only slot goes without saying where it is the usual one. */
static void shape_put_label(const struct shape_vertex *slot, bool alone, size_t *n, struct buf *out)
{
    bool has_keys =
        slot->exclusive != SHAPE_UNSAID || slot->unit || json_object_size(slot->attributes);
    if (alone && !has_keys && strcmp(slot->label, SHAPE_LABEL) == 0)
        return;
    shape_put_next(n, out);
    if (strcmp(slot->label, "exclusive") == 0)
        shape_put_quoted(slot->label, out);
    else
        shape_put_word(slot->label, "x", out);
}

static void shape_put_braces(const struct shape_vertex *vertex, bool alone, struct buf *out)
{
    const char *key;
    json_t *value;
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
    json_object_foreach(vertex->attributes, key, value)
    {
        shape_put_next(&n, out);
        shape_put_item(key, value, "x", out);
    }
    if (n)
        buf_add_char(out, '}');
}

static void shape_put_list(const struct shape_vertex *list, size_t count, bool alone,
                           struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct shape_vertex *vertex = &list[i];
        if (count > 1)
            buf_add_char(out, i ? ';' : '[');
        shape_put_word(vertex->type, NULL, out);
        char *number = count_encode(&vertex->count);
        if (strcmp(number, "1") != 0)
            buf_printf(out, "=%s", number);
        free(number);
        shape_put_braces(vertex, alone, out);
        if (!vertex->nwith)
            continue;
        buf_add_char(out, '/');
        shape_put_list(vertex->with, vertex->nwith, alone, out);
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
