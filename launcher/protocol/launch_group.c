#include "launcher/protocol/launch_group.h"

void launch_group_to_json(json_t *value, const struct launch_source *source)
{
    if (!source->group)
        return;
    json_object_set_new(value, "group", json_integer(source->group));
    json_object_set_new(value, "first_rank", json_integer(source->first_rank));
    if (!source->spawned)
        return;
    json_object_set_new(value, "spawner", json_integer(source->spawner));
    json_object_set_new(value, "spawner_rank", json_integer(source->spawner_rank));
    json_object_set_new(value, "preput", pairs_to_json(source->preput, source->npreput));
}

static int read_spawned(struct launch *launch, const json_t *value, struct error *err)
{
    const json_t *spawner = json_object_get(value, "spawner");
    const json_t *task = json_object_get(value, "spawner_rank");
    json_int_t number = json_integer_value(spawner), rank = json_integer_value(task);
    if (!spawner)
        return 0;
    if (!json_is_integer(spawner) || number < 0 || number >= launch->group)
        return error_set(err, "launch: no older group has spawned group %u", launch->group);
    if (!json_is_integer(task) || rank < 0 || rank > INT32_MAX)
        return error_set(err, "launch: no task has spawned group %u", launch->group);
    launch->spawned = true;
    launch->spawner = (uint32_t)number;
    launch->spawner_rank = (uint32_t)rank;
    return pairs_from_json(&launch->preput, &launch->npreput, json_object_get(value, "preput"),
                           "launch: preput", err);
}

int launch_group_read(struct launch *launch, const json_t *value, struct error *err)
{
    json_int_t group, first;
    json_error_t where;
    if (!json_object_get(value, "group"))
        return 0;
    if (json_unpack_ex((json_t *)(uintptr_t)value, &where, 0, "{s:I, s:I}", "group", &group,
                       "first_rank", &first) < 0)
        return error_set(err, "launch: %s", where.text);
    if (group < 1 || group >= UINT32_MAX)
        return error_set(err, "launch: no group has the number %lld", (long long)group);
    if (first < 0 || first > INT32_MAX - (json_int_t)launch->ntasks)
        return error_set(err, "launch: ranks from %lld on are more than %d", (long long)first,
                         INT32_MAX);
    launch->group = (uint32_t)group;
    launch->first_rank = (uint32_t)first;
    return read_spawned(launch, value, err);
}
