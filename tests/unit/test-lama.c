/* The worked cases of LAMA: each line of tests/data/lama.jsonl is one. They also hold lama-plain to
 * what it is trusted for elsewhere. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/layout/layout.h"
#include "base/mem.h"
#include "tests/unit/layout-check.h"

#define MAX_NODES 16

#ifndef TEST_DATA_DIR
#define TEST_DATA_DIR "tests/data"
#endif

struct world {
    struct topo *topos[MAX_NODES];
    struct idset *cores[MAX_NODES];
    char *hosts[MAX_NODES];
    struct layout_node nodes[MAX_NODES];
    uint32_t nnodes;
};

/* Cores with a thread in the mask; the cases never allocate half a core. */
static struct idset *masked_cores(const struct topo *topo, const char *mask)
{
    struct idset *set = idset_new();
    uint64_t bits = strtoull(mask, NULL, 16);
    for (uint32_t row = 0; row < topo->npus; row++)
        if (bits >> topo->os[row] & 1)
            idset_add(set, topo_core(topo, row));
    return set;
}

static void world_add(struct world *world, const json_t *node)
{
    struct error err = ERROR_INIT;
    uint32_t i = world->nnodes++;
    const char *mask = json_string_value(json_object_get(node, "restrict"));
    const char *text = json_string_value(json_object_get(node, "synthetic"));
    assert_true(i < MAX_NODES);
    world->topos[i] = topo_load_synthetic(text, &err);
    if (!world->topos[i])
        fail_msg("%s", error_text(&err));
    world->cores[i] = mask ? masked_cores(world->topos[i], mask) : topo_cores(world->topos[i]);
    world->hosts[i] = mem_format("node%u", i);
    world->nodes[i] = (struct layout_node){
        .host = world->hosts[i], .target = i, .topo = world->topos[i], .cores = world->cores[i]};
}

static void world_free(struct world *world)
{
    for (uint32_t i = 0; i < world->nnodes; i++) {
        topo_free(world->topos[i]);
        idset_free(world->cores[i]);
        free(world->hosts[i]);
    }
}

static const char *text_of(const json_t *line, const char *key)
{
    return json_string_value(json_object_get(line, key));
}

static void check_task(const struct layout *layout, uint32_t rank, const json_t *expect,
                       uint32_t line)
{
    const struct layout_task *task = &layout->tasks[rank];
    uint32_t node = layout->nodes[task->node].source;
    char *cpus = idset_encode(layout->bindings[task->binding].cpus);
    if (json_integer_value(json_object_get(expect, "rank")) != rank ||
        json_integer_value(json_object_get(expect, "node")) != node ||
        strcmp(text_of(expect, "cpus"), cpus) != 0)
        fail_msg("line %u: rank %u is on node %u cpus %s, not on node %d cpus %s", line, rank, node,
                 cpus, (int)json_integer_value(json_object_get(expect, "node")),
                 text_of(expect, "cpus"));
    free(cpus);
}

/* What lama-plain can take. */
static bool is_small(const struct world *world)
{
    for (uint32_t i = 0; i < world->nnodes; i++)
        if (world->topos[i]->npus > 64)
            return false;
    return true;
}

static uint32_t compared;

static void check_plainly(const struct layout *layout, const struct layout_request *request,
                          uint32_t number)
{
    struct error err = ERROR_INIT;
    if (layout_compare(layout, request, &err) < 0)
        fail_msg("line %u: %s", number, error_text(&err));
    compared++;
}

static void check_line(const json_t *line, uint32_t number)
{
    struct world world = {.nnodes = 0};
    struct error err = ERROR_INIT;
    size_t i;
    json_t *node;
    json_array_foreach(json_object_get(line, "nodes"), i, node) world_add(&world, node);
    const char *bind = text_of(line, "bind"), *mppr = text_of(line, "mppr");
    struct layout_part part = {.ntasks = (uint32_t)json_integer_value(json_object_get(line, "np")),
                               .map = text_of(line, "map"),
                               .bind = bind ? bind : "none",
                               .order = text_of(line, "order"),
                               .mppr = mppr ? mppr : "none",
                               .oversubscribe =
                                   json_is_true(json_object_get(line, "oversubscribe"))};
    struct layout_request request = {
        .nodes = world.nodes, .nnodes = world.nnodes, .parts = &part, .nparts = 1};
    const json_t *expect = json_object_get(line, "expect");
    struct layout *layout = layout_make(&request, &err);
    if (json_is_string(expect)) {
        if (layout)
            fail_msg("line %u: should have been refused", number);
        assert_non_null(err.text);
    } else {
        if (!layout)
            fail_msg("line %u: refused: %s", number, error_text(&err));
        assert_int_equal(layout->ntasks, json_array_size(expect));
        for (uint32_t rank = 0; rank < layout->ntasks; rank++)
            check_task(layout, rank, json_array_get(expect, rank), number);
    }
    if ((layout || err.kind != ERROR_USAGE) && is_small(&world))
        check_plainly(layout, &request, number);
    if (getenv("LAMA_VERBOSE"))
        print_message("%u: %s\n", number, layout ? "placed" : error_text(&err));
    layout_free(layout);
    error_clear(&err);
    world_free(&world);
}

static void test_every_worked_case_comes_out_as_written(void **state)
{
    (void)state;
    const char *dir = getenv("TPRUN_TEST_DATA");
    char *path = mem_format("%s/lama.jsonl", dir ? dir : TEST_DATA_DIR);
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    uint32_t number = 0;
    if (!file)
        fail_msg("cannot open %s", path);
    while (getline(&text, &room, file) > 0) {
        json_t *line = json_loads(text, 0, NULL);
        assert_non_null(line);
        check_line(line, ++number);
        json_decref(line);
    }
    assert_int_equal(number, 216);
    assert_uint_in_range(compared, 200, number);
    fclose(file);
    free(text);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_worked_case_comes_out_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
