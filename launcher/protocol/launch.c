/* The writing side of a launch, for task_group.c, and what both sides derive from a spec. */
#include "launcher/protocol/launch.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/buf.h"
#include "base/mem.h"
#include "pmi-server/service/service.h"

/* ---- writing ---- */

/* What the local tasks of each node have, as text "number:count,...": bindings, and GPU sets, where
 * numbers are one higher and 0 is none. Nodes with equal texts are one kind. */
struct run_text {
    struct buf text;
    uint32_t number, count; /* of the run that goes on */
};

struct node_text {
    struct run_text tasks, gpus;
};

static void run_close(struct run_text *run)
{
    if (run->count)
        buf_printf(&run->text, "%s%u:%u", run->text.len ? "," : "", run->number, run->count);
    run->count = 0;
}

static void run_add(struct run_text *run, uint32_t number)
{
    if (run->count && run->number != number)
        run_close(run);
    run->number = number;
    run->count++;
}

static struct node_text *node_texts(const struct layout *layout)
{
    struct node_text *nodes = mem_array(layout->nnodes, sizeof(*nodes));
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        run_add(&nodes[task->node].tasks, task->binding);
        if (layout->gpus_assigned)
            run_add(&nodes[task->node].gpus, task->gpus + 1); /* LAYOUT_NO_GPUS becomes 0 */
    }
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        run_close(&nodes[i].tasks);
        run_close(&nodes[i].gpus);
    }
    return nodes;
}

static const struct idset *binding_set(const struct layout *layout, uint32_t number)
{
    return layout->bindings[number].cpus;
}

static const struct idset *gpu_set(const struct layout *layout, uint32_t number)
{
    return number ? layout->gpu_sets[number - 1] : NULL;
}

/* The runs, and what each number in them stands for. */
static void add_runs(json_t *kind, const char *runs_key, const char *sets_key,
                     const struct layout *layout, const char *text,
                     const struct idset *(*find)(const struct layout *layout, uint32_t number))
{
    json_t *sets = json_object();
    char key[16];
    for (const char *at = text; *at; at += strcspn(at, ",") + (strchr(at, ',') ? 1 : 0)) {
        uint32_t number = (uint32_t)strtoul(at, NULL, 10);
        const struct idset *set = find(layout, number);
        snprintf(key, sizeof(key), "%u", number);
        if (!set || json_object_get(sets, key))
            continue;
        char *members = idset_encode(set);
        json_object_set_new(sets, key, json_string(members));
        free(members);
    }
    json_object_set_new(kind, sets_key, sets);
    json_object_set_new(kind, runs_key, json_string(text));
}

static json_t *kind_new(const struct layout *layout, const struct node_text *node,
                        const char *claim)
{
    json_t *kind = json_object();
    add_runs(kind, "tasks", "cpus", layout, buf_text(&node->tasks.text), binding_set);
    if (layout->gpus_assigned)
        add_runs(kind, "gpus", "gpu_sets", layout, buf_text(&node->gpus.text), gpu_set);
    if (claim)
        json_object_set_new(kind, "claim", json_string(claim));
    return kind;
}

/* {"TASKS GPUS CLAIM": kind} while building; nodes of a kind as an idset. */
static json_t *kinds_to_json(const struct launch_source *source)
{
    const struct layout *layout = source->layout;
    struct node_text *nodes = node_texts(layout);
    json_t *by_text = json_object(), *list = json_array();
    struct idset **sets = mem_array(layout->nnodes, sizeof(*sets));
    size_t nkinds = 0;
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        /* What an unbound program holds there. */
        char *claim =
            layout->bound || source->spec->overlap ? NULL : idset_encode(layout->nodes[i].claim);
        char *key = mem_format("%s %s %s", buf_text(&nodes[i].tasks.text),
                               buf_text(&nodes[i].gpus.text), claim ? claim : "");
        json_t *index = json_object_get(by_text, key);
        if (!index) {
            json_array_append_new(list, kind_new(layout, &nodes[i], claim));
            sets[nkinds] = idset_new();
            index = json_integer((json_int_t)nkinds++);
            json_object_set_new(by_text, key, index);
        }
        idset_add(sets[json_integer_value(index)], i);
        free(key);
        free(claim);
        buf_free(&nodes[i].tasks.text);
        buf_free(&nodes[i].gpus.text);
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

uint32_t *launch_part_sizes(const struct layout *layout, size_t nparts)
{
    uint32_t *counts = mem_array(nparts, sizeof(*counts));
    for (uint32_t rank = 0; rank < layout->ntasks; rank++)
        counts[layout->tasks[rank].app]++;
    return counts;
}

/* What agents need of the spec: where tasks go is said by the bindings, and a rank file is large. */
static json_t *spec_of_launch(const struct spec *spec)
{
    static const char *const places[] = {"taskmap", "rankfile", "rankfile_name"};
    struct spec bare = spec_bare(spec);
    json_t *value = spec_to_json(&bare), *part;
    size_t i;
    json_array_foreach(json_object_get(value, "parts"), i, part)
    {
        for (size_t j = 0; j < sizeof(places) / sizeof(places[0]); j++)
            json_object_del(part, places[j]);
    }
    return value;
}

/* What is said of a group that is added to a running program. */
static void add_group(json_t *value, const struct launch_source *source)
{
    json_object_set_new(value, "group", json_integer(source->group));
    json_object_set_new(value, "first_rank", json_integer(source->first_rank));
    if (!source->spawned)
        return;
    json_object_set_new(value, "spawner", json_integer(source->spawner));
    json_object_set_new(value, "spawner_rank", json_integer(source->spawner_rank));
    json_object_set_new(value, "preput", pairs_to_json(source->preput, source->npreput));
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
    uint32_t *counts = launch_part_sizes(layout, source->spec->nparts);
    json_t *sizes = json_array();
    for (size_t i = 0; i < source->spec->nparts; i++)
        json_array_append_new(sizes, json_integer(counts[i]));
    free(counts);
    char *text = hostlist_encode(hosts);
    json_t *value = json_pack(
        "{s:o, s:s, s:s, s:o, s:o, s:o, s:s, s:o}", "spec", spec_of_launch(source->spec), "program",
        source->program, "instance", source->instance, "taskmap", taskmap_to_json(layout->map),
        "sizes", sizes, "tree_nodes", tree_nodes, "hosts", text, "kinds", kinds_to_json(source));
    if (source->instance_id)
        json_object_set_new(value, "instance_id", json_string(source->instance_id));
    if (source->resources)
        json_object_set_new(value, "resources", json_string(source->resources));
    if (source->enclosing)
        json_object_set_new(value, "enclosing", json_string(source->enclosing));
    if (source->group)
        add_group(value, source);
    free(text);
    hostlist_free(hosts);
    return value;
}

bool launch_is_crowded(const struct launch *launch)
{
    struct idset *used = idset_new();
    for (uint32_t i = 0; i < launch->ncpus; i++)
        idset_add_set(used, launch->cpus[i]);
    bool crowded = idset_count(used) < launch->nlocal;
    idset_free(used);
    return crowded;
}

char *launch_namespace(const char *instance_id, const char *program, uint32_t group)
{
    return mem_format("tprun.%s.%s.%u", instance_id ?: "0", program, group);
}

char *launch_kvsname(const char *program, uint32_t group)
{
    return mem_format("kvs_%s_%u", program, group);
}

struct namespace_app *launch_namespace_apps(const struct spec *spec, const uint32_t *sizes)
{
    struct namespace_app *apps = mem_array(spec->nparts, sizeof(*apps));
    uint32_t first = 0;
    for (size_t i = 0; i < spec->nparts; i++) {
        const struct spec_part *part = &spec->parts[i];
        apps[i] = (struct namespace_app){first, sizes[i], part->argv,
                                         part->chdir ?: spec->directory, part->pset};
        first += sizes[i];
    }
    return apps;
}

/* ---- who reads stdin ---- */

struct idset *launch_input_ranks(const struct spec *spec)
{
    if (spec->input != SPEC_INPUT_RANKS || !spec->input_arg)
        return NULL;
    return idset_decode(spec->input_arg, NULL);
}

struct idset *launch_input_nodes(const struct spec *spec, const struct taskmap *map,
                                 const uint32_t *tree_node, uint32_t nnodes)
{
    struct idset *nodes = idset_new(), *ranks = launch_input_ranks(spec);
    if (spec->input == SPEC_INPUT_ALL) {
        for (uint32_t i = 0; i < nnodes; i++)
            idset_add(nodes, tree_node[i]);
    } else if (spec->input != SPEC_INPUT_NONE && spec->input != SPEC_INPUT_TOOLS) {
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

bool launch_has_terminal(const struct launch *launch, const struct launch_task *task)
{
    return launch->spec->pty && !launch->group && task->rank == 0;
}

bool launch_reads_input(const struct spec *spec, const struct idset *ranks, uint32_t rank)
{
    switch (spec->input) {
    case SPEC_INPUT_NONE:
        return false;
    case SPEC_INPUT_ALL:
    case SPEC_INPUT_TOOLS:
        return true;
    default: /* a file is for rank 0 as a terminal would be */
        return ranks ? idset_has(ranks, rank) : rank == 0;
    }
}
