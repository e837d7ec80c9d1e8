/* The reading side of a launch. It may come over a network: everything in it is checked. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/hostlist.h"
#include "base/mem.h"
#include "launcher/program/launch.h"

/* An integer from 0 to `max`; false otherwise. */
static bool read_number(const json_t *value, uint32_t max, uint32_t *number)
{
    json_int_t n = json_integer_value(value);
    *number = (uint32_t)n;
    return json_is_integer(value) && n >= 0 && n <= (json_int_t)max;
}

/* Decimal digits, to the first character behind them; NULL: none, or more than fit. */
static const char *read_digits(const char *at, uint32_t *number)
{
    uint64_t n = 0;
    const char *start = at;
    for (; *at >= '0' && *at <= '9' && n <= UINT32_MAX; at++)
        n = 10 * n + (uint64_t)(*at - '0');
    *number = (uint32_t)n;
    return at > start && n < UINT32_MAX ? at : NULL;
}

/* ---- nodes ---- */

static int read_hosts(struct launch *launch, const char *text, struct error *err)
{
    struct hostlist *list = hostlist_decode(text, err);
    if (!list)
        return -1;
    bool same = hostlist_count(list) == launch->nnodes;
    for (uint32_t i = 0; same && i < launch->nnodes; i++)
        launch->hosts[i] = mem_copy_text(hostlist_nth(list, i));
    hostlist_free(list);
    return same ? 0 : error_set(err, "launch: %u nodes, but not as many hosts", launch->nnodes);
}

static int read_nodes(struct launch *launch, const json_t *list, const char *hosts,
                      uint32_t tree_node, struct error *err)
{
    launch->nnodes = (uint32_t)json_array_size(list);
    if (launch->map->nnodes > launch->nnodes)
        return error_set(err, "launch: %u nodes, the task map has %u", launch->nnodes,
                         launch->map->nnodes);
    launch->tree_node = mem_array(launch->nnodes, sizeof(uint32_t));
    launch->hosts = mem_array(launch->nnodes, sizeof(char *));
    for (uint32_t i = 0; i < launch->nnodes; i++) {
        if (!read_number(json_array_get(list, i), INT32_MAX, &launch->tree_node[i]))
            return error_set(err, "launch: node %u is nowhere in the tree", i);
        if (launch->tree_node[i] != tree_node)
            continue;
        if (launch->node != UINT32_MAX)
            return error_set(err, "launch: nodes %u and %u are one in the tree", launch->node, i);
        launch->node = i;
    }
    return read_hosts(launch, hosts, err);
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
    for (uint32_t part = 0; part < launch->spec->nparts; part++) {
        if (!read_number(json_array_get(sizes, part), UINT32_MAX, &size))
            return error_set(err, "launch: the size of part %u is not a number", part);
        for (end += size; local < launch->nlocal && launch->tasks[local].rank < end; local++)
            launch->tasks[local].app = part;
    }
    return end == launch->ntasks
               ? 0
               : error_set(err, "launch: parts of %llu tasks, the task map has %u",
                           (unsigned long long)end, launch->ntasks);
}

/* What "cpus" says of a binding: index into launch->cpus, the same for one that comes again. */
struct seen {
    uint32_t *bindings; /* [launch->ncpus] */
    const json_t *cpus;
    uint32_t most;
};

static int read_binding(struct launch *launch, struct seen *seen, uint32_t binding, uint32_t *index,
                        struct error *err)
{
    char key[16];
    for (*index = 0; *index < launch->ncpus; ++*index)
        if (seen->bindings[*index] == binding)
            return 0;
    snprintf(key, sizeof(key), "%u", binding);
    const char *text = json_string_value(json_object_get(seen->cpus, key));
    if (!text || launch->ncpus == seen->most)
        return error_set(err,
                         text ? "launch: more bindings than tasks: binding %u"
                              : "launch: no cpus for binding %u",
                         binding);
    struct idset *set = idset_decode(text, err);
    if (!set)
        return error_prefix(err, "launch");
    launch->cpus = mem_resize(launch->cpus, launch->ncpus + 1, sizeof(*launch->cpus));
    launch->cpus[launch->ncpus++] = set;
    seen->bindings[*index] = binding;
    return 0;
}

/* "binding:count,...", for the ranks in order. */
static int read_runs(struct launch *launch, struct seen *seen, const char *text,
                     const struct idset *ranks, struct error *err)
{
    uint32_t rank = idset_first(ranks), binding, count, index;
    for (const char *at = text; *at;) {
        const char *colon = read_digits(at, &binding);
        const char *end = colon && *colon == ':' ? read_digits(colon + 1, &count) : NULL;
        if (!end || !count || (*end && (*end != ',' || !end[1])))
            return error_set(err, "launch: malformed tasks \"%.40s\"", at);
        if (count > seen->most - launch->nlocal)
            return error_set(err, "launch: more bindings than tasks on node %u", launch->node);
        if (read_binding(launch, seen, binding, &index, err) < 0)
            return -1;
        for (; count; count--, rank = idset_next(ranks, rank), launch->nlocal++)
            launch->tasks[launch->nlocal] = (struct launch_task){rank, launch->nlocal, 0, index};
        at = end + (*end == ',');
    }
    return launch->nlocal == seen->most
               ? 0
               : error_set(err, "launch: %u of %u tasks of node %u have a binding", launch->nlocal,
                           seen->most, launch->node);
}

static int read_tasks(struct launch *launch, const json_t *kind, struct error *err)
{
    const char *text = json_string_value(json_object_get(kind, "tasks"));
    struct idset *ranks = taskmap_ranks(launch->map, launch->node);
    struct seen seen = {.cpus = json_object_get(kind, "cpus"),
                        .most = (uint32_t)idset_count(ranks)};
    seen.bindings = mem_array(seen.most, sizeof(*seen.bindings));
    launch->tasks = mem_array(seen.most, sizeof(*launch->tasks));
    int result = read_runs(launch, &seen, text ? text : "", ranks, err);
    free(seen.bindings);
    idset_free(ranks);
    return result;
}

/* The kind that this node is of. */
static const json_t *find_kind(const struct launch *launch, const json_t *kinds, struct error *err)
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

/* Where nothing is said of it the program claims nothing. */
static int read_claim(struct launch *launch, const json_t *kind, struct error *err)
{
    const json_t *claim = json_object_get(kind, "claim");
    if (!claim)
        return 0;
    const char *text = json_string_value(claim);
    launch->claim = text ? idset_decode(text, err) : NULL;
    return launch->claim ? 0 : error_set(err, "launch: the claim of a kind is malformed");
}

static int read_part(struct launch *launch, const json_t *kinds, const json_t *sizes,
                     struct error *err)
{
    if (!json_is_array(kinds))
        return error_set(err, "launch: kinds is not an array");
    if (launch->node != UINT32_MAX) {
        const json_t *kind = find_kind(launch, kinds, err);
        if (!kind || read_claim(launch, kind, err) < 0 || read_tasks(launch, kind, err) < 0)
            return -1;
    }
    return read_apps(launch, sizes, err);
}

/* ---- all ---- */

static int read_all(struct launch *launch, const json_t *value, uint32_t tree_node,
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
    launch->enclosing = mem_copy_text(json_string_value(json_object_get(value, "enclosing")));
    launch->spec = spec_from_json(spec, err);
    launch->map = launch->spec ? taskmap_from_json(map, err) : NULL;
    if (launch->map && launch->map->ntasks > LAYOUT_MAX_TASKS)
        return error_set(err, "launch: %llu tasks are more than %u",
                         (unsigned long long)launch->map->ntasks, LAYOUT_MAX_TASKS);
    if (!launch->map || read_nodes(launch, tree_nodes, hosts, tree_node, err) < 0)
        return -1;
    launch->ntasks = (uint32_t)launch->map->ntasks;
    launch->input_ranks = launch_input_ranks(launch->spec);
    return read_part(launch, kinds, sizes, err);
}

struct launch *launch_from_json(const json_t *value, uint32_t tree_node, struct error *err)
{
    struct launch *launch = mem_alloc(sizeof(*launch));
    launch->node = UINT32_MAX;
    if (read_all(launch, value, tree_node, err) == 0)
        return launch;
    launch_free(launch);
    return NULL;
}

void launch_free(struct launch *launch)
{
    if (!launch)
        return;
    spec_free(launch->spec);
    taskmap_free(launch->map);
    for (uint32_t i = 0; i < launch->ncpus; i++)
        idset_free(launch->cpus[i]);
    for (uint32_t i = 0; launch->hosts && i < launch->nnodes; i++)
        free(launch->hosts[i]);
    free(launch->hosts);
    idset_free(launch->input_ranks);
    idset_free(launch->claim);
    free(launch->tree_node);
    free(launch->cpus);
    free(launch->tasks);
    free(launch->program);
    free(launch->instance);
    free(launch->enclosing);
    free(launch);
}
