/* Layouts of nodes and policies that nobody would think of: what always holds, and that they are
 * what LAMA says, read plainly. ROUNDS (default 3) sets how many are tried. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/layout.h"
#include "base/buf.h"
#include "base/mem.h"
#include "tests/unit/layout-check.h"
#include "tests/unit/random-world.h"

static uint32_t rounds(uint32_t each)
{
    const char *text = getenv("ROUNDS");
    return each * (text ? (uint32_t)atoi(text) : 3);
}

static void fail_world(const struct random_world *world, const struct error *err)
{
    fail_msg("%s\n%s", error_text(err), random_world_text(world));
}

static struct layout *make_checked(const struct random_world *world, struct error *refusal)
{
    struct error err = ERROR_INIT;
    struct layout *layout = layout_make(&world->request, refusal);
    if (layout && layout_check(layout, &world->request, &err) < 0)
        fail_world(world, &err);
    if (!layout && !refusal->text)
        fail_msg("refused without a word\n%s", random_world_text(world));
    return layout;
}

/* Only words are refused for the hardware's sake. */
static bool word_is_missing(const struct error *refusal)
{
    return strstr(refusal->text, "no allocated node has that level") ||
           strstr(refusal->text, "smaller than a task's slot");
}

/* Was it placed? Takes what the world holds. */
static bool check_world(struct random_world *world)
{
    struct error refusal = ERROR_INIT, err = ERROR_INIT;
    struct layout *layout = make_checked(world, &refusal);
    bool placed = layout != NULL;
    if ((layout || !word_is_missing(&refusal)) && layout_compare(layout, &world->request, &err) < 0)
        fail_world(world, &err);
    layout_free(layout);
    error_clear(&refusal);
    random_world_free(world);
    return placed;
}

static void test_any_policy_on_any_nodes_gives_what_lama_says(void **state)
{
    uint64_t seed = 20111018;
    uint32_t placed = 0;
    (void)state;
    for (uint32_t i = 0; i < rounds(2000); i++) {
        struct random_world world;
        random_world_make(&world, &seed);
        placed += check_world(&world);
    }
    assert_uint_in_range(placed, rounds(1000), rounds(1900));
}

static void test_any_policy_on_kinds_of_machines_gives_what_lama_says(void **state)
{
    static const char *const names[] = {"xeon",         "xeon-snc2", "epyc-nps1", "epyc-nps4",
                                        "mi300a",       "knl",       "laptop",    "offline",
                                        "grace-hopper", "boards",    "vm"};
    const char *dir = getenv("TPRUN_TEST_DATA");
    uint64_t seed = 8;
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct error err = ERROR_INIT;
        char *path = mem_format("%s/machines/%s.xml", dir ? dir : TEST_DATA_DIR, names[i]);
        struct topo *topo = topo_load_xml(path, &err);
        uint32_t placed = 0;
        if (!topo)
            fail_msg("%s", error_text(&err));
        for (uint32_t j = 0; j < rounds(50); j++) {
            struct random_world world;
            random_world_make_of(&world, topo, &seed);
            placed += check_world(&world);
        }
        assert_uint_in_range(placed, rounds(20), rounds(50) - 1);
        topo_free(topo);
        free(path);
    }
}

static void test_node_counts_and_host_limits_hold_too(void **state)
{
    uint64_t seed = 19;
    uint32_t placed = 0;
    (void)state;
    for (uint32_t i = 0; i < rounds(1000); i++) {
        struct random_world world;
        struct error refusal = ERROR_INIT;
        random_world_make(&world, &seed);
        for (uint32_t j = 0; j < world.request.nnodes; j++)
            world.nodes[j].limit = random_below(&seed, 8);
        world.request.node_count = random_below(&seed, world.request.nnodes + 1);
        struct layout *layout = make_checked(&world, &refusal);
        placed += layout != NULL;
        layout_free(layout);
        error_clear(&refusal);
        random_world_free(&world);
    }
    assert_true(placed > rounds(250));
}

static void put_text(void *out, const char *text)
{
    buf_add_text(out, text);
}

static char *json_text(const struct random_world *world)
{
    struct error err = ERROR_INIT;
    struct layout *layout = layout_make(&world->request, &err);
    if (!layout) {
        char *text = err.text;
        return text;
    }
    struct buf out = BUF_INIT;
    layout_print_json(layout, &world->request, NULL, put_text, &out);
    layout_free(layout);
    return buf_take_text(&out);
}

/* The second request is made anew, so that nothing can hang on an address. */
static void test_the_same_request_gives_the_same_bytes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < rounds(200); i++) {
        uint64_t seed = i, again = i;
        struct random_world first, second;
        random_world_make(&first, &seed);
        random_world_make(&second, &again);
        char *a = json_text(&first), *b = json_text(&second);
        assert_string_equal(a, b);
        free(a);
        free(b);
        random_world_free(&first);
        random_world_free(&second);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_policy_on_any_nodes_gives_what_lama_says),
        cmocka_unit_test(test_any_policy_on_kinds_of_machines_gives_what_lama_says),
        cmocka_unit_test(test_node_counts_and_host_limits_hold_too),
        cmocka_unit_test(test_the_same_request_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
