#include "launcher/program/launch_group.h"

#include <stdlib.h>

#include "base/mem.h"
#include "launcher/program/json_field.h"

void launch_group_to_json(json_t *value, const struct launch_source *source)
{
    if (!source->group)
        return;
    json_t *preput = json_array();
    for (size_t i = 0; i < source->npreput; i++)
        json_array_append_new(preput, json_pack("[o, o]", text_to_json(source->preput[i].key),
                                                text_to_json(source->preput[i].value)));
    json_object_set_new(value, "group", json_integer(source->group));
    json_object_set_new(value, "first_rank", json_integer(source->first_rank));
    json_object_set_new(value, "spawned", json_boolean(source->spawned));
    json_object_set_new(value, "preput", preput);
}

static int read_pair(struct launch_pair *pair, const json_t *value, struct error *err)
{
    if (json_array_size(value) != 2)
        return error_set(err, "launch: a pair of preput is malformed");
    pair->key = text_from_json(json_array_get(value, 0), err);
    pair->value = pair->key ? text_from_json(json_array_get(value, 1), err) : NULL;
    return pair->value ? 0 : error_prefix(err, "launch: preput");
}

static int read_preput(struct launch *launch, const json_t *list, struct error *err)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > LAUNCH_MAX_PREPUT)
        return error_set(err, "launch: preput is not an array of at most %u pairs",
                         LAUNCH_MAX_PREPUT);
    launch->preput = mem_array(count, sizeof(*launch->preput));
    launch->npreput = count;
    for (size_t i = 0; i < count; i++)
        if (read_pair(&launch->preput[i], json_array_get(list, i), err) < 0)
            return -1;
    return 0;
}

int launch_group_read(struct launch *launch, const json_t *value, struct error *err)
{
    json_int_t group, first;
    int spawned;
    json_t *preput;
    json_error_t where;
    if (!json_object_get(value, "group"))
        return 0;
    if (json_unpack_ex((json_t *)(uintptr_t)value, &where, 0, "{s:I, s:I, s:b, s:o}", "group",
                       &group, "first_rank", &first, "spawned", &spawned, "preput", &preput) < 0)
        return error_set(err, "launch: %s", where.text);
    if (group < 1 || group >= UINT32_MAX)
        return error_set(err, "launch: no group has the number %lld", (long long)group);
    if (first < 0 || first > INT32_MAX - (json_int_t)launch->ntasks)
        return error_set(err, "launch: ranks from %lld on are more than %d", (long long)first,
                         INT32_MAX);
    launch->group = (uint32_t)group;
    launch->first_rank = (uint32_t)first;
    launch->spawned = spawned;
    return read_preput(launch, preput, err);
}

void launch_group_free(struct launch *launch)
{
    for (size_t i = 0; i < launch->npreput; i++) {
        free(launch->preput[i].key);
        free(launch->preput[i].value);
    }
    free(launch->preput);
}
