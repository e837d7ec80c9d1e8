#include "tests/unit/rankfile-cases.h"

#include <time.h>

static void test_a_rank_file_says_where_each_rank_is(void **state)
{
    static const struct rankfile_case cases[] = {
        {BIG, 0, {0}, "rank 0=node0 slot=1:1-2", "0:10-13", "0:5-6"},
        {BIG, 0, {0}, "rank 0=node0 slot=1", "0:2-3", "0:1"},
        {BIG, 0, {0}, "rank 0=node0 slot=0-2,6", "0:0-5,12-13", "0:0-2,6"},
        {BIG, 0, {0}, "rank 0=node0 slot=1:*", "0:8-15", "0:4-7"},
        {BIG, 0, {0}, "rank 0=node0 slot=*", "0:0-15", "0:0-7"},
        {BIG, 0, {0}, "rank 0=node0 slot=*:0", "0:0-1,8-9", "0:0,4"},
        {BIG, 0, {0}, "rank 0=node0 slot=0:1,3;5;1:2", "0:2-3,6-7,10-13", "0:1,3,5-6"},
        {BIG, 0, {0}, "rank 0=node0 slot=3,1,1-2", "0:2-7", "0:1-3"},
        {BIG, 0, {0}, "rank 0=node0 slot=p5,8", "0:4-5,8-9", "0:2,4"},
        {BIG, 0, {0}, "0 node0 5,8", "0:5,8", "0:2,4"},
        /* two ranks on the two threads of a core */
        {BIG, 0, {0}, "0 node0 5\n1 node0 4", "0:5 0:4", "0:2"},
        {"2*" BIG,
         0,
         {0},
         "rank 2=+n0 slot=0\nrank 0=node1 slot=0\nrank 1=+n1 slot=1",
         "1:0-1 1:2-3 0:0-1",
         "0:0 1:0-1"},
        {"3*" BIG, 0, {0}, "0 node2 0\n1 node0 0", "2:0 0:0", "0:0 2:0"},
        /* all that was allocated */
        {BIG "@1-2,5", 0, {0}, "rank 0=node0 slot=*", "0:2-5,10-11", "0:1-2,5"},
        {BIG "@1-2,5", 0, {0}, "rank 0=node0 slot=0:*", "0:2-5", "0:1-2"},
        {BIG "@1-2,5", 0, {0}, "rank 0=node0 slot=1:1", "0:10-11", "0:5"},
        /* a machine without sockets is one */
        {FLAT, 0, {0}, "rank 0=node0 slot=0:3", "0:3", "0:3"},
        {"numa:2 core:2 pu:1", 0, {0}, "rank 0=node0 slot=0:3", "0:3", "0:3"},
        /* fewer ranks than the file has; exactly the nodes that -N says */
        {"2*" BIG, 0, {.ntasks = 1}, "0 node0 0\n1 node1 0", "0:0", "0:0"},
        {"2*" BIG, 2, {0}, "0 node0 0\n1 node1 0", "0:0 1:0", NULL},
        {"2*" BIG, 1, {0}, "0 node1 0\n1 node1 1", "1:0 1:1", NULL},
        {BIG, 0, {.oversubscribe = true}, "0 node0 0-3\n1 node0 3-4", "0:0-3 0:3-4", "0:0-2"},
        {BIG "#1", 0, {.oversubscribe = true}, "0 node0 0\n1 node0 3", "0:0 0:3", "0:0-1"},
        {BIG "#2", 0, {0}, "0 node0 0\n1 node0 3", "0:0 0:3", "0:0-1"},
    };
    (void)state;
    check_placed(cases, COUNT(cases));
}

static void test_equal_lists_are_one_binding(void **state)
{
    struct world world;
    struct rankfile *file =
        read_ranks("rank 0=node0 slot=0-1\n1 node1 0-3\nrank 2=node2 slot=p0,2\n"
                   "3 node0 4\n4 node1 5");
    (void)state;
    world_make(&world, "3*" BIG);
    world.parts[0].rankfile = file;
    struct layout *layout = make(&world);
    assert_int_equal(layout->nbindings, 3);
    assert_false(layout->oversubscribed);
    assert_true(layout->bound);
    layout_free(layout);
    rankfile_free(file);
    world_free(&world);
}

/* Cores 0 to 2, of which one thread of core 0 and all of core 2 are not allowed. */
static void test_of_a_core_what_is_allowed_is_meant(void **state)
{
    static const char *const cases[][2] = {
        {"rank 0=node0 slot=0-1", "0:0,2-3"},
        {"rank 0=node0 slot=*", "0:0,2-3"},
        {"rank 0=node0 slot=0:0", "0:0"},
        {"rank 0=node0 slot=p0", "0:0"},
        {"0 node0 0", "0:0"},
        {"rank 0=node0 slot=1-2", "slot \"1-2\": core 2 of node0 was not allocated"},
        {"rank 0=node0 slot=p1", "slot \"p1\": processor 1 of node0, in core 0, was not allocated"},
        {"0 node0 0-1", "cpus \"0-1\": processor 1 of node0, in core 0, was not allocated"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct world world;
        struct error err = ERROR_INIT;
        struct rankfile *file = read_ranks(cases[i][0]);
        world_make(&world, "core:3 pu:2@0-1");
        world.topos[0]->allowed[1] = world.topos[0]->allowed[4] = world.topos[0]->allowed[5] =
            false;
        world.parts[0].rankfile = file;
        struct layout *layout = layout_make(&world.request, &err);
        char *text = layout ? describe(layout) : mem_copy_text(error_text(&err));
        if (!strstr(text, cases[i][1]))
            fail_msg("%s: %s, not %s", cases[i][0], text, cases[i][1]);
        free(text);
        layout_free(layout);
        rankfile_free(file);
        error_clear(&err);
        world_free(&world);
    }
}

static void test_what_a_machine_lacks_or_others_have_is_refused_by_line(void **state)
{
    static const struct rankfile_case cases[] = {
        {"2*" BIG,
         0,
         {0},
         "rank 0=node2 slot=0",
         "ranks:1: rank 0: host \"node2\" is not allocated (allocated: node[0-1]); the nearest is "
         "node0",
         NULL},
        {BIG,
         0,
         {0},
         "\n0 elsewhere 0",
         "ranks:2: rank 0: host \"elsewhere\" is not allocated "
         "(allocated: node0)",
         NULL},
        {"2*" BIG,
         0,
         {0},
         "rank 0=+n2 slot=0",
         "ranks:1: rank 0: no node +n2: 2 nodes are allocated, +n0 to +n1",
         NULL},
        {BIG,
         0,
         {0},
         "rank 0=+n1 slot=0",
         "ranks:1: rank 0: no node +n1: only one node is allocated, +n0",
         NULL},
        {BIG,
         0,
         {0},
         "rank 0=node0 slot=7-9",
         "ranks:1: rank 0: slot \"7-9\": node0 has no core 8, it has 0-7 (logical numbers)",
         NULL},
        {BIG,
         0,
         {0},
         "rank 0=node0 slot=12",
         "ranks:1: rank 0: slot \"12\": node0 has no core 12, it has 0-7 (logical numbers)",
         NULL},
        {BIG,
         0,
         {0},
         "rank 0=node0 slot=0:3-5",
         "ranks:1: rank 0: slot \"0:3-5\": socket 0 of node0 has no core 4, it has 0-3 (counted in "
         "the socket)",
         NULL},
        {BIG,
         0,
         {0},
         "rank 0=node0 slot=2:0",
         "ranks:1: rank 0: slot \"2:0\": node0 has no socket 2, it has 0-1 (logical numbers)",
         NULL},
        {BIG,
         0,
         {0},
         "0 node0 3,16",
         "ranks:1: rank 0: cpus \"3,16\": node0 has no processor 16, it has 0-15 (OS indexes)",
         NULL},
        {BIG,
         0,
         {0},
         "rank 0=node0 slot=p1,99",
         "ranks:1: rank 0: slot \"p1,99\": node0 has no processor 99, it has 0-15 (OS indexes)",
         NULL},
        {BIG "@0-1,6",
         0,
         {0},
         "rank 0=node0 slot=0-2",
         "ranks:1: rank 0: slot \"0-2\": core 2 of node0 was not allocated to this program, of its "
         "cores 0-1,6 were (logical numbers)",
         NULL},
        {BIG "@0-1,6",
         0,
         {0},
         "rank 0=node0 slot=1:3",
         "ranks:1: rank 0: slot \"1:3\": core 3 of socket 1 of node0, its core 7, was not "
         "allocated "
         "to this program, of its cores 0-1,6 were (logical numbers)",
         NULL},
        {BIG "@0-1",
         0,
         {0},
         "0 node0 0,15",
         "ranks:1: rank 0: cpus \"0,15\": processor 15 of node0, in core 7, was not allocated to "
         "this program, of its processors 0-3 were (OS indexes)",
         NULL},
        {BIG "@0-1",
         0,
         {0},
         "rank 0=node0 slot=1:*",
         "ranks:1: rank 0: slot \"1:*\": nothing of this was allocated on node0",
         NULL},
        {BIG "@|" BIG,
         0,
         {0},
         "rank 0=node0 slot=*",
         "ranks:1: rank 0: slot \"*\": nothing of this was allocated on node0",
         NULL},
        {BIG,
         0,
         {0},
         "rank 0=node0 slot=0-1\n\n1 node0 3-4",
         "ranks:3: rank 1: processor 3 of node0 (OS index, in core 1) is rank 0's already, of line "
         "1; --oversubscribe lets them share",
         NULL},
        {BIG "#1",
         0,
         {0},
         "0 node0 0\n1 node0 3",
         "ranks:2: rank 1: node0 has 1 slot in the host file, and that is taken; --oversubscribe "
         "permits more",
         NULL},
        {BIG,
         0,
         {.ntasks = 3},
         "0 node0 0\n1 node0 3",
         "-n 3: ranks places only ranks 0 to 1; ask for -n 2 or fewer, or add lines",
         NULL},
        {"2*" BIG,
         2,
         {0},
         "0 node0 0\n1 node0 3",
         "-N 2: ranks uses 1 node; leave -N out, or make them agree",
         NULL},
        {BIG,
         0,
         {.map = "core"},
         "0 node0 0",
         "--rankfile says where each rank runs and what it is bound to: leave out --map-by",
         NULL},
        {BIG,
         0,
         {.bind = "core"},
         "0 node0 0",
         "--rankfile says where each rank runs and what it is bound to: leave out --bind-to",
         NULL},
        {BIG,
         0,
         {.mppr = "1:c"},
         "0 node0 0",
         "--rankfile says where each rank runs and what it is bound to: leave out --mppr",
         NULL},
        {BIG,
         0,
         {.cores_per_task = 1},
         "0 node0 0",
         "--rankfile says where each rank runs and what it is bound to: leave out -c",
         NULL},
        {BIG,
         0,
         {.gpus_per_task = 1},
         "0 node0 0",
         "--rankfile says where each rank runs and what it is bound to: leave out -g",
         NULL},
        {BIG,
         0,
         {.per = "2:numa"},
         "0 node0 0",
         "--rankfile says where each rank runs and what it is bound to: leave out --per",
         NULL},
        {BIG,
         0,
         {.order = "s"},
         "0 node0 0",
         "--rankfile says where each rank runs and what it is bound to: leave out --order (or "
         "--rank-by)",
         NULL},
        {BIG,
         0,
         {.taskmap = "block"},
         "0 node0 0",
         "--rankfile says where each rank runs and what it is bound to: leave out --taskmap",
         NULL},
    };
    (void)state;
    check_refused(cases, COUNT(cases));
}

static void test_parts_go_along_with_a_rank_file_or_start_behind_it(void **state)
{
    struct world world;
    struct error err = ERROR_INIT;
    struct rankfile *file = read_ranks("0 node0 0\n1 node1 0\n2 node1 1");
    (void)state;
    world_make(&world, "2*" FLAT);
    world.request.nparts = 2;
    world.parts[0] = (struct layout_part){.ntasks = 1, .rankfile = file};
    world.parts[1] = (struct layout_part){.ntasks = 2};
    struct layout *layout = make(&world);
    char *text = describe(layout);
    assert_string_equal(text, "0:0 1:0 1:1");
    assert_int_equal(layout->tasks[1].app, 1);
    free(text);
    layout_free(layout);

    world.parts[1] = (struct layout_part){.ntasks = 3};
    assert_null(layout_make(&world.request, &err));
    assert_string_equal(error_text(&err),
                        "ranks places 3 ranks, and 4 are asked for: add lines, or ask for fewer");

    world.parts[0].ntasks = 3;
    world.parts[1] = (struct layout_part){.ntasks = 3, .map = "core"};
    layout = make(&world);
    text = describe(layout);
    assert_string_equal(text, "0:0 1:0 1:1 0:1 0:2 0:3");
    free(text);
    layout_free(layout);

    world.parts[0] = (struct layout_part){.ntasks = 2, .map = "core"};
    world.parts[1] = (struct layout_part){.rankfile = file};
    assert_null(layout_make(&world.request, &err));
    assert_string_equal(error_text(&err),
                        "ranks:1: rank 0: processor 0 of node0 (OS index, in core 0) is rank 0's, "
                        "of a part before; --oversubscribe lets them share");
    world.parts[1].oversubscribe = true;
    layout = make(&world);
    text = describe(layout);
    assert_string_equal(text, "0:0 0:1 0:0 1:0 1:1");
    free(text);
    layout_free(layout);

    world.parts[1] = (struct layout_part){.taskmap = "[[1,1,1,1],[0,1,1,1]]", .map = "core"};
    layout = make(&world);
    text = describe(layout);
    assert_string_equal(text, "0:0 0:1 1:0 0:2");
    free(text);
    layout_free(layout);
    error_clear(&err);
    rankfile_free(file);
    world_free(&world);
}

/* Of three that were allocated only the last two may be used now. */
static void test_nodes_that_may_not_be_used_are_counted(void **state)
{
    static const char *const hosts[] = {"first", "node0", "node1"};
    static const uint32_t positions[] = {1, 2};
    struct world world;
    struct error err = ERROR_INIT;
    struct rankfile *file = read_ranks("0 +n2 0\n1 node0 1"), *held = read_ranks("0 first 0");
    (void)state;
    world_make(&world, "2*" FLAT);
    world.request.hosts = hosts;
    world.request.nhosts = 3;
    world.request.positions = positions;
    world.parts[0] = (struct layout_part){.rankfile = file};
    struct layout *layout = make(&world);
    char *text = describe(layout);
    assert_string_equal(text, "1:0 0:1");
    free(text);
    layout_free(layout);
    world.parts[0] = (struct layout_part){.taskmap = "[[1,2,1,1]]", .map = "core"};
    layout = make(&world);
    text = describe(layout);
    assert_string_equal(text, "0:0 1:0");
    free(text);
    layout_free(layout);
    world.parts[0].taskmap = "[[0,2,1,1]]";
    assert_null(layout_make(&world.request, &err));
    assert_string_equal(error_text(&err), "--taskmap: the map uses node 0, and first has no core "
                                          "that is free for this program");
    world.parts[0] = (struct layout_part){.rankfile = held};
    assert_null(layout_make(&world.request, &err));
    assert_string_equal(error_text(&err),
                        "ranks:1: rank 0: first has no core that is free for this "
                        "program");
    error_clear(&err);
    rankfile_free(file);
    rankfile_free(held);
    world_free(&world);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* 4 Ki threads in one node; each of half a million ranks on all of them, most in other words. */
static void test_the_worst_rank_file_ends_in_time(void **state)
{
    struct world world;
    struct buf text = BUF_INIT;
    struct error err = ERROR_INIT;
    (void)state;
    world_make(&world, "package:8 numa:8 core:16 pu:4");
    for (uint32_t rank = 0; text.len < RANKFILE_MAX_TEXT - 64; rank++)
        buf_printf(&text, "%u node0 0-%u,%u-4095\n", rank, rank % 4000 + 1, rank % 4000 + 3);
    struct rankfile *file = rankfile_parse("ranks", buf_text(&text), text.len, &err);
    assert_non_null(file);
    world.parts[0] = (struct layout_part){.rankfile = file, .oversubscribe = true};
    double start = seconds();
    assert_null(layout_make(&world.request, &err));
    assert_non_null(strstr(error_text(&err), "the lists up to this line name more"));
    rankfile_free(file);
    buf_clear(&text);
    buf_add_text(&text, "rank 0=node0 slot=p0");
    while (text.len < RANKFILE_MAX_TEXT - 64)
        buf_add_text(&text, ",0-4095");
    file = rankfile_parse("ranks", buf_text(&text), text.len, &err);
    assert_non_null(file);
    world.parts[0].rankfile = file;
    assert_null(layout_make(&world.request, &err));
    assert_non_null(strstr(error_text(&err), "it names the same processors again and again"));
    assert_true(seconds() - start < 30);
    rankfile_free(file);
    buf_free(&text);
    error_clear(&err);
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rank_file_says_where_each_rank_is),
        cmocka_unit_test(test_equal_lists_are_one_binding),
        cmocka_unit_test(test_of_a_core_what_is_allowed_is_meant),
        cmocka_unit_test(test_what_a_machine_lacks_or_others_have_is_refused_by_line),
        cmocka_unit_test(test_parts_go_along_with_a_rank_file_or_start_behind_it),
        cmocka_unit_test(test_nodes_that_may_not_be_used_are_counted),
        cmocka_unit_test(test_the_worst_rank_file_ends_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
