/* The tables under tests/data, for unit tests that are driven by them. */
#ifndef TESTS_UNIT_VECTORS_H
#define TESTS_UNIT_VECTORS_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

/* The table NAME.json; ends the test where it cannot be read. */
static inline json_t *vectors_load(const char *name)
{
    const char *dir = getenv("TPRUN_TEST_DATA");
    char path[4096];
    json_error_t bad;
    snprintf(path, sizeof(path), "%s/%s.json", dir ? dir : TEST_DATA_DIR, name);
    json_t *table = json_load_file(path, 0, &bad);
    if (!table)
        fail_msg("%s: %s", path, bad.text);
    return table;
}

/* table[key], a list that has something in it. */
static inline json_t *vectors_list(json_t *table, const char *key)
{
    json_t *list = json_object_get(table, key);
    if (!json_array_size(list))
        fail_msg("no cases under %s", key);
    return list;
}

static inline const char *vectors_text(const json_t *item, const char *key)
{
    const char *text = json_string_value(json_object_get(item, key));
    if (!text)
        fail_msg("a case lacks the text %s", key);
    return text;
}

#endif
