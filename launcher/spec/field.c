/* Members of a struct, from and to JSON, from text, and freed: one function each for every type. */
#include "launcher/spec/field.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/spec/spec.h"

static const void *field_at(const void *base, const struct field *field)
{
    return (const char *)base + field->offset;
}

static void *field_into(void *base, const struct field *field)
{
    return (char *)base + field->offset;
}

static const char *json_kind(const json_t *value)
{
    static const char *const kinds[] = {"an object", "an array", "a string", "an integer",
                                        "a real",    "true",     "false",    "null"};
    size_t type = (size_t)json_typeof(value);
    return type < sizeof(kinds) / sizeof(kinds[0]) ? kinds[type] : "something";
}

int field_wants(const char *kind, const json_t *value, struct error *err)
{
    return error_set(err, "must be %s, not %s", kind, json_kind(value));
}

/* --- text --------------------------------------------------------------------------------- */

json_t *text_to_json(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    json_t *hex = bytes_to_json(text, strlen(text));
    return json_pack("{s:o}", "hex", hex);
}

json_t *bytes_to_json(const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    struct buf hex = BUF_INIT;
    for (size_t i = 0; i < len; i++)
        buf_printf(&hex, "%02x", at[i]);
    json_t *value = json_string(buf_text(&hex));
    buf_free(&hex);
    return value;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

char *bytes_from_json(const json_t *value, size_t *len)
{
    const char *hex = json_string_value(value);
    *len = json_string_length(value) / 2;
    if (!hex || json_string_length(value) % 2)
        return NULL;
    char *bytes = mem_alloc(*len + 1);
    for (size_t i = 0; i < *len; i++) {
        int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        if (high < 0 || low < 0) {
            free(bytes);
            return NULL;
        }
        bytes[i] = (char)(high * 16 + low);
    }
    return bytes;
}

char *text_from_json(const json_t *value, struct error *err)
{
    const char *text = json_string_value(value);
    if (text && strlen(text) == json_string_length(value))
        return mem_copy_text(text);
    const json_t *hex = json_object_size(value) == 1 ? json_object_get(value, "hex") : NULL;
    if (!json_is_string(hex)) {
        field_wants(text ? "a string without a zero byte" : "a string", value, err);
        return NULL;
    }
    size_t len;
    char *bytes = bytes_from_json(hex, &len);
    if (bytes && !memchr(bytes, 0, len))
        return bytes;
    free(bytes);
    error_set(err, "\"%s\" is not an even number of hex digits without a zero byte",
              json_string_value(hex));
    return NULL;
}

static json_t *field_get_text(const void *base, const struct field *field)
{
    const char *text = *(char *const *)field_at(base, field);
    return text ? text_to_json(text) : NULL;
}

static int field_set_text(void *base, const struct field *field, const json_t *value,
                          struct error *err)
{
    char **text = field_into(base, field);
    char *given = text_from_json(value, err);
    if (!given)
        return -1;
    int rc = given[0] ? 0 : error_set(err, "must not be empty");
    if (rc == 0 && field->check)
        rc = field->check(given, err);
    if (rc < 0) {
        free(given);
        return -1;
    }
    free(*text);
    *text = given;
    return 0;
}

static int field_read_text(void *base, const struct field *field, const char *text,
                           struct error *err)
{
    char **member = field_into(base, field);
    if (field->check && field->check(text, err) < 0)
        return -1;
    free(*member);
    *member = mem_copy_text(text);
    return 0;
}

static void field_clear_text(void *base, const struct field *field)
{
    char **member = field_into(base, field);
    free(*member);
    *member = NULL;
}

const struct field_type field_text = {field_get_text, field_set_text, field_read_text,
                                      field_clear_text};

/* --- one value ---------------------------------------------------------------------------- */

static json_t *field_get_flag(const void *base, const struct field *field)
{
    return *(const bool *)field_at(base, field) ? json_true() : NULL;
}

static int field_set_flag(void *base, const struct field *field, const json_t *value,
                          struct error *err)
{
    if (!json_is_boolean(value))
        return field_wants("true or false", value, err);
    *(bool *)field_into(base, field) = json_is_true(value);
    return 0;
}

static int field_read_flag(void *base, const struct field *field, const char *text,
                           struct error *err)
{
    (void)text, (void)err;
    *(bool *)field_into(base, field) = true;
    return 0;
}

const struct field_type field_flag = {field_get_flag, field_set_flag, field_read_flag, NULL};

static json_t *field_get_number(const void *base, const struct field *field)
{
    uint32_t number = *(const uint32_t *)field_at(base, field);
    return number ? json_integer(number) : NULL;
}

static uint32_t number_max(const struct field *field)
{
    return field->max ? field->max : SPEC_MAX_NUMBER;
}

static int field_set_number(void *base, const struct field *field, const json_t *value,
                            struct error *err)
{
    uint32_t max = number_max(field);
    if (!json_is_integer(value))
        return field_wants("an integer", value, err);
    json_int_t number = json_integer_value(value);
    if (number < 1 || number > max)
        return error_set(err, "must be from 1 to %u, not %" JSON_INTEGER_FORMAT, max, number);
    *(uint32_t *)field_into(base, field) = (uint32_t)number;
    return 0;
}

static int field_read_number(void *base, const struct field *field, const char *text,
                             struct error *err)
{
    return spec_number_decode(text, number_max(field), field_into(base, field), err);
}

const struct field_type field_number = {field_get_number, field_set_number, field_read_number,
                                        NULL};

static json_t *field_get_duration(const void *base, const struct field *field)
{
    char *text = duration_encode(*(const double *)field_at(base, field));
    json_t *value = json_string(text);
    free(text);
    return value;
}

static int field_set_duration(void *base, const struct field *field, const json_t *value,
                              struct error *err)
{
    if (!json_is_string(value))
        return field_wants("a duration such as \"30s\"", value, err);
    return duration_decode(json_string_value(value), field_into(base, field), err);
}

static int field_read_duration(void *base, const struct field *field, const char *text,
                               struct error *err)
{
    return duration_decode(text, field_into(base, field), err);
}

const struct field_type field_duration = {field_get_duration, field_set_duration,
                                          field_read_duration, NULL};

static json_t *field_get_umask(const void *base, const struct field *field)
{
    int mask = *(const int *)field_at(base, field);
    return mask < 0 ? NULL : json_sprintf("%04o", (unsigned)mask);
}

static int field_set_umask(void *base, const struct field *field, const json_t *value,
                           struct error *err)
{
    if (!json_is_string(value))
        return field_wants("an octal number in a string, such as \"0022\"", value, err);
    return spec_umask_decode(json_string_value(value), field_into(base, field), err);
}

static int field_read_umask(void *base, const struct field *field, const char *text,
                            struct error *err)
{
    return spec_umask_decode(text, field_into(base, field), err);
}

const struct field_type field_umask = {field_get_umask, field_set_umask, field_read_umask, NULL};

/* --- words -------------------------------------------------------------------------------- */

static int word_value(const struct field *field, const json_t *value, unsigned *number,
                      struct error *err)
{
    const char *text = json_string_value(value);
    if (text && spec_word_find(field->words, text, strlen(text), number))
        return 0;
    char *list = spec_words_list(field->words);
    if (text)
        error_set(err, "unknown value \"%s\" (expected %s)", text, list);
    else
        error_set(err, "expected %s, got %s", list, json_kind(value));
    free(list);
    return -1;
}

/* Enumerations have the size of an unsigned here, as GCC and clang make them. */
static json_t *field_get_word(const void *base, const struct field *field)
{
    unsigned value = *(const unsigned *)field_at(base, field);
    return value || !field->silent_zero ? json_string(spec_word_name(field->words, value)) : NULL;
}

static int field_set_word(void *base, const struct field *field, const json_t *value,
                          struct error *err)
{
    return word_value(field, value, field_into(base, field), err);
}

static int field_read_word(void *base, const struct field *field, const char *text,
                           struct error *err)
{
    return spec_word_decode(field->words, text, strlen(text), field_into(base, field), err);
}

const struct field_type field_word = {field_get_word, field_set_word, field_read_word, NULL};

static json_t *field_get_words(const void *base, const struct field *field)
{
    unsigned set = *(const unsigned *)field_at(base, field);
    json_t *list = json_array();
    for (const struct spec_word *word = field->words; word->word; word++)
        if ((set & word->value) == word->value && !(word->value & (word->value - 1)))
            json_array_append_new(list, json_string(word->word));
    return list;
}

static int field_set_words(void *base, const struct field *field, const json_t *value,
                           struct error *err)
{
    unsigned set = 0, number;
    size_t i;
    json_t *word;
    if (!json_is_array(value))
        return field_wants("an array of words", value, err);
    json_array_foreach(value, i, word)
    {
        if (word_value(field, word, &number, err) < 0)
            return -1;
        set |= number;
    }
    *(unsigned *)field_into(base, field) = set;
    return 0;
}

static int field_read_words(void *base, const struct field *field, const char *text,
                            struct error *err)
{
    return spec_words_decode(field->words, text, field_into(base, field), err);
}

const struct field_type field_word_set = {field_get_words, field_set_words, field_read_words, NULL};

/* --- lists -------------------------------------------------------------------------------- */

static json_t *field_get_list(const void *base, const struct field *field)
{
    char *const *words = *(char **const *)field_at(base, field);
    json_t *list = words ? json_array() : NULL;
    for (; words && *words; words++)
        json_array_append_new(list, text_to_json(*words));
    return list;
}

static int field_set_list(void *base, const struct field *field, const json_t *value,
                          struct error *err)
{
    char ***words = field_into(base, field);
    size_t i;
    json_t *word;
    if (!json_is_array(value))
        return field_wants("an array of strings", value, err);
    char **list = mem_array(json_array_size(value) + 1, sizeof(*list));
    json_array_foreach(value, i, word)
    {
        list[i] = text_from_json(word, err);
        if (!list[i] || (field->check && field->check(list[i], err) < 0)) {
            string_list_free(list);
            return -1;
        }
    }
    string_list_free(*words);
    *words = list;
    return 0;
}

static void field_clear_list(void *base, const struct field *field)
{
    char ***words = field_into(base, field);
    string_list_free(*words);
    *words = NULL;
}

const struct field_type field_list = {field_get_list, field_set_list, NULL, field_clear_list};

/* --- all of a struct ---------------------------------------------------------------------- */

json_t *fields_to_json(const void *base, const struct field *fields)
{
    json_t *object = json_object();
    for (const struct field *field = fields; field->key; field++) {
        json_t *value = field->type->get(base, field);
        if (value)
            json_object_set_new(object, field->key, value);
    }
    return object;
}

int fields_from_json(void *base, const struct field *fields, const json_t *object, const char *also,
                     struct error *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return field_wants("an object", object, err);
    json_object_foreach((json_t *)object, key, value)
    {
        const struct field *field = fields;
        while (field->key && strcmp(field->key, key) != 0)
            field++;
        if (!field->key && strcmp(key, also) == 0)
            continue;
        if (!field->key)
            return error_set(err, "unknown key \"%s\"", key);
        if (field->type->set(base, field, value, err) < 0)
            return error_prefix(err, "%s", key);
    }
    return 0;
}

void fields_clear(void *base, const struct field *fields)
{
    for (const struct field *field = fields; field->key; field++)
        if (field->type->clear)
            field->type->clear(base, field);
}
