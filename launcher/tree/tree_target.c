/* Targets as JSON, in an agent's welcome. */
#include "launcher/tree/tree_target.h"

#include <stdlib.h>

#include "base/mem.h"

static json_t *welcome_text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

json_t *tree_targets_to_json(const struct tree_target *targets, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct tree_target *target = &targets[i];
        json_array_append_new(list,
                              json_pack("[i, s, s, o, o, b]", (int)target->node, target->host,
                                        target->login, welcome_text_or_null(target->cores),
                                        welcome_text_or_null(target->digest), target->together));
    }
    return list;
}

static bool is_text_or_null(const json_t *value)
{
    return json_is_string(value) || json_is_null(value);
}

static bool read_target(const json_t *item, struct tree_target *target)
{
    json_int_t node = json_integer_value(json_array_get(item, 0));
    const char *host = json_string_value(json_array_get(item, 1));
    const char *login = json_string_value(json_array_get(item, 2));
    const json_t *cores = json_array_get(item, 3), *digest = json_array_get(item, 4);
    if (!json_is_integer(json_array_get(item, 0)) || node < 0 || node > INT32_MAX || !host ||
        !login || !is_text_or_null(cores) || !is_text_or_null(digest))
        return false;
    *target = (struct tree_target){.node = (uint32_t)node,
                                   .host = mem_copy_text(host),
                                   .login = mem_copy_text(login),
                                   .cores = mem_copy_text(json_string_value(cores)),
                                   .digest = mem_copy_text(json_string_value(digest)),
                                   .together = json_is_true(json_array_get(item, 5))};
    return true;
}

struct tree_target *tree_targets_from_json(const json_t *value, size_t *count, struct error *err)
{
    *count = json_array_size(value);
    if (!json_is_array(value)) {
        error_set(err, "the targets of the welcome are not an array");
        return NULL;
    }
    struct tree_target *targets = mem_array(*count, sizeof(*targets));
    for (size_t i = 0; i < *count; i++) {
        if (read_target(json_array_get(value, i), &targets[i]))
            continue;
        error_set(err, "target %zu of the welcome is malformed", i);
        tree_targets_free(targets, *count);
        return NULL;
    }
    return targets;
}

void tree_targets_free(struct tree_target *targets, size_t count)
{
    for (size_t i = 0; targets && i < count; i++) {
        free(targets[i].host);
        free(targets[i].login);
        free(targets[i].cores);
        free(targets[i].digest);
    }
    free(targets);
}
