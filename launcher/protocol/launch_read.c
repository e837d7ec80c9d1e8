/* The reading side of a launch. It may come over a network: everything in it is checked. */
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "base/number.h"
#include "launcher/protocol/launch.h"

/* An integer from 0 to `max`; false otherwise. */
static bool launch_read_number(const json_t *value, uint32_t max, uint32_t *number)
{
    json_int_t n = json_integer_value(value);
    *number = (uint32_t)n;
    return json_is_integer(value) && n >= 0 && n <= (json_int_t)max;
}

/* Decimal digits, to the first character behind them; NULL: none, or more than fit. */
static const char *read_digits(const char *at, uint32_t *number)
{
    uint64_t n;
    size_t digits = number_read(at, NULL, UINT32_MAX, &n);
    *number = (uint32_t)n;
    return digits && n < UINT32_MAX ? at + digits : NULL;
}

/* ---- nodes ---- */

static int read_nodes(struct launch *launch, const json_t *tree_nodes, const char *hosts,
                      uint32_t tree_node, struct error *err)
{
    launch->nnodes = (uint32_t)json_array_size(tree_nodes);
    if (launch->map->nnodes > launch->nnodes)
        return error_set(err, "launch: %u nodes, the task map has %u", launch->nnodes,
                         launch->map->nnodes);
    launch->tree_node = mem_array(launch->nnodes, sizeof(uint32_t));
    launch->hosts = mem_array(launch->nnodes, sizeof(char *));
    for (uint32_t i = 0; i < launch->nnodes; i++) {
        if (!launch_read_number(json_array_get(tree_nodes, i), INT32_MAX, &launch->tree_node[i]))
            return error_set(err, "launch: node %u is nowhere in the tree", i);
        if (launch->tree_node[i] != tree_node)
            continue;
        if (launch->node != UINT32_MAX)
            return error_set(err, "launch: nodes %u and %u are one in the tree", launch->node, i);
        launch->node = i;
    }
    struct hostlist *list = hostlist_decode(hosts, err);
    if (!list)
        return -1;
    bool same = hostlist_count(list) == launch->nnodes;
    for (uint32_t i = 0; same && i < launch->nnodes; i++)
        launch->hosts[i] = mem_copy_text(hostlist_nth(list, i));
    hostlist_free(list);
    return same ? 0 : error_set(err, "launch: %u nodes, but not as many hosts", launch->nnodes);
}

/* ---- tasks ---- */

/* Which part a rank belongs to: parts are contiguous. */
static int read_apps(struct launch *launch, const json_t *sizes, struct error *err)
{
    uint64_t end = 0;
    uint32_t local = 0, size;
    if (json_array_size(sizes) != launch->spec->nparts)
        return error_set(err, "launch: sizes of %zu parts, the spec has %zu",
                         json_array_size(sizes), launch->spec->nparts);
    launch->sizes = mem_array(launch->spec->nparts, sizeof(*launch->sizes));
    for (uint32_t part = 0; part < launch->spec->nparts; part++) {
        if (!launch_read_number(json_array_get(sizes, part), UINT32_MAX, &size))
            return error_set(err, "launch: the size of part %u is not a number", part);
        launch->sizes[part] = size;
        for (end += size; local < launch->nlocal && launch->tasks[local].rank < end; local++)
            launch->tasks[local].app = part;
    }
    return end == launch->ntasks
               ? 0
               : error_set(err, "launch: parts of %llu tasks, the task map has %u",
                           (unsigned long long)end, launch->ntasks);
}

/* Sets by number, as "cpus" and "gpu_sets" have them; one that comes again is the same. */
struct seen {
    const char *what;  /* a number's name */
    const char *where; /* the sets' */
    const json_t *texts;
    struct idset **sets;
    uint32_t *numbers;
    uint32_t count, most; /* most: tasks of this node */
};

static int read_set(struct seen *seen, uint32_t number, uint32_t *index, struct error *err)
{
    char key[16];
    for (*index = 0; *index < seen->count; ++*index)
        if (seen->numbers[*index] == number)
            return 0;
    snprintf(key, sizeof(key), "%u", number);
    const char *text = json_string_value(json_object_get(seen->texts, key));
    if (!text || seen->count == seen->most)
        return text ? error_set(err, "launch: more %ss than tasks: %s %u", seen->what, seen->what,
                                number)
                    : error_set(err, "launch: no %s for %s %u", seen->where, seen->what, number);
    struct idset *set = idset_decode(text, err);
    if (!set)
        return error_prefix(err, "launch");
    seen->sets[seen->count] = set;
    seen->numbers[seen->count++] = number;
    return 0;
}

/* One run of "number:count,..." at *at, which moves behind it. */
static int read_run(const char **at, const struct seen *seen, uint32_t left, uint32_t *number,
                    uint32_t *count, struct error *err)
{
    const char *colon = read_digits(*at, number);
    const char *end = colon && *colon == ':' ? read_digits(colon + 1, count) : NULL;
    if (!end || !*count || (*end && (*end != ',' || !end[1])))
        return error_set(err, "launch: malformed tasks \"%.40s\"", *at);
    if (*count > left)
        return error_set(err, "launch: more %ss than tasks", seen->what);
    *at = end + (*end == ',');
    return 0;
}

/* For the ranks in order. */
static int read_bindings(struct launch *launch, struct seen *seen, const char *text,
                         const struct idset *ranks, struct error *err)
{
    uint32_t rank = idset_first(ranks), binding = 0, count = 0, index = 0;
    for (const char *at = text; *at;) {
        if (read_run(&at, seen, seen->most - launch->nlocal, &binding, &count, err) < 0 ||
            read_set(seen, binding, &index, err) < 0)
            return -1;
        for (; count; count--, rank = idset_next(ranks, rank), launch->nlocal++)
            launch->tasks[launch->nlocal] =
                (struct launch_task){rank, launch->nlocal, 0, index, LAYOUT_NO_GPUS};
    }
    return launch->nlocal == seen->most
               ? 0
               : error_set(err, "launch: %u of %u tasks of node %u have a binding", launch->nlocal,
                           seen->most, launch->node);
}

/* The same of GPU sets, where 0 is none. */
static int read_gpu_runs(struct launch *launch, struct seen *seen, const char *text,
                         struct error *err)
{
    uint32_t local = 0, set = 0, count = 0, index = 0;
    for (const char *at = text; *at;) {
        if (read_run(&at, seen, seen->most - local, &set, &count, err) < 0 ||
            (set && read_set(seen, set, &index, err) < 0))
            return -1;
        for (; count; count--)
            launch->tasks[local++].gpus = set ? index : LAYOUT_NO_GPUS;
    }
    return local == seen->most ? 0
                               : error_set(err, "launch: GPUs of %u of %u tasks of node %u", local,
                                           seen->most, launch->node);
}

static void seen_start(struct seen *seen, const json_t *texts, uint32_t most)
{
    seen->texts = texts;
    seen->most = most;
    seen->sets = mem_array(most, sizeof(*seen->sets));
    seen->numbers = mem_array(most, sizeof(*seen->numbers));
}

static int read_gpus(struct launch *launch, const json_t *kind, struct error *err)
{
    struct seen seen = {.what = "GPU set", .where = "GPUs"};
    const char *text = json_string_value(json_object_get(kind, "gpus"));
    if (!text)
        return json_object_get(kind, "gpus") ? error_set(err, "launch: gpus is not a text") : 0;
    seen_start(&seen, json_object_get(kind, "gpu_sets"), launch->nlocal);
    int result = read_gpu_runs(launch, &seen, text, err);
    launch->gpus_assigned = true;
    launch->gpus = seen.sets;
    launch->ngpus = seen.count;
    free(seen.numbers);
    return result;
}

static int read_tasks(struct launch *launch, const json_t *kind, struct error *err)
{
    const char *text = json_string_value(json_object_get(kind, "tasks"));
    struct idset *ranks = taskmap_ranks(launch->map, launch->node);
    struct seen seen = {.what = "binding", .where = "cpus"};
    seen_start(&seen, json_object_get(kind, "cpus"), (uint32_t)idset_count(ranks));
    launch->tasks = mem_array(seen.most, sizeof(*launch->tasks));
    int result = read_bindings(launch, &seen, text ? text : "", ranks, err);
    launch->cpus = seen.sets;
    launch->ncpus = seen.count;
    free(seen.numbers);
    idset_free(ranks);
    return result == 0 ? read_gpus(launch, kind, err) : -1;
}

/* The kind that this node is of. */
static const json_t *launch_read_find_kind(const struct launch *launch, const json_t *kinds,
                                           struct error *err)
{
    size_t i;
    json_t *kind;
    json_array_foreach(kinds, i, kind)
    {
        const char *text = json_string_value(json_object_get(kind, "nodes"));
        struct idset *nodes = text ? idset_decode(text, err) : NULL;
        if (!nodes) {
            error_set(err, "launch: the nodes of kind %zu are malformed", i);
            return NULL;
        }
        bool mine = idset_has(nodes, launch->node);
        idset_free(nodes);
        if (mine)
            return kind;
    }
    error_set(err, "launch: no layout for node %u", launch->node);
    return NULL;
}

/* Of the kind that this node is of, and the sizes of parts. */
static int read_part(struct launch *launch, const json_t *kinds, const json_t *sizes,
                     struct error *err)
{
    if (!json_is_array(kinds))
        return error_set(err, "launch: kinds is not an array");
    if (launch->node == UINT32_MAX)
        return read_apps(launch, sizes, err);
    const json_t *kind = launch_read_find_kind(launch, kinds, err);
    const json_t *claim = json_object_get(kind, "claim"); /* NULL: the program claims nothing */
    const char *text = json_string_value(claim);
    if (!kind)
        return -1;
    launch->claim = text ? idset_decode(text, err) : NULL;
    if (claim && !launch->claim)
        return error_set(err, "launch: the claim of a kind is malformed");
    return read_tasks(launch, kind, err) < 0 ? -1 : read_apps(launch, sizes, err);
}

/* ---- a group that is added to a running program ---- */

static int read_group(struct launch *launch, const json_t *value, struct error *err)
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

/* ---- all ---- */

static int launch_read_all(struct launch *launch, const json_t *value, uint32_t tree_node,
                           struct error *err)
{
    json_t *spec, *map, *sizes, *tree_nodes, *kinds;
    const char *program, *instance, *hosts;
    json_error_t where;
    if (json_unpack_ex((json_t *)(uintptr_t)value, &where, 0,
                       "{s:o, s:s, s:s, s:o, s:o, s:o, s:s, s:o}", "spec", &spec, "program",
                       &program, "instance", &instance, "taskmap", &map, "sizes", &sizes,
                       "tree_nodes", &tree_nodes, "hosts", &hosts, "kinds", &kinds) < 0)
        return error_set(err, "launch: %s", where.text);
    launch->program = mem_copy_text(program);
    launch->instance = mem_copy_text(instance);
    launch->instance_id = mem_copy_text(json_string_value(json_object_get(value, "instance_id")));
    launch->resources = mem_copy_text(json_string_value(json_object_get(value, "resources")));
    launch->enclosing = mem_copy_text(json_string_value(json_object_get(value, "enclosing")));
    launch->spec = spec_from_json(spec, err);
    launch->map = launch->spec ? taskmap_from_json(map, err) : NULL;
    if (launch->map && launch->map->ntasks > PROGRAM_MAX_TASKS)
        return error_set(err, "launch: %llu tasks are more than %u",
                         (unsigned long long)launch->map->ntasks, PROGRAM_MAX_TASKS);
    if (!launch->map || read_nodes(launch, tree_nodes, hosts, tree_node, err) < 0)
        return -1;
    launch->ntasks = (uint32_t)launch->map->ntasks;
    if (read_group(launch, value, err) < 0)
        return -1;
    launch->input_ranks = launch_input_ranks(launch->spec);
    return read_part(launch, kinds, sizes, err);
}

struct launch *launch_from_json(const json_t *value, uint32_t tree_node, struct error *err)
{
    struct launch *launch = mem_alloc(sizeof(*launch));
    launch->node = UINT32_MAX;
    if (launch_read_all(launch, value, tree_node, err) == 0)
        return launch;
    launch_free(launch);
    return NULL;
}

void launch_free(struct launch *launch)
{
    if (!launch)
        return;
    pairs_free(launch->preput, launch->npreput);
    spec_free(launch->spec);
    taskmap_free(launch->map);
    for (uint32_t i = 0; i < launch->ncpus; i++)
        idset_free(launch->cpus[i]);
    for (uint32_t i = 0; i < launch->ngpus; i++)
        idset_free(launch->gpus[i]);
    free(launch->gpus);
    for (uint32_t i = 0; launch->hosts && i < launch->nnodes; i++)
        free(launch->hosts[i]);
    free(launch->hosts);
    idset_free(launch->input_ranks);
    idset_free(launch->claim);
    free(launch->sizes);
    free(launch->tree_node);
    free(launch->cpus);
    free(launch->tasks);
    free(launch->program);
    free(launch->instance);
    free(launch->instance_id);
    free(launch->resources);
    free(launch->enclosing);
    free(launch);
}
