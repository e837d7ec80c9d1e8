#include <stdlib.h>
#include <string.h>

#include "affinity/layout/layout.h"
#include "base/buf.h"
#include "base/mem.h"
#include "launcher/protocol/instance_request.h"
#include "launcher/protocol/launch.h"
#include "launcher/spec/spec_build.h"
#include "tests/unit/unit.h"

#define MAX_NODES 2000

/* Nodes of one request: `count` of each machine, one after the other. */
struct machine {
    uint32_t count;
    const char *description;
    const char *cores; /* NULL: all */
    const char *gpus;  /* NULL: none */
};

struct world {
    struct topo *topos[8];
    struct idset *cores[8], *gpus[8];
    size_t nmachines;
    struct layout_node *nodes;
    char **names; /* of the request's nodes */
    uint32_t nnodes;
    struct layout_request request;
    struct layout *layout;
    struct spec *spec;
    uint32_t *tree_node;
    const char **hosts; /* by node id */
    struct launch_source source;
};

static void add_machine(struct world *world, const struct machine *machine)
{
    struct error err = ERROR_INIT;
    size_t m = world->nmachines++;
    struct topo *topo = topo_load_synthetic(machine->description, &err);
    if (!topo)
        fail_msg("%s", error_text(&err));
    world->topos[m] = topo;
    world->cores[m] = machine->cores ? idset_decode(machine->cores, NULL) : topo_cores(topo);
    world->gpus[m] = machine->gpus ? idset_decode(machine->gpus, NULL) : NULL;
    for (uint32_t i = 0; i < machine->count; i++) {
        uint32_t n = world->nnodes++;
        world->names[n] = mem_format("node%u", n);
        world->nodes[n] = (struct layout_node){.host = world->names[n],
                                               .target = n,
                                               .topo = topo,
                                               .cores = world->cores[m],
                                               .gpus = world->gpus[m]};
    }
}

/* Tree numbers are not node ids: they go backwards from 7000. */
static void add_source(struct world *world)
{
    uint32_t nnodes = world->layout->nnodes;
    world->tree_node = mem_array(nnodes, sizeof(*world->tree_node));
    world->hosts = mem_array(nnodes, sizeof(*world->hosts));
    for (uint32_t i = 0; i < nnodes; i++) {
        world->tree_node[i] = 7000 - i;
        world->hosts[i] = world->names[world->layout->nodes[i].source];
    }
    world->source = (struct launch_source){.spec = world->spec,
                                           .layout = world->layout,
                                           .program = "f00",
                                           .instance = "/run/it's \"here\"",
                                           .tree_node = world->tree_node,
                                           .hosts = world->hosts};
}

static void world_make(struct world *world, const struct machine *machines,
                       const struct layout_part *parts, uint32_t nparts)
{
    struct error err = ERROR_INIT;
    *world = (struct world){.nodes = mem_array(MAX_NODES, sizeof(struct layout_node)),
                            .names = mem_array(MAX_NODES, sizeof(char *)),
                            .spec = spec_new()};
    for (size_t i = 0; machines[i].count; i++)
        add_machine(world, &machines[i]);
    world->request = (struct layout_request){
        .nodes = world->nodes, .nnodes = world->nnodes, .parts = parts, .nparts = nparts};
    world->layout = layout_make(&world->request, &err);
    if (!world->layout)
        fail_msg("%s", error_text(&err));
    for (uint32_t i = 0; i < nparts; i++) {
        struct spec_part *part = spec_add_part(world->spec);
        part->argv = mem_array(2, sizeof(char *));
        part->argv[0] = mem_format("/bin/part%u", i);
        part->ntasks = parts[i].ntasks;
    }
    add_source(world);
}

static void world_free(struct world *world)
{
    layout_free(world->layout);
    spec_free(world->spec);
    for (uint32_t i = 0; i < world->nnodes; i++)
        free(world->names[i]);
    for (size_t i = 0; i < world->nmachines; i++) {
        topo_free(world->topos[i]);
        idset_free(world->cores[i]);
        idset_free(world->gpus[i]);
    }
    free(world->nodes);
    free(world->names);
    free(world->tree_node);
    free(world->hosts);
}

/* As it is on the wire. */
static json_t *travel(const struct world *world, size_t *size)
{
    json_t *value = launch_to_json(&world->source);
    assert_non_null(value);
    char *text = json_dumps(value, JSON_COMPACT);
    assert_non_null(text);
    json_decref(value);
    value = json_loads(text, 0, NULL);
    if (size)
        *size = strlen(text);
    free(text);
    assert_non_null(value);
    return value;
}

/* What the agent reads is what the layout says of its node. */
static void check_node(const struct world *world, const struct launch *launch, uint32_t node)
{
    uint32_t local = 0;
    assert_int_equal(launch->node, node);
    assert_int_equal(launch->gpus_assigned, world->layout->gpus_assigned);
    for (uint32_t rank = 0; rank < world->layout->ntasks; rank++) {
        const struct layout_task *want = &world->layout->tasks[rank];
        if (want->node != node)
            continue;
        assert_true(local < launch->nlocal);
        const struct launch_task *got = &launch->tasks[local++];
        assert_int_equal(got->rank, rank);
        assert_int_equal(got->local_rank, want->local_rank);
        assert_int_equal(got->app, want->app);
        assert_true(got->binding < launch->ncpus);
        if (!idset_equal(launch->cpus[got->binding], world->layout->bindings[want->binding].cpus))
            fail_msg("rank %u: other processors", rank);
        assert_int_equal(got->gpus == LAYOUT_NO_GPUS, want->gpus == LAYOUT_NO_GPUS);
        assert_true(got->gpus == LAYOUT_NO_GPUS || got->gpus < launch->ngpus);
        if (got->gpus != LAYOUT_NO_GPUS &&
            !idset_equal(launch->gpus[got->gpus], world->layout->gpu_sets[want->gpus]))
            fail_msg("rank %u: other GPUs", rank);
    }
    assert_int_equal(local, launch->nlocal);
}

/* Of an unbound program every node knows what it holds there. */
static void check_claim(const struct world *world, const struct launch *launch, uint32_t node)
{
    bool wanted = !world->layout->bound && !world->spec->overlap;
    assert_int_equal(launch->claim != NULL, wanted);
    if (wanted)
        assert_true(idset_equal(launch->claim, world->layout->nodes[node].claim));
}

static void check_whole(const struct world *world, const struct launch *launch)
{
    assert_string_equal(launch->program, world->source.program);
    assert_string_equal(launch->instance, world->source.instance);
    assert_int_equal(launch->ntasks, world->layout->ntasks);
    assert_int_equal(launch->nnodes, world->layout->nnodes);
    assert_int_equal(launch->spec->nparts, world->spec->nparts);
    for (size_t i = 0; i < world->spec->nparts; i++)
        assert_string_equal(launch->spec->parts[i].argv[0], world->spec->parts[i].argv[0]);
    for (uint32_t i = 0; i < launch->nnodes; i++) {
        assert_int_equal(launch->tree_node[i], world->tree_node[i]);
        assert_string_equal(launch->hosts[i], world->hosts[i]);
    }
}

#define SMALL "package:2 core:2 pu:2"
#define LARGE "package:2 core:4 pu:1"

static const struct {
    const char *name;
    struct machine machines[4];
    struct layout_part parts[3];
    uint32_t nparts;
} layouts[] = {
    {"one task", {{1, SMALL, NULL}}, {{.ntasks = 1}}, 1},
    {"block", {{3, SMALL, NULL}}, {{.ntasks = 12, .map = "core", .bind = "core"}}, 1},
    {"block, the last node in part", {{3, SMALL, NULL}}, {{.ntasks = 10, .map = "core"}}, 1},
    {"cyclic", {{3, SMALL, NULL}}, {{.ntasks = 8, .map = "node", .bind = "core"}}, 1},
    {"threads", {{2, SMALL, NULL}}, {{.ntasks = 16, .map = "hwthread", .bind = "hwthread"}}, 1},
    {"two sizes of node",
     {{2, SMALL, NULL}, {2, LARGE, NULL}},
     {{.ntasks = 24, .map = "core", .bind = "core"}},
     1},
    {"the same machine with other cores",
     {{1, LARGE, "0-3"}, {1, LARGE, "4-7"}, {1, LARGE, "1,3,5"}},
     {{.ntasks = 11, .map = "core", .bind = "core"}},
     1},
    {"numa without binding", {{2, SMALL, NULL}}, {{.ntasks = 8, .map = "core", .bind = "none"}}, 1},
    {"without binding, on the same machine with other cores",
     {{1, LARGE, NULL}, {1, LARGE, "0-3"}, {1, LARGE, "4-7"}},
     {{.ntasks = 15, .map = "core:span", .bind = "none"}},
     1},
    {"more tasks than cores",
     {{2, SMALL, NULL}},
     {{.ntasks = 40, .map = "socket", .bind = "socket", .oversubscribe = true}},
     1},
    {"GPUs", {{3, LARGE, NULL, "0-3"}}, {{.ntasks = 10, .gpus_per_task = 1}}, 1},
    {"GPUs on nodes that differ",
     {{1, LARGE, NULL, "0-3"}, {1, LARGE, NULL, "4-5"}, {2, SMALL, "0-2", "0-3"}},
     {{.ntasks = 4, .gpus_per_task = 2, .map = "node"}},
     1},
    {"GPUs that are shared",
     {{2, LARGE, NULL, "0-3"}, {1, LARGE, NULL, NULL}},
     {{.ntasks = 24, .gpu_bind = "closest", .map = "core"}},
     1},
    {"a part with GPUs and one without",
     {{2, LARGE, NULL, "0-3"}},
     {{.ntasks = 3, .map = "core"}, {.ntasks = 5, .gpus_per_task = 1}},
     2},
    {"several parts that go on",
     {{3, LARGE, NULL}},
     {{.ntasks = 1}, {.ntasks = 9}, {.ntasks = 5}},
     3},
    {"several parts, each bound in its own way",
     {{3, LARGE, NULL}},
     {{.ntasks = 2, .map = "socket", .bind = "socket", .oversubscribe = true},
      {.ntasks = 7, .map = "core", .bind = "core", .oversubscribe = true},
      {.ntasks = 4, .map = "node", .bind = "none", .oversubscribe = true}},
     3},
};

static void test_every_node_reads_its_part_of_the_layout(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        struct world world;
        print_message("%s\n", layouts[i].name);
        world_make(&world, layouts[i].machines, layouts[i].parts, layouts[i].nparts);
        json_t *value = travel(&world, NULL);
        for (uint32_t node = 0; node < world.layout->nnodes; node++) {
            struct error err = ERROR_INIT;
            struct launch *launch = launch_from_json(value, world.tree_node[node], &err);
            if (!launch)
                fail_msg("node %u: %s", node, error_text(&err));
            check_whole(&world, launch);
            check_node(&world, launch, node);
            check_claim(&world, launch, node);
            launch_free(launch);
        }
        json_decref(value);
        world_free(&world);
    }
}

static void test_a_program_that_overlaps_claims_nothing(void **state)
{
    static const struct machine machines[] = {{1, SMALL, NULL}, {0}};
    static const struct layout_part part = {.ntasks = 2, .map = "core", .bind = "none"};
    struct world world;
    (void)state;
    world_make(&world, machines, &part, 1);
    for (int overlap = 0; overlap < 2; overlap++) {
        world.spec->overlap = overlap;
        json_t *value = travel(&world, NULL);
        struct launch *launch = launch_from_json(value, world.tree_node[0], NULL);
        assert_non_null(launch);
        check_claim(&world, launch, 0);
        launch_free(launch);
        json_decref(value);
    }
    world_free(&world);
}

/* As its tasks have them (task_environment.c). */
static void test_variables_of_a_launch_are_those_of_its_tasks(void **state)
{
    static const struct machine machines[] = {{1, SMALL, NULL}, {0}};
    static const struct layout_part part = {.ntasks = 2};
    struct world world;
    (void)state;
    world_make(&world, machines, &part, 1);
    world.source.instance = "/run/i";
    world.source.instance_id = "0123:4567";
    world.source.enclosing = "3,7";
    for (int given = 0; given < 2; given++) {
        world.source.resources = given ? "{\"version\":1}" : NULL;
        json_t *value = travel(&world, NULL), *known = instance_request_launch_variables(value);
        char *text = json_dumps(known, JSON_COMPACT | JSON_SORT_KEYS);
        char *want = mem_format("{\"TPRUN_ENCLOSING\":\"3,7\",%s\"TPRUN_INSTANCE\":\"/run/i\","
                                "\"TPRUN_INSTANCE_ID\":\"0123:4567\",\"TPRUN_PROGRAM\":\"f00\"}",
                                given ? "\"TPRUN_ENCLOSING_R\":\"{\\\"version\\\":1}\"," : "");
        assert_string_equal(text, want);
        free(want);
        free(text);
        json_decref(known);
        json_decref(value);
    }
    world_free(&world);
}

static void test_an_agent_that_only_relays_has_no_tasks(void **state)
{
    static const struct machine machines[] = {{2, SMALL, NULL}, {0}};
    static const struct layout_part part = {.ntasks = 8};
    struct world world;
    struct error err = ERROR_INIT;
    (void)state;
    world_make(&world, machines, &part, 1);
    json_t *value = travel(&world, NULL);
    struct launch *launch = launch_from_json(value, 1, &err);
    assert_non_null(launch);
    assert_int_equal(launch->node, UINT32_MAX);
    assert_int_equal(launch->nlocal, 0);
    assert_int_equal(launch->ncpus, 0);
    check_whole(&world, launch);
    launch_free(launch);
    json_decref(value);
    world_free(&world);
}

static void test_a_group_that_is_added_says_what_sets_it_apart(void **state)
{
    static const struct machine machines[] = {{2, SMALL, NULL}, {0}};
    static const struct layout_part part = {.ntasks = 4};
    char texts[4][16] = {"PORT", "tag#0$ = \xff", "empty", ""};
    struct pair preput[] = {{texts[0], texts[1]}, {texts[2], texts[3]}};
    struct world world;
    (void)state;
    world_make(&world, machines, &part, 1);
    world.source.group = 7;
    world.source.first_rank = 1000;
    world.source.spawned = true;
    world.source.spawner = 3;
    world.source.spawner_rank = 5;
    world.source.preput = preput;
    world.source.npreput = 2;
    json_t *value = travel(&world, NULL);
    struct launch *launch = launch_from_json(value, world.tree_node[0], NULL);
    assert_non_null(launch);
    assert_int_equal(launch->group, 7);
    assert_int_equal(launch->first_rank, 1000);
    assert_true(launch->spawned);
    assert_int_equal(launch->spawner, 3);
    assert_int_equal(launch->spawner_rank, 5);
    assert_int_equal(launch->npreput, 2);
    assert_string_equal(launch->preput[0].value, "tag#0$ = \xff");
    assert_string_equal(launch->preput[1].key, "empty");
    assert_int_equal(launch->tasks[0].rank, 0); /* in the group */
    check_node(&world, launch, 0);
    launch_free(launch);
    json_decref(value);
    world_free(&world);
}

static const struct {
    const char *key, *value, *words;
} bad_groups[] = {
    {"group", "0", "no group has the number 0"},
    {"group", "-1", "no group has the number -1"},
    {"group", "4294967295", "no group has the number 4294967295"},
    {"group", "\"7\"", "launch"},
    {"first_rank", "-1", "ranks from -1 on"},
    {"first_rank", "2147483644", "ranks from 2147483644 on"},
    {"first_rank", "9223372036854775807", "ranks from 9223372036854775807 on"},
    {"first_rank", "null", "launch"},
    {"spawner", "7", "no older group has spawned group 7"},
    {"spawner", "-1", "no older group has spawned group 7"},
    {"spawner", "\"0\"", "no older group has spawned group 7"},
    {"spawner_rank", "-1", "no task has spawned group 7"},
    {"spawner_rank", "\"0\"", "no task has spawned group 7"},
    {"preput", "{}", "launch: preput"},
    {"preput", "[[\"a\"]]", "launch: preput"},
    {"preput", "[[\"a\", 1]]", "launch: preput"},
};

static void test_a_group_that_cannot_be_is_refused(void **state)
{
    static const struct machine machines[] = {{2, SMALL, NULL}, {0}};
    static const struct layout_part part = {.ntasks = 4};
    struct world world;
    (void)state;
    world_make(&world, machines, &part, 1);
    world.source.group = 7;
    world.source.spawned = true;
    for (size_t i = 0; i < sizeof(bad_groups) / sizeof(bad_groups[0]); i++) {
        struct error err = ERROR_INIT;
        json_t *value = travel(&world, NULL);
        json_object_set_new(value, bad_groups[i].key,
                            json_loads(bad_groups[i].value, JSON_DECODE_ANY, NULL));
        if (launch_from_json(value, world.tree_node[0], &err))
            fail_msg("case %zu was taken", i);
        if (!strstr(error_text(&err), bad_groups[i].words))
            fail_msg("case %zu: %s", i, error_text(&err));
        error_clear(&err);
        json_decref(value);
    }
    world_free(&world);
}

static size_t size_of(uint32_t nodes, uint32_t per_node, const char *description, const char *map,
                      uint32_t gpus)
{
    const struct machine machines[] = {{nodes, description, NULL, "0-63"}, {0}};
    const struct layout_part part = {
        .ntasks = nodes * per_node, .map = map, .bind = "core", .gpus_per_task = gpus};
    struct world world;
    size_t size;
    world_make(&world, machines, &part, 1);
    json_t *value = travel(&world, &size);
    assert_int_equal(json_array_size(json_object_get(value, "kinds")), 1);
    struct launch *launch = launch_from_json(value, world.tree_node[nodes - 1], NULL);
    assert_non_null(launch);
    check_node(&world, launch, nodes - 1);
    launch_free(launch);
    json_decref(value);
    world_free(&world);
    return size;
}

/* What is told of a node that is like another one is its number in the tree. */
static void test_equal_nodes_are_written_once(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const char *map = i % 2 ? "node" : "core";
        size_t one = size_of(1, 64, "package:2 core:32 pu:1", map, i / 2);
        size_t many = size_of(1000, 64, "package:2 core:32 pu:1", map, i / 2);
        if (many > one + 1000 * sizeof("7000") + 200)
            fail_msg("%s: %zu bytes for one node, %zu for 1000", map, one, many);
    }
}

static void test_tasks_that_share_a_binding_cost_nothing(void **state)
{
    static const struct machine machines[] = {{1, LARGE, NULL}, {0}};
    size_t size[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct layout_part part = {
            .ntasks = i ? 100000 : 10, .map = "node", .bind = "none", .oversubscribe = true};
        struct world world;
        world_make(&world, machines, &part, 1);
        json_decref(travel(&world, &size[i]));
        world_free(&world);
    }
    assert_true(size[1] < size[0] + 64);
}

/* ---- who reads stdin ---- */

static const struct {
    enum spec_input input;
    const char *arg, *nodes, *readers; /* ranks */
} inputs[] = {
    {SPEC_INPUT_RANKS, "0", "7000", "0"},
    {SPEC_INPUT_RANKS, "5", "6999", "5"},
    {SPEC_INPUT_RANKS, "0,4-5,11", "6998-7000", "0,4-5,11"},
    {SPEC_INPUT_RANKS, "99", "", ""},
    {SPEC_INPUT_ALL, NULL, "6998-7000", "0-11"},
    {SPEC_INPUT_NONE, NULL, "", ""},
    {SPEC_INPUT_FILE, "/etc/passwd", "7000", "0"},
};

/* A rank file may have megabytes, and agents have no use for it. */
static void test_a_rank_file_does_not_travel(void **state)
{
    static const struct machine machines[] = {{1, "core:2 pu:1", NULL}, {0}};
    static const struct layout_part part = {.ntasks = 1};
    struct world world;
    size_t size, more;
    (void)state;
    world_make(&world, machines, &part, 1);
    json_decref(travel(&world, &size));
    world.spec->parts[0].rankfile = mem_copy_text("0 node0 0\n");
    world.spec->parts[0].rankfile_name = mem_copy_text("ranks");
    world.spec->parts[0].taskmap = mem_copy_text("block");
    json_decref(travel(&world, &more));
    assert_int_equal(size, more);
    world_free(&world);
}

static void test_input_goes_where_it_is_read(void **state)
{
    static const struct machine machines[] = {{3, SMALL, NULL}, {0}};
    static const struct layout_part part = {.ntasks = 12, .map = "core"};
    struct world world;
    (void)state;
    world_make(&world, machines, &part, 1);
    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        struct spec *spec = world.spec;
        spec->input = inputs[i].input;
        free(spec->input_arg);
        spec->input_arg = mem_copy_text(inputs[i].arg);
        struct idset *nodes =
            launch_input_nodes(spec, world.layout->map, world.tree_node, world.layout->nnodes);
        char *text = idset_encode(nodes);
        assert_string_equal(text, inputs[i].nodes);
        free(text);
        idset_free(nodes);
        json_t *value = travel(&world, NULL);
        struct idset *readers = idset_new();
        for (uint32_t node = 0; node < 3; node++) {
            struct launch *launch = launch_from_json(value, world.tree_node[node], NULL);
            assert_non_null(launch);
            for (uint32_t t = 0; t < launch->nlocal; t++)
                if (launch_reads_input(launch->spec, launch->input_ranks, launch->tasks[t].rank))
                    idset_add(readers, launch->tasks[t].rank);
            launch_free(launch);
        }
        text = idset_encode(readers);
        assert_string_equal(text, inputs[i].readers);
        free(text);
        idset_free(readers);
        json_decref(value);
    }
    world_free(&world);
}

/* ---- malformed ---- */

static const char *const good[][2] = {
    {"spec", "{\"version\":1,\"parts\":[{\"argv\":[\"a\"]},{\"argv\":[\"b\"]}]}"},
    {"program", "\"f1\""},
    {"instance", "\"/run/i\""},
    {"taskmap", "{\"version\":1,\"map\":[[0,2,2,1]]}"},
    {"sizes", "[1,3]"},
    {"tree_nodes", "[7,8]"},
    {"hosts", "\"a,b\""},
    {"kinds", "[{\"cpus\":{\"0\":\"0-1\",\"3\":\"2\"},\"tasks\":\"0:1,3:1\",\"nodes\":\"0-1\"}]"},
};
#define NGOOD (sizeof(good) / sizeof(good[0]))

/* The good one, with one member in other words; NULL: left out. */
static json_t *variant(const char *key, const char *text)
{
    json_t *value = json_object();
    for (size_t i = 0; i < NGOOD; i++) {
        const char *say = strcmp(good[i][0], key) == 0 ? text : good[i][1];
        if (!say)
            continue;
        json_t *member = json_loads(say, JSON_DECODE_ANY, NULL);
        if (!member)
            fail_msg("no JSON: %s", say);
        json_object_set_new(value, good[i][0], member);
    }
    return value;
}

static void test_the_launch_that_is_made_malformed_is_well_formed(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    for (uint32_t node = 0; node < 2; node++) {
        json_t *value = variant("", NULL);
        struct launch *launch = launch_from_json(value, 7 + node, &err);
        if (!launch)
            fail_msg("%s", error_text(&err));
        assert_int_equal(launch->nlocal, 2);
        assert_int_equal(launch->tasks[0].rank, 2 * node);
        assert_int_equal(launch->tasks[0].app, node);
        assert_int_equal(launch->tasks[1].app, 1);
        assert_int_equal(launch->ncpus, 2);
        assert_true(idset_has(launch->cpus[launch->tasks[1].binding], 2));
        launch_free(launch);
        json_decref(value);
    }
}

static const struct {
    const char *key, *text;
} malformed[] = {
    {"spec", NULL},
    {"spec", "{}"},
    {"spec", "7"},
    {"program", NULL},
    {"program", "7"},
    {"instance", "null"},
    {"taskmap", NULL},
    {"taskmap", "7"},
    {"taskmap", "[[0,2]]"},
    {"taskmap", "[[0,3,2,1]]"}, /* a node that there is not */
    {"taskmap", "[[0,2,3,1]]"}, /* more tasks than bindings */
    {"taskmap", "[[0,2,1,1]]"}, /* fewer */
    {"taskmap", "[[0,1,2147483647,1]]"},
    {"sizes", NULL},
    {"sizes", "{}"},
    {"sizes", "[4]"},
    {"sizes", "[1,1,2]"},
    {"sizes", "[1,1]"},
    {"sizes", "[\"1\",\"3\"]"},
    {"sizes", "[-1,5]"},
    {"sizes", "[0,0]"},
    {"tree_nodes", NULL},
    {"tree_nodes", "[7]"},
    {"tree_nodes", "[7,8,9]"},
    {"tree_nodes", "[7,\"8\"]"},
    {"tree_nodes", "[7,7]"},
    {"tree_nodes", "[7,-1]"},
    {"tree_nodes", "[7,4294967303]"}, /* 7 again, in 32 bits */
    {"hosts", NULL},
    {"hosts", "\"a\""},
    {"hosts", "\"a,b,c\""},
    {"hosts", "\"a[\""},
    {"hosts", "\"a[0-4294967294]\""},
    {"kinds", NULL},
    {"kinds", "7"},
    {"kinds", "[]"},
    {"kinds", "[7]"},
    {"kinds", "[{}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"1-0\"},"
              "{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"tasks\":\"0:2\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{},\"tasks\":\"0:2\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"x\"},\"tasks\":\"0:2\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":7},\"tasks\":\"0:2\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"x\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:1\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:3\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2x\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:1 0:1\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:-2\",\"nodes\":\"0-1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\",\"1\":\"0\",\"2\":\"0\"},\"tasks\":\"0:0,1:0,2:2\","
              "\"nodes\":\"0-1\"}]"}, /* more bindings than tasks */
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"0-1\",\"claim\":\"x\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"0-1\",\"claim\":7}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"0-1\",\"gpus\":0}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"0-1\",\"gpus\":\"\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"0-1\",\"gpus\":\"0:1\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"0-1\",\"gpus\":\"0:3\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"0-1\",\"gpus\":\"1:2\"}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"0-1\",\"gpus\":\"1:2\","
              "\"gpu_sets\":{\"1\":\"x\"}}]"},
    {"kinds", "[{\"cpus\":{\"0\":\"0\"},\"tasks\":\"0:2\",\"nodes\":\"0-1\",\"gpus\":\"1-2\","
              "\"gpu_sets\":{\"1\":\"0\"}}]"},
};

static void test_malformed_launches_are_refused(void **state)
{
    size_t bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        struct error err = ERROR_INIT;
        json_t *value = variant(malformed[i].key, malformed[i].text);
        struct launch *launch = launch_from_json(value, 7, &err);
        if (launch || !err.text) {
            print_error("%s %s: %s\n", launch ? "taken:" : "without a sentence:", malformed[i].key,
                        malformed[i].text ? malformed[i].text : "(none)");
            bad++;
        }
        launch_free(launch);
        error_clear(&err);
        json_decref(value);
    }
    assert_int_equal(bad, 0);
    assert_null(launch_from_json(json_null(), 7, NULL));
    launch_free(NULL);
}

static void a_node_is_crowded_with_more_tasks_than_processors(void **state)
{
    static const struct {
        const char *cpus[2];
        uint32_t ncpus, nlocal;
        bool crowded;
    } rows[] = {{{"0-3"}, 1, 4, false},        {{"0-3"}, 1, 5, true},
                {{"0", "1"}, 2, 2, false},     {{"0", "1"}, 2, 3, true},
                {{"0-1", "1-2"}, 2, 3, false}, {{"0-1", "1-2"}, 2, 4, true}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct idset *cpus[2] = {NULL, NULL};
        for (uint32_t k = 0; k < rows[i].ncpus; k++)
            cpus[k] = idset_decode(rows[i].cpus[k], NULL);
        struct launch launch = {.cpus = cpus, .ncpus = rows[i].ncpus, .nlocal = rows[i].nlocal};
        assert_int_equal(launch_is_crowded(&launch), rows[i].crowded);
        idset_free(cpus[0]);
        idset_free(cpus[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_node_reads_its_part_of_the_layout),
        cmocka_unit_test(test_a_program_that_overlaps_claims_nothing),
        cmocka_unit_test(test_variables_of_a_launch_are_those_of_its_tasks),
        cmocka_unit_test(test_an_agent_that_only_relays_has_no_tasks),
        cmocka_unit_test(test_a_group_that_is_added_says_what_sets_it_apart),
        cmocka_unit_test(test_a_group_that_cannot_be_is_refused),
        cmocka_unit_test(test_equal_nodes_are_written_once),
        cmocka_unit_test(test_tasks_that_share_a_binding_cost_nothing),
        cmocka_unit_test(test_a_rank_file_does_not_travel),
        cmocka_unit_test(test_input_goes_where_it_is_read),
        cmocka_unit_test(test_the_launch_that_is_made_malformed_is_well_formed),
        cmocka_unit_test(test_malformed_launches_are_refused),
        cmocka_unit_test(a_node_is_crowded_with_more_tasks_than_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
