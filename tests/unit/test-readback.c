#include <stdlib.h>
#include <string.h>

#include "affinity/layout/readback.h"
#include "tests/unit/unit.h"

/* Two nodes of 4 cores, 4 tasks by core on each. */
struct world {
    struct topo *topo;
    struct idset *cores;
    struct layout_node nodes[2];
    struct layout_part part;
    struct layout_request request;
    struct layout *layout;
    struct found *found;
};

static int make_world(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    world->topo = topo_load_synthetic("core:4 pu:2", NULL);
    world->cores = topo_cores(world->topo);
    world->nodes[0] = (struct layout_node){.host = "a", .topo = world->topo, .cores = world->cores};
    world->nodes[1] =
        (struct layout_node){.host = "b", .target = 1, .topo = world->topo, .cores = world->cores};
    world->part = (struct layout_part){.ntasks = 8, .map = "core"};
    world->request = (struct layout_request){
        .nodes = world->nodes, .nnodes = 2, .parts = &world->part, .nparts = 1};
    world->layout = layout_make(&world->request, NULL);
    world->found = readback_new(world->layout, &world->request);
    *state = world;
    return world->layout ? 0 : -1;
}

static int end_world(void **state)
{
    struct world *world = *state;
    readback_free(world->found);
    layout_free(world->layout);
    idset_free(world->cores);
    topo_free(world->topo);
    free(world);
    return 0;
}

static int add(struct found *found, const char *ranks, const char *cpus, struct error *err)
{
    struct idset *who = idset_decode(ranks, NULL), *where = idset_decode(cpus, NULL);
    int result = readback_add(found, who, where, err);
    idset_free(who);
    idset_free(where);
    return result;
}

static const char *cpus_of(const struct found *found, uint32_t rank)
{
    static char text[64];
    const struct layout *layout = readback_layout(found);
    char *cpus = idset_encode(layout->bindings[layout->tasks[rank].binding].cpus);
    snprintf(text, sizeof(text), "%s", cpus);
    free(cpus);
    return text;
}

static void test_what_is_as_planned_is_right(void **state)
{
    struct world *world = *state;
    static const char *const cpus[] = {"0-1", "2-3", "4-5", "6-7"};
    static const char *const ranks[] = {"0,4", "1,5", "2,6", "3,7"};
    struct error err = ERROR_INIT;
    for (size_t i = 0; i < 4; i++) {
        assert_false(readback_complete(world->found));
        assert_int_equal(add(world->found, ranks[i], cpus[i], &err), 0);
        assert_int_equal(readback_check(world->found, &err), 0);
    }
    assert_true(readback_complete(world->found));
    assert_string_equal(cpus_of(world->found, 6), "4-5");
    assert_null(err.text);
}

static void test_a_difference_names_rank_host_and_both_sets(void **state)
{
    struct world *world = *state;
    struct error err = ERROR_INIT;
    assert_int_equal(add(world->found, "0-4", "0-1", &err), 0);
    assert_int_equal(readback_check(world->found, &err), -1);
    assert_string_equal(err.text, "rank 1 on a: the kernel bound it to OS processors 0-1, not to "
                                  "2-3 as was shown");
    error_clear(&err);
}

static void test_a_wider_binding_is_a_difference_too(void **state)
{
    struct world *world = *state;
    struct error err = ERROR_INIT;
    assert_int_equal(add(world->found, "7", "0-7", &err), 0);
    assert_int_equal(readback_check(world->found, &err), -1);
    assert_non_null(strstr(err.text, "rank 7 on b"));
    error_clear(&err);
}

static void test_ranks_that_there_are_not_are_refused(void **state)
{
    struct world *world = *state;
    struct error err = ERROR_INIT;
    assert_int_equal(add(world->found, "7-8", "0-1", &err), -1);
    assert_non_null(strstr(err.text, "rank 8"));
    error_clear(&err);
}

static void test_what_is_not_bound_may_have_less_but_not_more(void **state)
{
    struct world *world = *state;
    struct error err = ERROR_INIT;
    world->layout->bound = false;
    assert_int_equal(add(world->found, "1", "2", &err), 0);
    assert_int_equal(readback_check(world->found, &err), 0);
    assert_int_equal(add(world->found, "2", "2-5", &err), 0);
    assert_int_equal(readback_check(world->found, &err), -1);
    assert_non_null(strstr(err.text, "rank 2 on a"));
    error_clear(&err);
}

static void test_what_differs_is_shown_as_it_is(void **state)
{
    struct world *world = *state;
    struct error err = ERROR_INIT;
    assert_int_equal(add(world->found, "0-7", "0-7,64", &err), 0);
    assert_int_equal(readback_check(world->found, &err), -1);
    error_clear(&err);
    assert_true(readback_complete(world->found));
    assert_string_equal(cpus_of(world->found, 3), "0-7,64");
    const struct layout *layout = readback_layout(world->found);
    assert_int_equal(idset_count(layout->bindings[layout->tasks[3].binding].cores), 4);
    assert_int_equal(layout->tasks[3].binding, layout->tasks[4].binding);
}

int main(void)
{
#define FOUND_TEST(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)
    const struct CMUnitTest tests[] = {
        FOUND_TEST(test_what_is_as_planned_is_right),
        FOUND_TEST(test_a_difference_names_rank_host_and_both_sets),
        FOUND_TEST(test_a_wider_binding_is_a_difference_too),
        FOUND_TEST(test_ranks_that_there_are_not_are_refused),
        FOUND_TEST(test_what_is_not_bound_may_have_less_but_not_more),
        FOUND_TEST(test_what_differs_is_shown_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
