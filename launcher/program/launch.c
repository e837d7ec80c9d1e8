#include "launcher/program/launch.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/resource/hostlist.h"
#include "base/buf.h"
#include "base/mem.h"

/* ---- writing ---- */

/* The local tasks of each node as text "binding:count,..."; equal texts are one kind. */
struct run {
    uint32_t binding, count;
};

struct node_text {
    struct buf text;
    struct run last;
};

static void node_text_close(struct node_text *node)
{
    if (node->last.count)
        buf_printf(&node->text, "%s%u:%u", node->text.len ? "," : "", node->last.binding,
                   node->last.count);
    node->last.count = 0;
}

static struct node_text *node_texts(const struct layout *layout)
{
    struct node_text *nodes = mem_array(layout->nnodes, sizeof(*nodes));
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        struct node_text *node = &nodes[layout->tasks[rank].node];
        if (node->last.count && node->last.binding != layout->tasks[rank].binding)
            node_text_close(node);
        node->last.binding = layout->tasks[rank].binding;
        node->last.count++;
    }
    for (uint32_t i = 0; i < layout->nnodes; i++)
        node_text_close(&nodes[i]);
    return nodes;
}

static void add_bindings(json_t *kind, const struct layout *layout, const char *text)
{
    json_t *cpus = json_object();
    char key[16];
    for (const char *at = text; *at; at += strcspn(at, ",") + (strchr(at, ',') ? 1 : 0)) {
        unsigned long binding = strtoul(at, NULL, 10);
        char *set = idset_encode(layout->bindings[binding].cpus);
        snprintf(key, sizeof(key), "%lu", binding);
        json_object_set_new(cpus, key, json_string(set));
        free(set);
    }
    json_object_set_new(kind, "cpus", cpus);
    json_object_set_new(kind, "tasks", json_string(text));
}

/* {"TEXT": kind} while building; nodes of a kind as an idset. */
static json_t *kinds_to_json(const struct layout *layout)
{
    struct node_text *nodes = node_texts(layout);
    json_t *by_text = json_object(), *list = json_array();
    struct idset **sets = mem_array(layout->nnodes, sizeof(*sets));
    size_t nkinds = 0;
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        const char *text = buf_text(&nodes[i].text);
        json_t *index = json_object_get(by_text, text);
        if (!index) {
            json_t *kind = json_object();
            add_bindings(kind, layout, text);
            json_array_append_new(list, kind);
            sets[nkinds] = idset_new();
            index = json_integer((json_int_t)nkinds++);
            json_object_set_new(by_text, text, index);
        }
        idset_add(sets[json_integer_value(index)], i);
        buf_free(&nodes[i].text);
    }
    for (size_t i = 0; i < nkinds; i++) {
        char *text = idset_encode(sets[i]);
        json_object_set_new(json_array_get(list, i), "nodes", json_string(text));
        free(text);
        idset_free(sets[i]);
    }
    json_decref(by_text);
    free(sets);
    free(nodes);
    return list;
}

static json_t *part_sizes(const struct launch_source *source)
{
    json_t *sizes = json_array();
    size_t nparts = source->spec->nparts;
    uint32_t *counts = mem_array(nparts, sizeof(*counts));
    for (uint32_t rank = 0; rank < source->layout->ntasks; rank++)
        counts[source->layout->tasks[rank].app]++;
    for (size_t i = 0; i < nparts; i++)
        json_array_append_new(sizes, json_integer(counts[i]));
    free(counts);
    return sizes;
}

json_t *launch_to_json(const struct launch_source *source)
{
    const struct layout *layout = source->layout;
    struct hostlist *hosts = hostlist_new();
    json_t *tree_nodes = json_array();
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        hostlist_append(hosts, source->hosts[i]);
        json_array_append_new(tree_nodes, json_integer(source->tree_node[i]));
    }
    char *text = hostlist_encode(hosts);
    json_t *value = json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:b}", "spec",
                              spec_to_json(source->spec), "program", source->program, "instance",
                              source->instance, "taskmap", taskmap_to_json(layout->map), "sizes",
                              part_sizes(source), "tree_nodes", tree_nodes, "hosts", text, "kinds",
                              kinds_to_json(layout), "bound", layout->bound);
    if (source->enclosing)
        json_object_set_new(value, "enclosing", json_string(source->enclosing));
    free(text);
    hostlist_free(hosts);
    return value;
}

/* ---- who reads stdin ---- */

bool launch_reads_input(const struct spec *spec, const struct idset *ranks, uint32_t rank)
{
    switch (spec->input) {
    case SPEC_INPUT_NONE:
        return false;
    case SPEC_INPUT_ALL:
        return true;
    default: /* a file is for rank 0 as a terminal would be */
        return ranks ? idset_has(ranks, rank) : rank == 0;
    }
}

static struct idset *input_ranks(const struct spec *spec)
{
    if (spec->input != SPEC_INPUT_RANKS || !spec->input_arg)
        return NULL;
    return idset_decode(spec->input_arg, NULL);
}

struct idset *launch_input_nodes(const struct spec *spec, const struct taskmap *map,
                                 const uint32_t *tree_node, uint32_t nnodes)
{
    struct idset *nodes = idset_new(), *ranks = input_ranks(spec);
    if (spec->input == SPEC_INPUT_ALL) {
        for (uint32_t i = 0; i < nnodes; i++)
            idset_add(nodes, tree_node[i]);
    } else if (spec->input != SPEC_INPUT_NONE) {
        if (!ranks) {
            ranks = idset_new();
            idset_add(ranks, 0);
        }
        IDSET_FOREACH(rank, ranks)
        {
            uint32_t node = taskmap_node(map, rank);
            if (node < nnodes)
                idset_add(nodes, tree_node[node]);
        }
    }
    idset_free(ranks);
    return nodes;
}

/* ---- reading ---- */

static int read_nodes(struct launch *launch, const json_t *tree_nodes, const char *hosts,
                      uint32_t tree_node, struct error *err)
{
    struct hostlist *list = hostlist_decode(hosts, err);
    if (!list)
        return -1;
    launch->nnodes = (uint32_t)json_array_size(tree_nodes);
    if (hostlist_count(list) != launch->nnodes || launch->map->nnodes > launch->nnodes) {
        hostlist_free(list);
        return error_set(err, "launch: %u nodes, but hosts or task map say otherwise",
                         launch->nnodes);
    }
    launch->tree_node = mem_array(launch->nnodes, sizeof(uint32_t));
    launch->hosts = mem_array(launch->nnodes, sizeof(char *));
    for (uint32_t i = 0; i < launch->nnodes; i++) {
        launch->tree_node[i] = (uint32_t)json_integer_value(json_array_get(tree_nodes, i));
        launch->hosts[i] = mem_copy_text(hostlist_nth(list, i));
        if (launch->tree_node[i] == tree_node)
            launch->node = i;
    }
    hostlist_free(list);
    return 0;
}

/* Which part a rank belongs to: parts are contiguous. */
static int read_apps(struct launch *launch, const json_t *sizes, struct error *err)
{
    uint64_t end = 0;
    size_t part = 0;
    if (json_array_size(sizes) != launch->spec->nparts)
        return error_set(err, "launch: sizes of %zu parts, the spec has %zu",
                         json_array_size(sizes), launch->spec->nparts);
    for (uint32_t i = 0; i < launch->nlocal; i++) {
        while (launch->tasks[i].rank >= end && part < launch->spec->nparts)
            end += (uint64_t)json_integer_value(json_array_get(sizes, part++));
        if (launch->tasks[i].rank >= end)
            return error_set(err, "launch: rank %u is in no part", launch->tasks[i].rank);
        launch->tasks[i].app = (uint32_t)part - 1;
    }
    return 0;
}

static int read_cpus(struct launch *launch, const json_t *cpus, uint32_t binding, uint32_t *index,
                     struct error *err)
{
    char key[16];
    snprintf(key, sizeof(key), "%u", binding);
    const char *text = json_string_value(json_object_get(cpus, key));
    struct idset *set = text ? idset_decode(text, err) : NULL;
    if (!set)
        return text ? -1 : error_set(err, "launch: no cpus for binding %u", binding);
    launch->cpus = mem_resize(launch->cpus, launch->ncpus + 1, sizeof(*launch->cpus));
    *index = launch->ncpus;
    launch->cpus[launch->ncpus++] = set;
    return 0;
}

/* "binding:count,...": a binding that comes again shares the earlier set. */
static int read_tasks(struct launch *launch, const json_t *kind, struct error *err)
{
    const char *at = json_string_value(json_object_get(kind, "tasks"));
    struct idset *ranks = taskmap_ranks(launch->map, launch->node);
    uint32_t rank = idset_first(ranks);
    struct {
        uint32_t binding, index;
    } *seen = mem_array(idset_count(ranks), sizeof(*seen));
    int result = 0;
    launch->tasks = mem_array(idset_count(ranks), sizeof(*launch->tasks));
    while (at && *at && !result) {
        unsigned binding, count, index = 0, i;
        int len = 0;
        if (sscanf(at, "%u:%u%n", &binding, &count, &len) != 2 || !len) {
            result = error_set(err, "launch: malformed tasks \"%.40s\"", at);
            break;
        }
        for (i = 0; i < launch->ncpus && seen[i].binding != binding; i++)
            ;
        if (i < launch->ncpus)
            index = seen[i].index;
        else if (launch->ncpus >= idset_count(ranks) ||
                 read_cpus(launch, json_object_get(kind, "cpus"), binding, &index, err) < 0)
            result = -1;
        else
            seen[i].binding = binding, seen[i].index = index;
        for (; count && rank != IDSET_NONE && !result; count--, rank = idset_next(ranks, rank)) {
            uint32_t local = launch->nlocal++;
            launch->tasks[local] = (struct launch_task){rank, local, 0, index};
        }
        at += len;
        at += *at == ',';
    }
    if (!result && launch->nlocal != idset_count(ranks))
        result = error_set(err, "launch: %u of %zu tasks of node %u have a binding", launch->nlocal,
                           idset_count(ranks), launch->node);
    free(seen);
    idset_free(ranks);
    return result;
}

static int read_kind(struct launch *launch, const json_t *kinds, struct error *err)
{
    size_t i;
    json_t *kind;
    if (launch->node == UINT32_MAX)
        return 0;
    json_array_foreach(kinds, i, kind)
    {
        const char *text = json_string_value(json_object_get(kind, "nodes"));
        struct idset *nodes = text ? idset_decode(text, err) : NULL;
        bool mine = nodes && idset_has(nodes, launch->node);
        idset_free(nodes);
        if (mine)
            return read_tasks(launch, kind, err);
    }
    return error_set(err, "launch: no layout for node %u", launch->node);
}

struct launch *launch_from_json(const json_t *value, uint32_t tree_node, struct error *err)
{
    struct launch *launch = mem_alloc(sizeof(*launch));
    json_t *spec, *map, *sizes, *tree_nodes, *kinds;
    const char *program, *instance, *hosts;
    json_error_t where;
    int bound;
    launch->node = UINT32_MAX;
    if (json_unpack_ex((json_t *)(uintptr_t)value, &where, 0,
                       "{s:o, s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:b}", "spec", &spec, "program",
                       &program, "instance", &instance, "taskmap", &map, "sizes", &sizes,
                       "tree_nodes", &tree_nodes, "hosts", &hosts, "kinds", &kinds, "bound",
                       &bound) < 0) {
        error_set(err, "launch: %s", where.text);
        goto fail;
    }
    launch->bound = bound;
    launch->program = mem_copy_text(program);
    launch->instance = mem_copy_text(instance);
    launch->enclosing = mem_copy_text(json_string_value(json_object_get(value, "enclosing")));
    launch->spec = spec_from_json(spec, err);
    launch->map = launch->spec ? taskmap_from_json(map, err) : NULL;
    if (!launch->map || read_nodes(launch, tree_nodes, hosts, tree_node, err) < 0)
        goto fail;
    launch->ntasks = (uint32_t)launch->map->ntasks;
    launch->input_ranks = input_ranks(launch->spec);
    if (read_kind(launch, kinds, err) < 0 || read_apps(launch, sizes, err) < 0)
        goto fail;
    return launch;
fail:
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
    free(launch->tree_node);
    free(launch->cpus);
    free(launch->tasks);
    free(launch->program);
    free(launch->instance);
    free(launch->enclosing);
    free(launch);
}
