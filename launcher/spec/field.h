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
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/spec/field_words.h"

struct field;

/* What a member is: how it is read and written, and freed. `base` is the struct. */
struct field_type {
    /* New reference, or NULL when there is nothing to say. */
    json_t *(*get)(const void *base, const struct field *field);
    /* 0, or -1 with a sentence that does not name the key. */
    int (*set)(void *base, const struct field *field, const json_t *value, struct error *err);
    /* The same from text of a command line; NULL: it has no such text, or one that says more. A
     * flag has none, and becomes true. */
    int (*read)(void *base, const struct field *field, const char *text, struct error *err);
    void (*clear)(void *base, const struct field *field); /* frees what it owns; NULL: nothing */
};

struct field {
    const char *key;
    const struct field_type *type;
    size_t offset;
    const struct spec_word *words;
    int (*check)(const char *text, struct error *err); /* of a text; NULL: any */
    uint32_t max;                                      /* of a number; 0: SPEC_MAX_NUMBER */
    bool silent_zero; /* of a word: that of value 0 is not written */
};

/* Tables end at a row without a key. */
json_t *fields_to_json(const void *base, const struct field *fields); /* new reference */
/* Into a struct that holds its defaults. `also` is a key that the caller reads itself, or "". */
int fields_from_json(void *base, const struct field *fields, const json_t *object, const char *also,
                     struct error *err);
/* Free what the members own; they are 0 then. */
void fields_clear(void *base, const struct field *fields);

/* Text is bytes and JSON is UTF-8: what is not UTF-8 is written as {"hex": "ff41"}. */
json_t *text_to_json(const char *text);                       /* new reference */
char *text_from_json(const json_t *value, struct error *err); /* caller frees; NULL: refused */

/* Any bytes, as a string of hex digits. */
json_t *bytes_to_json(const void *bytes, size_t len); /* new reference */
/* Caller frees, a zero byte follows; NULL: it is none. */
char *bytes_from_json(const json_t *value, size_t *len);

/* Always -1, with "must be KIND, not ...". */
int field_wants(const char *kind, const json_t *value, struct error *err);

extern const struct field_type field_text;     /* char *; not empty in JSON */
extern const struct field_type field_flag;     /* bool */
extern const struct field_type field_number;   /* uint32_t, from 1 on; 0 says nothing */
extern const struct field_type field_duration; /* double, seconds */
extern const struct field_type field_umask;    /* int; -1 for none */
extern const struct field_type field_word;     /* an enumeration: one of `words` */
extern const struct field_type field_word_set; /* unsigned: a set of `words` */
extern const struct field_type field_list;     /* char **, NULL-terminated; NULL says nothing */

#endif
