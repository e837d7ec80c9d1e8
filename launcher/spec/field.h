/*
 * field - members of a struct and their keys in JSON, as a table.
 *
 * One table drives both directions, so that what is written can be read. A key whose value says
 * nothing (NULL, false, 0) is left out. Reading is strict: unknown keys, wrong types and values
 * out of bounds are refused with a sentence that begins with the key.
 */
#ifndef LAUNCHER_SPEC_FIELD_H
#define LAUNCHER_SPEC_FIELD_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/spec/field_words.h"

struct field {
    const char *key;
    /* New reference, or NULL when there is nothing to say. `base` is the struct. */
    json_t *(*get)(const void *base, const struct field *field);
    /* 0, or -1 with a sentence that does not name the key. */
    int (*set)(void *base, const struct field *field, const json_t *value, struct error *err);
    size_t offset;
    const struct spec_word *words;
    int (*check)(const char *text, struct error *err); /* of a text; NULL: any that is not empty */
    uint32_t max;                                      /* of a number; 0: SPEC_MAX_NUMBER */
};

/* Tables end at a row without a key. */
json_t *fields_to_json(const void *base, const struct field *fields); /* new reference */
/* Into a struct that holds its defaults. `also` is a key that the caller reads itself, or "". */
int fields_from_json(void *base, const struct field *fields, const json_t *object, const char *also,
                     struct error *err);

/* Text is bytes and JSON is UTF-8: what is not UTF-8 is written as {"hex": "ff41"}. */
json_t *text_to_json(const char *text);                       /* new reference */
char *text_from_json(const json_t *value, struct error *err); /* caller frees; NULL: refused */

/* Any bytes, as a string of hex digits. */
json_t *bytes_to_json(const void *bytes, size_t len); /* new reference */
/* Caller frees, a zero byte follows; NULL: it is none. */
char *bytes_from_json(const json_t *value, size_t *len);

/* Always -1, with "must be KIND, not ...". */
int field_wants(const char *kind, const json_t *value, struct error *err);

/* What a row may name: a text (char *), a flag (bool), a number (uint32_t), a duration (double,
 * seconds), an umask (int, -1 for none), a word (an enumeration), a set of words (unsigned), a
 * NULL-terminated list of texts (char **). */
json_t *field_get_text(const void *base, const struct field *field);
int field_set_text(void *base, const struct field *field, const json_t *value, struct error *err);
json_t *field_get_flag(const void *base, const struct field *field);
int field_set_flag(void *base, const struct field *field, const json_t *value, struct error *err);
json_t *field_get_number(const void *base, const struct field *field);
int field_set_number(void *base, const struct field *field, const json_t *value, struct error *err);
json_t *field_get_duration(const void *base, const struct field *field);
int field_set_duration(void *base, const struct field *field, const json_t *value,
                       struct error *err);
json_t *field_get_umask(const void *base, const struct field *field);
int field_set_umask(void *base, const struct field *field, const json_t *value, struct error *err);
json_t *field_get_word(const void *base, const struct field *field);
int field_set_word(void *base, const struct field *field, const json_t *value, struct error *err);
json_t *field_get_words(const void *base, const struct field *field);
int field_set_words(void *base, const struct field *field, const json_t *value, struct error *err);
json_t *field_get_list(const void *base, const struct field *field);
int field_set_list(void *base, const struct field *field, const json_t *value, struct error *err);

#endif
