/* Pairs of texts as JSON, for launches and requests of tasks. */
#include "launcher/protocol/pair.h"

#include <stdlib.h>

#include "base/mem.h"
#include "launcher/spec/field.h"

json_t *pairs_to_json(const struct pair *pairs, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("[o, o]", text_to_json(pairs[i].key), text_to_json(pairs[i].value)));
    return list;
}

int pairs_from_json(struct pair **pairs, size_t *count, const json_t *list, const char *what,
                    struct error *err)
{
    size_t size = json_array_size(list);
    *pairs = NULL;
    *count = 0;
    if (!list)
        return 0;
    if (!json_is_array(list) || size > PAIRS_MAX)
        return error_set(err, "%s: must be an array of at most %u pairs", what, PAIRS_MAX);
    *pairs = mem_array(size, sizeof(**pairs));
    *count = size;
    for (size_t i = 0; i < size; i++) {
        const json_t *value = json_array_get(list, i);
        struct pair *pair = &(*pairs)[i];
        if (json_array_size(value) != 2)
            return error_set(err, "%s: a pair must be an array of two texts", what);
        pair->key = text_from_json(json_array_get(value, 0), err);
        pair->value = pair->key ? text_from_json(json_array_get(value, 1), err) : NULL;
        if (!pair->value)
            return error_prefix(err, "%s", what);
    }
    return 0;
}

void pairs_free(struct pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(pairs[i].key);
        free(pairs[i].value);
    }
    free(pairs);
}
