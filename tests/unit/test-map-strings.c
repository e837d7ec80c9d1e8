/* Every one of the 9! full-form map strings gives a valid layout, and the one that LAMA says, read
 * plainly. A sample of them; all with ALL_STRINGS=1. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/layout-check.h"
#include "tests/unit/random-world.h"

#define STRINGS 362880u
#define SAMPLE 2000u
#define MAX_NODES 3

struct machine {
    const char *nodes[MAX_NODES]; /* hwloc's synthetic description, "@" and the cores allocated */
};

struct world {
    struct topo *topos[MAX_NODES];
    struct idset *cores[MAX_NODES];
    struct layout_node nodes[MAX_NODES];
    uint32_t nnodes, ncores, nthreads;
};

static void world_add(struct world *world, const char *text)
{
    static const char *const hosts[MAX_NODES] = {"node0", "node1", "node2"};
    struct error err = ERROR_INIT;
    char description[128];
    const char *at = strchr(text, '@');
    uint32_t i = world->nnodes++;
    size_t len = at ? (size_t)(at - text) : strlen(text);
    memcpy(description, text, len);
    description[len] = '\0';
    struct topo *topo = world->topos[i] = topo_load_synthetic(description, &err);
    if (!topo)
        fail_msg("%s", error_text(&err));
    world->cores[i] = at ? idset_decode(at + 1, NULL) : topo_cores(topo);
    world->nodes[i] =
        (struct layout_node){.host = hosts[i], .topo = topo, .cores = world->cores[i]};
    struct idset *cpus = topo_cpus_of_cores(topo, world->cores[i]);
    world->ncores += (uint32_t)idset_count(world->cores[i]);
    world->nthreads += (uint32_t)idset_count(cpus);
    idset_free(cpus);
}

static void world_free(struct world *world)
{
    for (uint32_t i = 0; i < world->nnodes; i++) {
        topo_free(world->topos[i]);
        idset_free(world->cores[i]);
    }
}

/* The index-th of the strings, in the order of their letters. */
static void map_string(uint32_t index, char *map)
{
    const char *left[] = {"n", "b", "N", "s", "L3", "L2", "L1", "c", "h"};
    uint32_t block = STRINGS;
    map[0] = '\0';
    for (uint32_t count = 9; count > 0; count--) {
        block /= count;
        uint32_t take = index / block;
        index %= block;
        strcat(map, left[take]);
        memmove(left + take, left + take + 1, (count - 1 - take) * sizeof(*left));
    }
}

/* What is asked for beside the string: all that fits of each width, limits, and too much. */
static struct layout_part choose_part(const struct world *world, uint32_t index, const char *map)
{
    switch (index % 5) {
    case 0:
        return (struct layout_part){.ntasks = world->nthreads, .map = map, .bind = "1h"};
    case 1:
        return (struct layout_part){.ntasks = world->ncores, .map = map, .bind = "1c"};
    case 2:
        return (struct layout_part){.ntasks = 5, .map = map, .mppr = "2:s,3:n", .order = "s"};
    case 3:
        return (struct layout_part){.ntasks = 4, .map = map, .bind = "2c", .mppr = "none"};
    default:
        return (struct layout_part){
            .ntasks = world->ncores + 3, .map = map, .bind = "1L2", .oversubscribe = true};
    }
}

static void check_string(const struct world *world, uint32_t index)
{
    struct error err = ERROR_INIT;
    char map[16];
    map_string(index, map);
    struct layout_part part = choose_part(world, index, map);
    struct layout_request request = {
        .nodes = world->nodes, .nnodes = world->nnodes, .parts = &part, .nparts = 1};
    struct layout *layout = layout_make(&request, &err);
    if (!layout || layout_check(layout, &request, &err) < 0 ||
        layout_compare(layout, &request, &err) < 0)
        fail_msg("-n %u --map-by %s: %s", part.ntasks, map, error_text(&err));
    layout_free(layout);
}

static void check_strings(const struct machine *machine)
{
    bool all = getenv("ALL_STRINGS") && *getenv("ALL_STRINGS");
    struct world world = {.nnodes = 0};
    uint64_t seed = 362880;
    for (uint32_t i = 0; i < MAX_NODES && machine->nodes[i]; i++)
        world_add(&world, machine->nodes[i]);
    for (uint32_t i = 0; i < (all ? STRINGS : SAMPLE); i++)
        check_string(&world, all ? i : random_below(&seed, STRINGS));
    world_free(&world);
}

static void test_every_string_holds_on_two_regular_nodes(void **state)
{
    static const struct machine machine = {{"package:2 numa:2 l3:1 l2:2 l1:1 core:1 pu:2",
                                            "package:2 numa:2 l3:1 l2:2 l1:1 core:1 pu:2"}};
    (void)state;
    check_strings(&machine);
}

static void test_every_string_holds_on_unlike_nodes_with_holes(void **state)
{
    static const struct machine machine = {{"package:2 l3:2 numa:1 l2:2 core:2 pu:2@0,2-6,9-12,15",
                                            "numa:2 package:1 l2:2 core:2 pu:1@1-3,5",
                                            "package:3 core:1 pu:4"}};
    (void)state;
    check_strings(&machine);
}

static void test_every_string_holds_where_levels_are_missing(void **state)
{
    static const struct machine machine = {
        {"core:6 pu:1", "package:2 core:2 pu:2", "l2:3 core:2 pu:1"}};
    (void)state;
    check_strings(&machine);
}

/* The strings are 9! different ones, each letter once. */
static void test_map_strings_are_all_there(void **state)
{
    char first[16], last[16], before[16], map[16];
    (void)state;
    map_string(0, first);
    map_string(STRINGS - 1, last);
    assert_string_equal(first, "nbNsL3L2L1ch");
    assert_string_equal(last, "hcL1L2L3sNbn");
    map_string(0, before);
    for (uint32_t i = 1; i < 1000; i++) {
        map_string(i, map);
        assert_int_equal(strlen(map), 12);
        assert_string_not_equal(map, before);
        strcpy(before, map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_strings_are_all_there),
        cmocka_unit_test(test_every_string_holds_on_two_regular_nodes),
        cmocka_unit_test(test_every_string_holds_on_unlike_nodes_with_holes),
        cmocka_unit_test(test_every_string_holds_where_levels_are_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
