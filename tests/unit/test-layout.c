#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/unit/random.h"
#include "tests/unit/world.h"

struct placed_case {
    const char *machines;
    uint32_t node_count;
    struct layout_part part;
    const char *expect; /* as describe() */
    const char *claims; /* as describe_claims(), or NULL */
};

static void check_case(struct world *world, const struct placed_case *expect, size_t i)
{
    world->parts[0] = expect->part;
    world->request.node_count = expect->node_count;
    struct layout *layout = make(world);
    char *text = describe(layout), *claims = describe_claims(layout);
    if (strcmp(text, expect->expect) != 0)
        fail_msg("case %zu: %s, not %s", i, text, expect->expect);
    if (expect->claims && strcmp(claims, expect->claims) != 0)
        fail_msg("case %zu: claims %s, not %s", i, claims, expect->claims);
    free(text);
    free(claims);
    layout_free(layout);
}

static void check_placed(const struct placed_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct world world;
        world_make(&world, cases[i].machines);
        check_case(&world, &cases[i], i);
        world_free(&world);
    }
}
#define CHECK_PLACED(cases) check_placed(cases, sizeof(cases) / sizeof((cases)[0]))

static void test_default_holds_tasks_together_on_one_core_each(void **state)
{
    static const struct placed_case cases[] = {
        {SMALL, 0, {0}, "0:0-1", "0:0"},
        {SMALL, 0, {.ntasks = 3}, "0:0-5 0:0-5 0:0-5", "0:0-2"},
        {"2*" SMALL, 0, {.ntasks = 5}, "0:0-7 0:0-7 0:0-7 0:0-7 1:0-1", "0:0-3 1:0"},
        {"2*" SMALL, 0, {.ntasks = 3, .map = "node"}, "0:0-1,4-5 1:0-1 0:0-1,4-5", "0:0,2 1:0"},
        {SMALL "@1,3", 0, {.ntasks = 2}, "0:2-3,6-7 0:2-3,6-7", "0:1,3"},
        {SMALL, 0, {.ntasks = 5, .oversubscribe = true}, "0:0-7 0:0-7 0:0-7 0:0-7 0:0-7", "0:0-3"},
    };
    (void)state;
    CHECK_PLACED(cases);
}

static void test_binding_follows_the_first_loop(void **state)
{
    static const struct placed_case cases[] = {
        {SMALL, 0, {.ntasks = 2, .map = "core"}, "0:0-1 0:2-3", "0:0-1"},
        {SMALL, 0, {.ntasks = 3, .map = "hwthread"}, "0:0 0:1 0:2", "0:0-1"},
        {SMALL, 0, {.ntasks = 3, .map = "socket"}, "0:0-3 0:4-7 0:0-3", "0:0-3"},
        {SMALL, 0, {.ntasks = 2, .map = "socket", .bind = "core"}, "0:0-1 0:4-5", "0:0,2"},
        {SMALL, 0, {.ntasks = 2, .map = "socket", .bind = "1h"}, "0:0 0:4", "0:0,2"},
        {SMALL, 0, {.ntasks = 2, .bind = "2c"}, "0:0-3 0:4-7", "0:0-3"},
        {"2*" SMALL, 0, {.ntasks = 3, .map = "socket:span"}, "0:0-3 0:4-7 1:0-3", "0:0-3 1:0-1"},
    };
    (void)state;
    CHECK_PLACED(cases);
}

static void test_unbound_tasks_claim_a_core_and_see_all_that_is_allocated(void **state)
{
    static const struct placed_case cases[] = {
        {SMALL "@0-2", 0, {.ntasks = 2, .bind = "none"}, "0:0-5 0:0-5", "0:0-1"},
        {SMALL, 0, {.ntasks = 2, .map = "socket", .bind = "none"}, "0:0-7 0:0-7", "0:0,2"},
        {SMALL, 0, {.ntasks = 2, .cores_per_task = 2, .bind = "none"}, "0:0-7 0:0-7", "0:0-3"},
    };
    (void)state;
    CHECK_PLACED(cases);
    struct world world;
    world_make(&world, SMALL);
    world.parts[0].bind = "none";
    struct layout *layout = make(&world);
    assert_false(layout->bound);
    layout_free(layout);
    world_free(&world);
}

static void test_threads_that_are_not_allowed_do_not_exist(void **state)
{
    static const struct placed_case cases[] = {
        {NULL, 0, {.ntasks = 3, .map = "core"}, "0:0 0:2-3 0:4-5", "0:0-2"},
        {NULL, 0, {.ntasks = 5, .map = "hwthread"}, "0:0 0:2 0:3 0:4 0:5", "0:0-2"},
        {NULL, 0, {.ntasks = 2, .map = "socket"}, "0:0,2-3 0:4-5", "0:0-2"},
        {NULL, 0, {.ntasks = 1, .cores_per_task = 2}, "0:0,2-3", "0:0-1"},
        {NULL, 0, {.ntasks = 1, .bind = "none"}, "0:0,2-5", "0:0"},
    };
    struct world world;
    struct error err = ERROR_INIT;
    (void)state;
    world_make(&world, SMALL "@0-2");
    world.topos[0]->allowed[1] = world.topos[0]->allowed[6] = world.topos[0]->allowed[7] = false;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_case(&world, &cases[i], i);
    idset_add(world.cores[0], 3);
    assert_null(layout_make(&world.request, &err));
    assert_string_equal(error_text(&err),
                        "node0: cores 0-3 were allocated, but this machine offers "
                        "only cores 0-2 (logical numbers)");
    error_clear(&err);
    world_free(&world);
}

static void test_slots_are_cut_from_the_smallest_object_that_holds_them(void **state)
{
    static const struct placed_case cases[] = {
        {"package:2 core:5 pu:1",
         0,
         {.ntasks = 4, .cores_per_task = 2},
         "0:0-1 0:2-3 0:5-6 0:7-8",
         "0:0-3,5-8"},
        {"package:2 core:5 pu:2", 0, {.ntasks = 2, .cores_per_task = 5}, "0:0-9 0:10-19", NULL},
        {"package:2 core:5 pu:1", 0, {.ntasks = 1, .cores_per_task = 7}, "0:0-6", "0:0-6"},
        {"package:1 l3:4 core:2 pu:1", 0, {.ntasks = 2, .cores_per_task = 3}, "0:0-2 0:3-5", NULL},
        {"package:1 l3:4 core:3 pu:1",
         0,
         {.ntasks = 4, .cores_per_task = 2},
         "0:0-1 0:3-4 0:6-7 0:9-10",
         NULL},
        {"package:2 core:4 pu:1@1-7",
         0,
         {.ntasks = 3, .cores_per_task = 2},
         "0:1-2 0:4-5 0:6-7",
         NULL},
        {"package:2 core:4 pu:1@0-1,4-7", 0, {.ntasks = 1, .cores_per_task = 3}, "0:4-6", NULL},
        {"package:2 core:4 pu:1",
         0,
         {.ntasks = 4, .cores_per_task = 2, .map = "socket"},
         "0:0-1 0:4-5 0:2-3 0:6-7",
         NULL},
        {"2*package:2 core:2 pu:1",
         0,
         {.ntasks = 4, .cores_per_task = 2, .map = "node"},
         "0:0-1 1:0-1 0:2-3 1:2-3",
         NULL},
        {"package:2 core:5 pu:1",
         0,
         {.ntasks = 2, .cores_per_task = 2, .bind = "2c"},
         "0:0-3 0:5-8",
         NULL},
        {"package:2 core:3 pu:1",
         0,
         {.ntasks = 1, .cores_per_task = 2, .bind = "2c"},
         "0:0-1,3-4",
         "0:0-1,3-4"},
        {"package:2 core:3 pu:1",
         0,
         {.ntasks = 2, .cores_per_task = 2, .bind = "socket"},
         "0:0-1 0:3-4",
         NULL},
        {"package:1 core:4 pu:2",
         0,
         {.ntasks = 2, .cores_per_task = 2, .map = "scnh"},
         "0:0-3 0:4-7",
         NULL},
        {"package:1 core:2 pu:2",
         0,
         {.ntasks = 3, .cores_per_task = 1, .oversubscribe = true},
         "0:0-1 0:2-3 0:0-1",
         NULL},
    };
    (void)state;
    CHECK_PLACED(cases);
}

static void test_node_count_spreads_even_blocks(void **state)
{
    static const struct placed_case cases[] = {
        {"3*" SMALL, 2, {0}, "0:0-1 1:0-1", "0:0 1:0"},
        {"3*" SMALL, 2, {.ntasks = 4, .map = "core"}, "0:0-1 0:2-3 1:0-1 1:2-3", NULL},
        {"3*" SMALL, 3, {.ntasks = 4, .map = "core"}, "0:0-1 0:2-3 1:0-1 2:0-1", NULL},
        {"3*" SMALL, 2, {.ntasks = 3, .map = "node", .bind = "core"}, "0:0-1 1:0-1 0:4-5", NULL},
        {"2*" SMALL, 2, {.ntasks = 4, .map = "socket:span"}, "0:0-3 0:4-7 1:0-3 1:4-7", NULL},
        /* the first that fit: node0 has no room for two */
        {SMALL "@0|2*" SMALL, 2, {.ntasks = 4, .map = "core"}, "1:0-1 1:2-3 2:0-1 2:2-3", NULL},
        /* the odd one goes where there is room */
        {SMALL "@0|2*" SMALL, 2, {.ntasks = 3, .map = "core"}, "0:0-1 1:0-1 1:2-3", NULL},
        {SMALL "#1|" SMALL, 2, {.ntasks = 3, .map = "core"}, "0:0-1 1:0-1 1:2-3", NULL},
        {"2*package:1 core:1 pu:1",
         2,
         {.ntasks = 5, .map = "core", .oversubscribe = true},
         "0:0 0:0 0:0 1:0 1:0",
         NULL},
        {"2*package:1 core:1 pu:1",
         2,
         {.ntasks = 5, .map = "node", .oversubscribe = true},
         "0:0 1:0 0:0 1:0 0:0",
         NULL},
    };
    (void)state;
    CHECK_PLACED(cases);
}

static void test_all_tasks_are_as_many_as_fit(void **state)
{
    static const struct placed_case cases[] = {
        {SMALL, 0, {.fill = true}, "0:0-7 0:0-7 0:0-7 0:0-7", "0:0-3"},
        {SMALL, 0, {.fill = true, .cores_per_task = 2}, "0:0-3 0:4-7", "0:0-3"},
        {SMALL, 0, {.fill = true, .map = "socket"}, "0:0-3 0:4-7 0:0-3 0:4-7", "0:0-3"},
        {SMALL, 0, {.fill = true, .mppr = "1:s", .bind = "core"}, "0:0-1 0:4-5", "0:0,2"},
        {SMALL "@0-1", 0, {.fill = true, .oversubscribe = true}, "0:0-3 0:0-3", "0:0-1"},
        {SMALL, 0, {.fill = true, .ntasks = 1, .bind = "core"}, "0:0-1", "0:0"},
        {"2*" SMALL "@0", 0, {.fill = true, .bind = "core"}, "0:0-1 1:0-1", "0:0 1:0"},
    };
    (void)state;
    CHECK_PLACED(cases);
}

/* Slots are counted by who writes the file; he may count more than there are cores. */
static void test_all_slots_are_taken_where_cores_may_be_shared(void **state)
{
    static const struct {
        bool oversubscribe;
        const char *map;
        uint32_t limits[2], ntasks[2];
        uint32_t second, last; /* the nodes of these ranks */
    } cases[] = {
        {false, NULL, {2, 6}, {2, 4}, 0, 1},   {true, NULL, {2, 6}, {2, 6}, 0, 1},
        {true, NULL, {0, 3}, {4, 3}, 0, 1},    {true, "node", {6, 5}, {6, 5}, 1, 0},
        {false, "node", {6, 5}, {4, 4}, 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world world;
        world_make(&world, "2*" SMALL);
        for (int node = 0; node < 2; node++)
            world.nodes[node].limit = cases[i].limits[node];
        world.parts[0] = (struct layout_part){
            .fill = true, .oversubscribe = cases[i].oversubscribe, .map = cases[i].map};
        struct layout *layout = make(&world);
        for (int node = 0; node < 2; node++)
            assert_int_equal(layout->nodes[node].ntasks, cases[i].ntasks[node]);
        assert_int_equal(layout->tasks[1].node, cases[i].second);
        assert_int_equal(layout->tasks[layout->ntasks - 1].node, cases[i].last);
        layout_free(layout);
        world_free(&world);
    }
}

static void test_a_host_files_count_is_a_limit(void **state)
{
    static const struct placed_case cases[] = {
        {"2*" SMALL "#1", 0, {.ntasks = 2, .map = "core"}, "0:0-1 1:0-1", NULL},
        {"2*" SMALL "#3",
         0,
         {.ntasks = 4, .map = "core", .mppr = "none"},
         "0:0-1 0:2-3 0:4-5 1:0-1",
         NULL},
        {"2*" SMALL "#1",
         0,
         {.ntasks = 3, .map = "core", .oversubscribe = true},
         "0:0-1 1:0-1 0:2-3",
         NULL},
    };
    (void)state;
    CHECK_PLACED(cases);
}

static void test_holes_in_the_allocation_do_not_exist(void **state)
{
    static const struct placed_case cases[] = {
        {"package:2 core:4 pu:1@2,5-6",
         0,
         {.ntasks = 3, .map = "socket", .bind = "core"},
         "0:2 0:5 0:6",
         NULL},
        {"package:2 core:4 pu:1@2,5-6", 0, {.ntasks = 2, .map = "socket"}, "0:2 0:5-6", NULL},
        {"package:2 core:4 pu:1@2,5-6", 0, {.ntasks = 1, .bind = "3c"}, "0:2,5-6", NULL},
        {"package:2 core:4 pu:1@5-6", 0, {.ntasks = 2, .map = "socket"}, "0:5-6 0:5-6", NULL},
        /* a socket encloses its NUMA domain though it is the only one left; so does an L3 cache */
        {"package:2 numa:2 core:1 pu:1@0-2",
         0,
         {.ntasks = 3, .map = "sNcnh", .bind = "1c"},
         "0:0 0:2 0:1",
         NULL},
        {"package:1 l3:2 numa:2 core:1 pu:1@0-2",
         0,
         {.ntasks = 3, .map = "L3Ncnh", .bind = "1c"},
         "0:0 0:2 0:1",
         NULL},
        {"package:1 core:4 pu:1@3|package:1 core:4 pu:1@0-1",
         0,
         {.ntasks = 3, .map = "cnh"},
         "0:3 1:0 1:1",
         NULL},
    };
    (void)state;
    CHECK_PLACED(cases);
}

struct refused_case {
    const char *machines;
    uint32_t node_count;
    struct layout_part part;
    const char *says; /* the whole sentence */
    enum error_kind kind;
};

static void test_refusals_say_what_fits_and_what_would_do(void **state)
{
    static const struct refused_case cases[] = {
        {"2*package:1 core:4 pu:1",
         0,
         {.ntasks = 9},
         "asked for 9 tasks, 8 fit under the limit of 1 task for each core: 4 on each of node[0-1] "
         "(4 cores); -n 8 would run, --oversubscribe runs them all",
         ERROR_REFUSED},
        {"package:1 core:4 pu:2",
         0,
         {.ntasks = 7, .map = "core"},
         "asked for 7 tasks, 4 fit under the limit of 1 task for each core: 4 on node0 (4 cores); "
         "-n "
         "4 would run, --map-by hwthread would run them on 8 hardware threads, --oversubscribe "
         "runs "
         "them all",
         ERROR_REFUSED},
        {"package:2 core:4 pu:1|package:1 core:4 pu:1",
         0,
         {.ntasks = 9, .map = "socket", .mppr = "2:s,3:n"},
         "asked for 9 tasks, 5 fit under --mppr 2:s,3:n (2 tasks for each socket, 3 for each "
         "node): "
         "3 on node0 (2 sockets), 2 on node1 (1 socket); -n 5 would run, a higher --mppr allows "
         "more, --oversubscribe runs them all",
         ERROR_REFUSED},
        {"package:1 core:4 pu:1#2",
         0,
         {.ntasks = 3},
         "asked for 3 tasks, 2 fit under the limit of 1 task for each core: 2 on node0 (4 cores; 2 "
         "slots in the host file); -n 2 would run, more slots in the host file may allow more, "
         "--oversubscribe runs them all",
         ERROR_REFUSED},
        {"package:1 core:4 pu:1",
         0,
         {.ntasks = 3, .bind = "2c"},
         "asked for 3 tasks, 2 fit under the limit of 1 task for each core: 2 on node0 (4 cores, 2 "
         "for each task); -n 2 would run, --oversubscribe runs them all",
         ERROR_REFUSED},
        {"package:1 core:4 pu:1",
         0,
         {.ntasks = 2, .cores_per_task = 3},
         "asked for 2 tasks, 1 fits under the limit of 1 task for each slot of 3 cores: 1 on node0 "
         "(1 slot of 3 cores, out of 4 cores); -n 1 would run, a smaller -c may, --oversubscribe "
         "runs them all",
         ERROR_REFUSED},
        {"2*package:1 core:4 pu:1",
         0,
         {.cores_per_task = 5},
         "-c 5: no node has so many cores; the largest, node0, has 4 allocated",
         ERROR_REFUSED},
        {"2*package:1 core:4 pu:1",
         0,
         {.bind = "2s", .oversubscribe = true},
         "--bind-to 2s: no node has so many; the largest, node0, has 1 socket allocated",
         ERROR_REFUSED},
        {"package:1 core:4 pu:1@9",
         0,
         {0},
         "node0: cores 9 were allocated, but this machine offers only cores 0-3 (logical numbers)",
         ERROR_REFUSED},
        {"package:1 core:4 pu:1@", 0, {0}, "no core is allocated on any node", ERROR_REFUSED},
        {"package:1 core:4 pu:1",
         0,
         {.map = "l3cache"},
         "--map-by l3cache: no allocated node has that level; node, numa, socket, core, hwthread "
         "would do",
         ERROR_REFUSED},
        {"package:1 l3:2 core:2 pu:2",
         0,
         {.map = "hwthread", .cores_per_task = 2},
         "--map-by hwthread: that is smaller than a task's slot of -c 2 cores; node, numa, socket, "
         "l3cache, core would do",
         ERROR_REFUSED},
        {"package:1 l3:2 core:2 pu:2",
         0,
         {.bind = "l3cache", .cores_per_task = 4},
         "--bind-to l3cache: that is smaller than a task's slot of -c 4 cores; node, numa, socket, "
         "core would do",
         ERROR_REFUSED},
        {"2*package:1 core:4 pu:1",
         3,
         {.ntasks = 3},
         "-N 3: there are only 2 nodes to choose from",
         ERROR_REFUSED},
        {"2*package:1 core:4 pu:1",
         2,
         {.ntasks = 1},
         "-N 2: 1 task cannot occupy 2 nodes, every node gets at least one; ask for -n 2 or more, "
         "or fewer nodes",
         ERROR_USAGE},
        {"package:1 core:1 pu:1|2*package:1 core:4 pu:1",
         3,
         {.ntasks = 6},
         "-N 3: 6 tasks make 2 on a node, and only 2 of 3 nodes have room for so many under the "
         "limit of 1 task for each core: 1 on node0 (1 core), 2 on each of node[1-2] (4 cores); "
         "without -N they would fit, -n 3 would run, --oversubscribe runs them all",
         ERROR_REFUSED},
        {"2*package:1 core:4 pu:1",
         2,
         {.ntasks = 9},
         "-N 2: 9 tasks make 5 on a node, and no node has room for so many under the limit of 1 "
         "task for each core: 4 on each of node[0-1] (4 cores); -n 8 would run, --oversubscribe "
         "runs them all",
         ERROR_REFUSED},
        {"package:2 core:4 pu:1|package:1 core:2 pu:1",
         0,
         {.ntasks = 4, .cores_per_task = 3},
         "asked for 4 tasks, 2 fit under the limit of 1 task for each slot of 3 cores: 2 on node0 "
         "(2 slots of 3 cores, out of 8 cores), none on node1 (0 slots of 3 cores, out of 2 "
         "cores); -n 2 would run, a smaller -c may, --oversubscribe runs them all",
         ERROR_REFUSED},
        {"package:2 core:4 pu:1|package:1 core:2 pu:1",
         0,
         {.ntasks = 9, .bind = "2s"},
         "asked for 9 tasks, 4 fit under the limit of 1 task for each core: 4 on node0 (8 cores; a "
         "task needs 2 sockets from its place on), none on node1 (2 cores; a task needs 2 sockets "
         "from its place on); -n 4 would run, --oversubscribe runs them all",
         ERROR_REFUSED},
        {"core:8 pu:1|core:6 pu:1|core:4 pu:1|core:3 pu:1|core:2 pu:1|core:1 pu:1",
         0,
         {.ntasks = 99},
         "asked for 99 tasks, 24 fit under the limit of 1 task for each core: 8 on node0 (8 "
         "cores), 6 on node1 (6 cores), 4 on node2 (4 cores), 3 on node3 (3 cores), and 3 on 2 "
         "more nodes; -n 24 would run, --oversubscribe runs them all",
         ERROR_REFUSED},
        {"package:1 core:4 pu:1#2",
         0,
         {.ntasks = 3, .mppr = "none"},
         "asked for 3 tasks, 2 fit: 2 on node0 (2 slots in the host file); -n 2 would run, more "
         "slots in the host file may allow more, --oversubscribe runs them all",
         ERROR_REFUSED},
        {"package:1 core:4 pu:1",
         0,
         {.ntasks = 4194305},
         "4194305 tasks are more than the 4194304 that one program may have",
         ERROR_USAGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world world;
        struct error err = ERROR_INIT;
        world_make(&world, cases[i].machines);
        world.parts[0] = cases[i].part;
        world.request.node_count = cases[i].node_count;
        if (layout_make(&world.request, &err))
            fail_msg("case %zu was placed", i);
        assert_string_equal(error_text(&err), cases[i].says);
        assert_int_equal(err.kind, cases[i].kind);
        error_clear(&err);
        world_free(&world);
    }
}

static void test_no_nodes_are_refused(void **state)
{
    struct layout_part part = {.ntasks = 1};
    struct layout_request request = {.parts = &part, .nparts = 1};
    struct error err = ERROR_INIT;
    (void)state;
    assert_null(layout_make(&request, &err));
    assert_string_equal(error_text(&err), "no node is left to run on");
    error_clear(&err);
}

struct parts_case {
    const char *machines;
    uint32_t node_count, nparts;
    struct layout_part parts[3];
    const char *expect;
    const char *claims;
};

static void check_parts(const struct parts_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct world world;
        world_make(&world, cases[i].machines);
        memcpy(world.parts, cases[i].parts, sizeof(cases[i].parts));
        world.request.nparts = cases[i].nparts;
        world.request.node_count = cases[i].node_count;
        struct layout *layout = make(&world);
        char *text = describe(layout), *claims = describe_claims(layout);
        if (strcmp(text, cases[i].expect) != 0)
            fail_msg("case %zu: %s, not %s", i, text, cases[i].expect);
        if (cases[i].claims && strcmp(claims, cases[i].claims) != 0)
            fail_msg("case %zu: claims %s, not %s", i, claims, cases[i].claims);
        uint32_t rank = 0;
        for (uint32_t part = 0; part < cases[i].nparts; part++)
            for (uint32_t j = 0; j < cases[i].parts[part].ntasks; j++)
                assert_int_equal(layout->tasks[rank++].app, part);
        free(text);
        free(claims);
        layout_free(layout);
        world_free(&world);
    }
}

static void test_parts_go_on_or_start_over(void **state)
{
    static const struct parts_case cases[] = {
        /* no options: as one program */
        {"2*" SMALL,
         0,
         2,
         {{.ntasks = 3, .map = "core"}, {.ntasks = 2}},
         "0:0-1 0:2-3 0:4-5 0:6-7 1:0-1",
         "0:0-3 1:0"},
        {"2*" SMALL,
         0,
         2,
         {{.ntasks = 1, .map = "node", .bind = "core"}, {.ntasks = 2}},
         "0:0-1 1:0-1 0:4-5",
         NULL},
        {SMALL, 0, 2, {{.ntasks = 1}, {.ntasks = 2}}, "0:0-5 0:0-5 0:0-5", "0:0-2"},
        {SMALL,
         0,
         2,
         {{.ntasks = 3, .map = "core", .oversubscribe = true},
          {.ntasks = 2, .oversubscribe = true}},
         "0:0-1 0:2-3 0:4-5 0:6-7 0:0-1",
         NULL},
        /* options of its own: a new pass, with the occupied occupied */
        {SMALL,
         0,
         2,
         {{.ntasks = 1, .map = "core"}, {.ntasks = 2, .map = "socket", .bind = "core"}},
         "0:0-1 0:4-5 0:2-3",
         "0:0-2"},
        {SMALL,
         0,
         2,
         {{.ntasks = 1, .map = "core"}, {.ntasks = 2, .map = "hwthread"}},
         "0:0-1 0:2 0:3",
         NULL},
        {SMALL,
         0,
         2,
         {{.ntasks = 1, .map = "hwthread"}, {.ntasks = 2, .map = "core"}},
         "0:0 0:2-3 0:4-5",
         NULL},
        {"package:1 core:6 pu:1",
         0,
         2,
         {{.ntasks = 1, .map = "core"}, {.ntasks = 2, .cores_per_task = 2}},
         "0:0 0:2-3 0:4-5",
         NULL},
        {"package:1 core:6 pu:1",
         0,
         3,
         {{.ntasks = 2, .cores_per_task = 2}, {.ntasks = 1, .map = "core"}, {.ntasks = 1}},
         "0:0-1 0:2-3 0:4 0:5",
         "0:0-5"},
        {SMALL,
         0,
         2,
         {{.ntasks = 1, .map = "socket"}, {.ntasks = 2, .map = "socket"}},
         "0:0-3 0:4-7 0:0-3",
         NULL},
        {SMALL,
         0,
         2,
         {{.ntasks = 4, .map = "core"}, {.ntasks = 2, .map = "core", .oversubscribe = true}},
         "0:0-1 0:2-3 0:4-5 0:6-7 0:0-1 0:2-3",
         NULL},
        {SMALL,
         0,
         2,
         {{.ntasks = 1, .map = "core"}, {.ntasks = 1, .bind = "none"}},
         "0:0-1 0:0-7",
         "0:0-1"},
        {"2*" SMALL,
         2,
         2,
         {{.ntasks = 3, .map = "core"}, {.ntasks = 3, .map = "hwthread"}},
         "0:0-1 0:2-3 1:0-1 0:4 1:2 1:3",
         NULL},
        {"2*" SMALL,
         2,
         2,
         {{.ntasks = 1, .map = "core"}, {.ntasks = 3}},
         "0:0-1 0:2-3 1:0-1 1:2-3",
         NULL},
    };
    (void)state;
    check_parts(cases, sizeof(cases) / sizeof(cases[0]));
}

static void test_a_part_may_be_kept_to_some_nodes(void **state)
{
    struct idset *last = idset_decode("2", NULL), *two = idset_decode("0,2", NULL);
    const struct parts_case cases[] = {
        {"3*" SMALL,
         0,
         2,
         {{.ntasks = 1, .map = "core", .only = last},
          {.ntasks = 3, .map = "node", .bind = "core", .only = two}},
         "2:0-1 0:0-1 0:4-5 2:4-5",
         NULL},
        /* one that is kept does not go on behind the one before */
        {"3*" SMALL,
         0,
         3,
         {{.ntasks = 3, .map = "core"},
          {.ntasks = 1, .map = "core", .only = last},
          {.ntasks = 2, .map = "core"}},
         "0:0-1 0:2-3 0:4-5 2:0-1 0:6-7 1:0-1",
         NULL},
        {"3*" SMALL,
         0,
         1,
         {{.ntasks = 5, .map = "core", .only = last, .oversubscribe = true}},
         "2:0-1 2:2-3 2:4-5 2:6-7 2:0-1",
         NULL},
    };
    struct error err = ERROR_INIT;
    struct world world;
    (void)state;
    check_parts(cases, sizeof(cases) / sizeof(cases[0]));
    world_make(&world, "3*" SMALL);
    world.parts[0] = (struct layout_part){.ntasks = 5, .only = last};
    assert_null(layout_make(&world.request, &err));
    assert_non_null(strstr(error_text(&err), "4"));
    error_clear(&err);
    world_free(&world);
    idset_free(last);
    idset_free(two);
}

static void test_a_later_part_that_does_not_fit_is_named(void **state)
{
    struct error err = ERROR_INIT;
    struct world world;
    (void)state;
    world_make(&world, SMALL);
    world.parts[0] = (struct layout_part){.ntasks = 3, .map = "core"};
    world.parts[1] = (struct layout_part){.ntasks = 2, .map = "core"};
    world.request.nparts = 2;
    assert_null(layout_make(&world.request, &err));
    assert_string_equal(
        error_text(&err),
        "part 2 of the command line: asked for 2 tasks, 1 fits under the limit of 1 "
        "task for each core beside the parts before: 1 on node0 (4 cores); -n 1 "
        "for this part would run, --oversubscribe runs them all");
    error_clear(&err);
    world_free(&world);
}

static void test_unused_nodes_have_no_id(void **state)
{
    struct world world;
    (void)state;
    world_make(&world, SMALL "@|" SMALL "|" SMALL "@|" SMALL);
    world.parts[0] = (struct layout_part){.ntasks = 5, .map = "core"};
    struct layout *layout = make(&world);
    assert_int_equal(layout->nnodes, 2);
    assert_int_equal(layout->nodes[0].source, 1);
    assert_int_equal(layout->nodes[1].source, 3);
    assert_int_equal(layout->nodes[0].ntasks, 4);
    assert_int_equal(layout->tasks[4].node, 1);
    assert_int_equal(layout->tasks[4].local_rank, 0);
    assert_int_equal(layout->tasks[3].local_rank, 3);
    assert_int_equal(layout->tasks[3].place, 6);
    layout_free(layout);
    world_free(&world);
}

static void put_text(void *out, const char *text)
{
    buf_add_text(out, text);
}

static char *print_json(const struct layout *layout, const struct world *world, const json_t *r)
{
    struct buf out = BUF_INIT;
    layout_print_json(layout, &world->request, r, put_text, &out);
    return buf_take_text(&out);
}

static void test_json_is_as_the_command_line_promises(void **state)
{
    struct world world;
    (void)state;
    world_make(&world, "2*" SMALL);
    world.parts[0] = (struct layout_part){.ntasks = 2, .map = "node", .bind = "core"};
    struct layout *layout = make(&world);
    json_t *r = json_pack("{s:i}", "version", 1);
    char *printed = print_json(layout, &world, r);
    json_t *value = json_loads(printed, 0, NULL);
    char *text = json_dumps(value, JSON_COMPACT);
    assert_string_equal(
        text, "{\"version\":1,\"ntasks\":2,\"taskmap\":{\"version\":1,\"map\":[[0,2,1,1]]},"
              "\"PMI_process_mapping\":\"(vector,(0,2,1))\","
              "\"nodes\":[{\"id\":0,\"host\":\"node0\",\"target\":10},"
              "{\"id\":1,\"host\":\"node1\",\"target\":11}],"
              "\"tasks\":[{\"rank\":0,\"node\":0,\"local_rank\":0,\"app\":0,\"cpus\":\"0-1\","
              "\"cores\":\"0\",\"gpus\":\"\"},{\"rank\":1,\"node\":1,\"local_rank\":0,\"app\":0,"
              "\"cpus\":\"0-1\",\"cores\":\"0\",\"gpus\":\"\"}],\"R\":{\"version\":1}}");
    free(text);
    free(printed);
    json_decref(value);
    json_decref(r);
    layout_free(layout);
    world_free(&world);
}

static void count_piece(void *arg, const char *text)
{
    size_t *pieces = arg, len = strlen(text);
    assert_uint_in_range(len, 1, 300 << 10);
    pieces[0]++;
    pieces[1] += len;
}

static void test_json_of_many_tasks_comes_in_pieces(void **state)
{
    struct world world;
    size_t pieces[2] = {0, 0};
    (void)state;
    world_make(&world, "2*" SMALL);
    world.parts[0] = (struct layout_part){.ntasks = 20000, .map = "core", .mppr = "none"};
    struct layout *layout = make(&world);
    layout_print_json(layout, &world.request, NULL, count_piece, pieces);
    char *text = print_json(layout, &world, NULL);
    json_t *value = json_loads(text, 0, NULL);
    assert_true(pieces[0] > 2);
    assert_int_equal(pieces[1], strlen(text));
    assert_int_equal(json_array_size(json_object_get(value, "tasks")), 20000);
    json_decref(value);
    free(text);
    layout_free(layout);
    world_free(&world);
}

/* ---- properties ---- */

static const char *const random_machines[] = {
    "package:2 numa:2 l3:1 l2:2 l1:1 core:1 pu:2",
    "numa:2 package:1 core:3 pu:1|package:1 l3:2 core:2 pu:2",
    "package:2 core:4 pu:2@1-4,6|package:2 core:4 pu:1|package:1 core:2 pu:4",
    "2*package:1 numa:2 l3:2 l2:2 core:2 pu:1",
    "package:2 l3:1 l2:2 core:2 pu:2@0,2-3,5|numa:3 core:3 pu:2",
};

static uint32_t world_threads(const struct world *world)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < world->nnodes; i++) {
        struct idset *cpus = topo_cpus_of_cores(world->topos[i], world->cores[i]);
        total += (uint32_t)idset_count(cpus);
        idset_free(cpus);
    }
    return total;
}

static void test_any_string_visits_every_thread_once(void **state)
{
    uint64_t seed = 20110926;
    (void)state;
    for (uint32_t i = 0; i < 2000; i++) {
        struct world world;
        bool seen[MAX_NODES][64] = {{false}};
        char map[RANDOM_MAP_SIZE];
        random_loops(&seed, i % 2 ? 9 : 2 + random_below(&seed, 7), map);
        world_make(&world, random_machines[i % 5]);
        world.parts[0] = (struct layout_part){
            .ntasks = world_threads(&world), .map = map, .bind = "1h", .mppr = "none"};
        struct layout *layout = make(&world);
        for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
            const struct layout_task *task = &layout->tasks[rank];
            uint32_t node = layout->nodes[task->node].source;
            if (seen[node][task->place])
                fail_msg("%s visits row %u of node %u twice", map, task->place, node);
            seen[node][task->place] = true;
        }
        layout_free(layout);
        world_free(&world);
    }
}

/* Tasks bound to cores or threads on each object of a level, counted from the bindings alone. */
static uint32_t most_on_an_object(const struct layout *layout, const struct world *world,
                                  enum topo_level level)
{
    uint32_t most = 0;
    static uint32_t count[MAX_NODES][64];
    memset(count, 0, sizeof(count));
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        uint32_t node = layout->nodes[task->node].source, last = TOPO_ABSENT;
        const struct topo *topo = world->topos[node];
        for (uint32_t row = 0; row < topo->npus; row++) {
            uint32_t object = topo->object[level][row];
            if (object == last || object == TOPO_ABSENT ||
                !idset_has(layout->bindings[task->binding].cpus, topo->os[row]))
                continue;
            last = object;
            most = ++count[node][object] > most ? count[node][object] : most;
        }
    }
    return most;
}

static void test_limits_hold_for_any_string_and_width(void **state)
{
    static const struct {
        const char *mppr;
        enum topo_level level;
        uint32_t most;
    } limits[] = {{"1:c", TOPO_CORE, 1}, {"2:c", TOPO_CORE, 2}, {"1:h", TOPO_HWTHREAD, 1},
                  {"3:N", TOPO_NUMA, 3}, {"5:n", TOPO_NODE, 5}, {"3:h", TOPO_HWTHREAD, 3}};
    static const char *const binds[] = {"1c", "2c", "1h", "3h"};
    uint64_t seed = 46;
    uint32_t placed = 0;
    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        struct world world;
        size_t limit = random_below(&seed, 6);
        char map[RANDOM_MAP_SIZE];
        random_loops(&seed, i % 2 ? 9 : 2 + random_below(&seed, 7), map);
        world_make(&world, random_machines[i % 5]);
        world.parts[0] = (struct layout_part){.ntasks = 1 + random_below(&seed, 24),
                                              .map = map,
                                              .mppr = limits[limit].mppr,
                                              .bind = binds[random_below(&seed, 4)],
                                              .order = random_below(&seed, 2) ? "s" : "n"};
        struct layout *layout = layout_make(&world.request, NULL);
        if (layout) {
            placed++;
            assert_int_equal(layout->ntasks, world.parts[0].ntasks);
            assert_false(layout->oversubscribed);
            if (most_on_an_object(layout, &world, limits[limit].level) > limits[limit].most)
                fail_msg("%s --bind-to %s breaks %s", map, world.parts[0].bind, limits[limit].mppr);
        }
        world.parts[0].oversubscribe = true;
        struct layout *forced = layout_make(&world.request, NULL);
        if (layout) { /* what fits is not changed by the permission */
            assert_non_null(forced);
            assert_memory_equal(layout->tasks, forced->tasks,
                                layout->ntasks * sizeof(*layout->tasks));
        }
        layout_free(forced);
        layout_free(layout);
        world_free(&world);
    }
    assert_true(placed > 500);
}

static void test_same_request_gives_the_same_bytes(void **state)
{
    static const char *const maps[] = {NULL, "numa", "node", "scnh", "hcsL1L2L3Nbn"};
    (void)state;
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        char *texts[2];
        for (int round = 0; round < 2; round++) {
            struct world world;
            world_make(&world, random_machines[4]);
            world.parts[0] = (struct layout_part){
                .ntasks = 17, .map = maps[i], .oversubscribe = true, .order = "s"};
            struct layout *layout = make(&world);
            texts[round] = print_json(layout, &world, NULL);
            layout_free(layout);
            world_free(&world);
        }
        assert_string_equal(texts[0], texts[1]);
        free(texts[0]);
        free(texts[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_holds_tasks_together_on_one_core_each),
        cmocka_unit_test(test_binding_follows_the_first_loop),
        cmocka_unit_test(test_unbound_tasks_claim_a_core_and_see_all_that_is_allocated),
        cmocka_unit_test(test_threads_that_are_not_allowed_do_not_exist),
        cmocka_unit_test(test_slots_are_cut_from_the_smallest_object_that_holds_them),
        cmocka_unit_test(test_node_count_spreads_even_blocks),
        cmocka_unit_test(test_all_tasks_are_as_many_as_fit),
        cmocka_unit_test(test_all_slots_are_taken_where_cores_may_be_shared),
        cmocka_unit_test(test_a_host_files_count_is_a_limit),
        cmocka_unit_test(test_holes_in_the_allocation_do_not_exist),
        cmocka_unit_test(test_refusals_say_what_fits_and_what_would_do),
        cmocka_unit_test(test_no_nodes_are_refused),
        cmocka_unit_test(test_parts_go_on_or_start_over),
        cmocka_unit_test(test_a_part_may_be_kept_to_some_nodes),
        cmocka_unit_test(test_a_later_part_that_does_not_fit_is_named),
        cmocka_unit_test(test_unused_nodes_have_no_id),
        cmocka_unit_test(test_json_is_as_the_command_line_promises),
        cmocka_unit_test(test_json_of_many_tasks_comes_in_pieces),
        cmocka_unit_test(test_any_string_visits_every_thread_once),
        cmocka_unit_test(test_limits_hold_for_any_string_and_width),
        cmocka_unit_test(test_same_request_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
