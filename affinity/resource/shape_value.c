/* What stands in the braces of a shape: items, and their values. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/shape_private.h"
#include "base/mem.h"

static json_t *shape_read_value(struct shape_reader *in, size_t depth);

/* A JSON array, as it is. */
static json_t *shape_read_array(struct shape_reader *in)
{
    json_error_t bad;
    json_t *array = json_loadb(in->shape->text + in->at, in->len - in->at,
                               JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &bad);
    if (array)
        in->at += (size_t)bad.position;
    else
        shape_bad(in, in->at, "this is no JSON array: %s", bad.text);
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
        shape_bad(in, start, "the number is too large; in quotes it is a string");
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
    return rc < 0 ? shape_bad(in, start, "the key is there twice") : 0;
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

static char shape_take_sign(struct shape_reader *in)
{
    if (shape_take(in, '+'))
        return '+';
    return shape_take(in, '-') ? '-' : '\0';
}

int shape_read_item(struct shape_reader *in, bool outermost, char **key, json_t **value,
                    size_t depth)
{
    bool quoted;
    char sign = shape_take_sign(in);
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
        shape_bad(in, in->at - 1, "a key with + or - in front has no value");
    if (*value)
        return 0;
    free(*key);
    *key = NULL;
    return -1;
}
