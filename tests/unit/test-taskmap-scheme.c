#include "affinity/taskmap/taskmap_scheme.h"
#include "tests/unit/rankfile-cases.h"
#include "tests/unit/vectors.h"

static void test_a_task_map_says_which_rank_is_on_which_node(void **state)
{
    static const struct rankfile_case cases[] = {
        {"3*" FLAT,
         0,
         {.ntasks = 6, .taskmap = "block", .map = "core"},
         NULL,
         "0:0 0:1 0:2 0:3 1:0 1:1",
         NULL},
        {"3*" FLAT,
         0,
         {.ntasks = 5, .taskmap = "cyclic", .map = "core"},
         NULL,
         "0:0 1:0 2:0 0:1 1:1",
         NULL},
        {"3*" FLAT,
         0,
         {.ntasks = 7, .taskmap = "cyclic:2", .map = "core"},
         NULL,
         "0:0 0:1 1:0 1:1 2:0 2:1 0:2",
         NULL},
        {"2*" FLAT,
         0,
         {.ntasks = 2, .taskmap = "cyclic:4194304", .map = "core"},
         NULL,
         "0:0 0:1",
         NULL},
        /* who is full is passed over */
        {"core:2 pu:1|" FLAT,
         0,
         {.ntasks = 6, .taskmap = "cyclic", .map = "core"},
         NULL,
         "0:0 1:0 0:1 1:1 1:2 1:3",
         NULL},
        {FLAT "#1|" FLAT,
         0,
         {.ntasks = 4, .taskmap = "cyclic", .map = "core"},
         NULL,
         "0:0 1:0 1:1 1:2",
         NULL},
        {"core:2 pu:1|" FLAT,
         0,
         {.ntasks = 8, .taskmap = "cyclic", .map = "core", .oversubscribe = true},
         NULL,
         "0:0 1:0 0:1 1:1 0:0 1:2 1:3 1:0",
         NULL},
        {"core:2 pu:1|" FLAT,
         0,
         {.ntasks = 8, .taskmap = "block", .map = "core", .oversubscribe = true},
         NULL,
         "0:0 0:1 0:0 0:1 1:0 1:1 1:2 1:3",
         NULL},
        {"3*" FLAT,
         0,
         {.ntasks = 9, .taskmap = "cyclic", .mppr = "none", .bind = "core"},
         NULL,
         "0:0 1:0 2:0 0:1 1:1 2:1 0:2 1:2 2:2",
         NULL},
        /* -N: so many nodes, even shares */
        {"3*" FLAT,
         2,
         {.ntasks = 5, .taskmap = "cyclic", .map = "core"},
         NULL,
         "0:0 1:0 0:1 1:1 0:2",
         NULL},
        {"3*" FLAT,
         3,
         {.ntasks = 5, .taskmap = "block", .map = "core"},
         NULL,
         "0:0 0:1 1:0 1:1 2:0",
         NULL},
        /* in a node as without a map */
        {"2*" BIG,
         0,
         {.ntasks = 4, .taskmap = "cyclic"},
         NULL,
         "0:0-3 1:0-3 0:0-3 1:0-3",
         "0:0-1 1:0-1"},
        {"2*" BIG,
         0,
         {.ntasks = 4, .taskmap = "cyclic", .map = "socket"},
         NULL,
         "0:0-7 1:0-7 0:8-15 1:8-15",
         NULL},
        {"2*" BIG,
         0,
         {.ntasks = 4, .taskmap = "cyclic", .map = "node", .bind = "core"},
         NULL,
         "0:0-1 1:0-1 0:8-9 1:8-9",
         NULL},
        {"2*" BIG,
         0,
         {.ntasks = 3, .taskmap = "block", .cores_per_task = 3},
         NULL,
         "0:0-5 0:8-13 1:0-5",
         NULL},
        /* a map of any form gives the number of tasks */
        {"2*" FLAT,
         0,
         {.taskmap = "manual:[[0,2,1,2]]", .map = "core"},
         NULL,
         "0:0 1:0 0:1 1:1",
         NULL},
        {"2*" FLAT, 0, {.taskmap = "[[0,2,1,2]]", .map = "core"}, NULL, "0:0 1:0 0:1 1:1", NULL},
        {"2*" FLAT,
         0,
         {.taskmap = "{\"version\":1,\"map\":[[0,2,1,2]]}", .map = "core"},
         NULL,
         "0:0 1:0 0:1 1:1",
         NULL},
        {"2*" FLAT,
         0,
         {.taskmap = "manual:(vector,(0,2,1),(0,2,1))", .map = "core"},
         NULL,
         "0:0 1:0 0:1 1:1",
         NULL},
        {"2*" FLAT,
         4 / 2,
         {.ntasks = 4, .taskmap = "0,2;1,3", .map = "core"},
         NULL,
         "0:0 1:0 0:1 1:1",
         NULL},
        {"2*" FLAT, 0, {.taskmap = "1-3;0", .map = "core"}, NULL, "1:0 0:0 0:1 0:2", NULL},
        {"3*" FLAT,
         0,
         {.taskmap = "[[2,1,2,1],[0,1,1,1]]", .map = "core"},
         NULL,
         "2:0 2:1 0:0",
         NULL},
        {FLAT,
         0,
         {.taskmap = "0-4", .map = "core", .oversubscribe = true},
         NULL,
         "0:0 0:1 0:2 0:3 0:0",
         NULL},
        {"2*" FLAT,
         0,
         {.ntasks = 3, .taskmap = "cyclic", .per = "2:node", .bind = "core"},
         NULL,
         "0:0 1:0 0:1",
         NULL},
        {"2*" FLAT, 0, {.taskmap = "1;0", .per = "2:node", .bind = "core"}, NULL, "1:0 0:0", NULL},
    };
    (void)state;
    check_placed(cases, COUNT(cases));
}

static void test_a_map_that_does_not_fit_is_refused(void **state)
{
    static const struct rankfile_case cases[] = {
        {"2*" FLAT,
         0,
         {.taskmap = "[[0,1,5,1]]"},
         NULL,
         "--taskmap: the map has 5 tasks on node0 (4 cores), where 4 fit under the limit of 1 task "
         "for each core; --oversubscribe runs them all",
         NULL},
        {FLAT "#1",
         0,
         {.taskmap = "0-1"},
         NULL,
         "--taskmap: the map has 2 tasks on node0 (4 cores; 1 slot in the host file), where 1 fits "
         "under the limit of 1 task for each core; --oversubscribe runs them all",
         NULL},
        {"2*" FLAT,
         0,
         {.taskmap = "[[1,2,1,1]]"},
         NULL,
         "--taskmap: the map uses node 2, and 2 nodes are allocated (0 to 1)",
         NULL},
        {FLAT,
         0,
         {.taskmap = "[[1,1,1,1]]"},
         NULL,
         "--taskmap: the map uses node 1, and 1 node is allocated (0)",
         NULL},
        {"2*" FLAT,
         0,
         {.ntasks = 3, .taskmap = "0;1"},
         NULL,
         "--taskmap: the map places 2 tasks, and 3 are asked for: leave -n out, or make them agree",
         NULL},
        {"2*" FLAT,
         0,
         {.ntasks = 1, .taskmap = "0;1"},
         NULL,
         "--taskmap: the map places 2 tasks, and 1 is asked for: leave -n out, or make them agree",
         NULL},
        {"2*" FLAT,
         2,
         {.taskmap = "0-1"},
         NULL,
         "-N 2: --taskmap uses 1 node; leave -N out, or make them agree",
         NULL},
        {"2*" FLAT,
         1,
         {.taskmap = "0;1"},
         NULL,
         "-N 1: --taskmap uses 2 nodes; leave -N out, or make them agree",
         NULL},
        {"2*" FLAT,
         0,
         {.ntasks = 9, .taskmap = "cyclic"},
         NULL,
         "asked for 9 tasks, 8 fit under the limit of 1 task for each core: 4 on each of node[0-1] "
         "(4 cores); -n 8 would run, "
         "--oversubscribe runs them all",
         NULL},
        {"2*" FLAT,
         0,
         {.taskmap = "cyclic", .order = "s"},
         NULL,
         "--taskmap says how ranks are numbered: leave out --order (or --rank-by)",
         NULL},
        {FLAT,
         0,
         {.ntasks = 2, .taskmap = "block", .bind = "5c", .oversubscribe = true},
         NULL,
         "--bind-to 5c: no node has so many; the largest, node0, has 4 cores allocated",
         NULL},
        {FLAT "@|" FLAT,
         0,
         {.taskmap = "[[0,1,1,1]]", .bind = "5c"},
         NULL,
         "--bind-to 5c: no node has so many; the largest, node1, has 4 cores allocated",
         NULL},
        {FLAT,
         0,
         {.taskmap = "[[0,1,1,1]]", .cores_per_task = 5},
         NULL,
         "-c 5: no node has so many cores; the largest, node0, has 4 allocated",
         NULL},
        {FLAT,
         0,
         {.taskmap = "cyclic", .per = "2:node"},
         NULL,
         "--per without -n takes all that fits, which --taskmap cyclic cannot deal out; give a -n",
         NULL},
        {FLAT,
         0,
         {.taskmap = "block", .fill = true},
         NULL,
         "-n all takes all that fits, which --taskmap block cannot deal out; give a number",
         NULL},
    };
    (void)state;
    check_refused(cases, COUNT(cases));
}

static void test_a_wrong_map_is_refused_before_any_hardware(void **state)
{
    static const char *const cases[][2] = {
        {"", "neither a scheme nor a task map"},
        {"cylcic", "no such scheme, the nearest is cyclic; "},
        {"blok:2", "no such scheme, the nearest is block; "},
        {"block:2", "no such scheme, the nearest is block; "},
        {"cyclic:", "behind cyclic: stands how many ranks a node gets at a time"},
        {"cyclic:0", "from 1 on\n  cyclic:0\n         ^"},
        {"cyclic:x", "behind cyclic: stands"},
        {"cyclic:2x", "behind cyclic: stands"},
        {"cyclic:4194305", "behind cyclic: stands"},
        {"cyclic:99999999999999999999", "behind cyclic: stands"},
        {"manual:", "the map is empty, and places no rank"},
        {"manual:block", "task map"},
        {"[]", "the map is empty"},
        {"[[0,1]]", "block 0 is not [nodeid,nnodes,ppn,repeat]"},
        {"[[0,1,1,1]", "is not JSON"},
        {"0-3;5", "rank 4 is on no node"},
        {"0;0", "rank 0 is on node 0 and on node 1"},
        {"(vector,(0,1))", "is wrong at byte"},
        {"[[0,4,1073741824,1]]", "task map"},
        {"[[0,4,104857600,1]]", "more than the 4194304 that a program may have"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct layout_part part = {.taskmap = cases[i][0]};
        struct error err = ERROR_INIT;
        assert_int_equal(layout_check_part(&part, &err), -1);
        if (!strstr(error_text(&err), cases[i][1]))
            fail_msg("%s says '%s', not '%s'", cases[i][0], error_text(&err), cases[i][1]);
        assert_int_equal(err.kind, ERROR_USAGE);
        error_clear(&err);
    }
}

/* The schemes against their definition: one rank after the other, to nodes of random room. */
static void test_dealing_is_as_it_is_defined(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 20000; round++) {
        uint32_t room[6], left[6], want[64], order[64];
        uint32_t n = 1 + (uint32_t)rand() % 6, ntasks = 1 + (uint32_t)rand() % 24, total = 0;
        struct taskmap_scheme deal = {.scheme =
                                          rand() % 4 ? TASKMAP_SCHEME_CYCLIC : TASKMAP_SCHEME_BLOCK,
                                      .chunk = 1 + (uint32_t)rand() % 4};
        for (uint32_t i = 0; i < n; i++)
            total += left[i] = room[i] = (uint32_t)rand() % 7;
        uint32_t dealt = 0;
        for (uint32_t i = 0; dealt < ntasks && dealt < total; i = (i + 1) % n)
            for (uint32_t j = 0; (deal.scheme == TASKMAP_SCHEME_BLOCK || j < deal.chunk) &&
                                 left[i] && dealt < ntasks;
                 j++, left[i]--)
                want[dealt++] = i;
        assert_int_equal(taskmap_scheme_deal(&deal, room, n, ntasks, order), dealt);
        assert_memory_equal(order, want, dealt * sizeof(*order));
    }
}

/* ---- the vectors of RFC 34, through the whole engine ---- */

/* Nodes of these numbers of cores, tasks by this map: the layout's own map has these blocks. */
static void expect_map(const uint32_t *cores, uint32_t nnodes, uint32_t ntasks, const char *taskmap,
                       json_t *blocks)
{
    struct error err = ERROR_INIT;
    struct topo *topo = topo_load_synthetic("core:256 pu:1", &err);
    struct layout_node *nodes = mem_array(nnodes, sizeof(*nodes));
    struct idset **sets = mem_array(nnodes, sizeof(*sets));
    for (uint32_t i = 0; i < nnodes; i++) {
        idset_add_range(sets[i] = idset_new(), 0, cores[i] - 1);
        nodes[i] =
            (struct layout_node){.host = "node", .target = i, .topo = topo, .cores = sets[i]};
    }
    struct layout_part part = {.ntasks = ntasks, .taskmap = taskmap};
    struct layout_request request = {.nodes = nodes, .nnodes = nnodes, .parts = &part, .nparts = 1};
    struct layout *layout = layout_make(&request, &err);
    if (!layout)
        fail_msg("%s: %s", taskmap, error_text(&err));
    json_t *map = taskmap_to_json(layout->map);
    if (!json_equal(json_object_get(map, "map"), blocks))
        fail_msg("%s: %s", taskmap, json_dumps(map, JSON_COMPACT));
    json_decref(map);
    layout_free(layout);
    for (uint32_t i = 0; i < nnodes; i++)
        idset_free(sets[i]);
    free(sets);
    free(nodes);
    topo_free(topo);
}

static void test_maps_of_the_rfc_are_kept_in_all_their_forms(void **state)
{
    static const uint32_t cores[16] = {32, 32, 32, 32, 32, 32, 32, 32,
                                       32, 32, 32, 32, 32, 32, 32, 32};
    (void)state;
    json_t *table = vectors_load("rfc34_taskmap"), *item;
    size_t i, placed = 0;
    json_array_foreach(vectors_list(table, "vectors"), i, item)
    {
        json_t *blocks = json_object_get(item, "map");
        if (!json_array_size(blocks))
            continue;
        struct taskmap *map = taskmap_from_json(blocks, NULL);
        json_t *wrapped = taskmap_to_json(map);
        char *forms[] = {json_dumps(blocks, 0), json_dumps(wrapped, 0), taskmap_encode_pmi(map),
                         mem_copy_text(vectors_text(item, "raw"))};
        for (size_t j = 0; j < 4; j++) {
            char *manual = mem_format("manual:%s", forms[j]);
            expect_map(cores, 16, 0, forms[j], blocks);
            expect_map(cores, 16, (uint32_t)map->ntasks, manual, blocks);
            free(manual);
            free(forms[j]);
        }
        json_decref(wrapped);
        taskmap_free(map);
        placed++;
    }
    assert_true(placed >= 14);
    json_decref(table);
}

static void test_distributions_of_the_rfc_are_made(void **state)
{
    (void)state;
    json_t *table = vectors_load("rfc34_taskmap"), *item;
    size_t i;
    json_array_foreach(vectors_list(table, "distributions"), i, item)
    {
        json_t *counts = json_object_get(item, "tasks_per_node");
        bool same = json_is_object(counts);
        uint32_t nnodes = same ? (uint32_t)json_integer_value(json_object_get(counts, "nnodes"))
                               : (uint32_t)json_array_size(counts);
        uint32_t *cores = mem_array(nnodes, sizeof(*cores)), total = 0;
        for (uint32_t j = 0; j < nnodes; j++) {
            const json_t *count = same ? json_object_get(counts, "ppn") : json_array_get(counts, j);
            total += cores[j] = (uint32_t)json_integer_value(count);
        }
        expect_map(cores, nnodes, total, vectors_text(item, "distribution"),
                   json_object_get(item, "map"));
        free(cores);
    }
    json_decref(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_task_map_says_which_rank_is_on_which_node),
        cmocka_unit_test(test_a_map_that_does_not_fit_is_refused),
        cmocka_unit_test(test_a_wrong_map_is_refused_before_any_hardware),
        cmocka_unit_test(test_dealing_is_as_it_is_defined),
        cmocka_unit_test(test_maps_of_the_rfc_are_kept_in_all_their_forms),
        cmocka_unit_test(test_distributions_of_the_rfc_are_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
