#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "launcher/ledger/private_directory.h"
#include "launcher/ledger/topology_cache.h"
#include "tests/unit/unit.h"

static char *world;
static struct instance *instance;

static int make_world(void **state)
{
    char name[] = "/tmp/test-atlas-XXXXXX";
    (void)state;
    world = strdup(mkdtemp(name));
    setenv("TPRUN_RUNTIME_DIR", world, 1);
    instance = instance_open("this machine", NULL);
    return instance ? 0 : -1;
}

static int end_world(void **state)
{
    (void)state;
    instance_close(instance);
    directory_remove(AT_FDCWD, world);
    free(world);
    return 0;
}

static void put(struct atlas *atlas, const char *host, const char *description)
{
    struct topo *topo = topo_load_synthetic(description, NULL);
    char *digest = topo_digest(topo);
    atlas_put(atlas, host, topo, digest);
    free(digest);
    topo_free(topo);
}

static uint32_t cores(struct atlas *atlas, const char *host)
{
    struct topo *topo = atlas_topo(atlas, host);
    return topo ? topo->count[TOPO_CORE] : 0;
}

static void save(struct atlas *atlas)
{
    struct error err = ERROR_INIT;
    if (atlas_save(atlas, &err) < 0)
        fail_msg("%s", error_text(&err));
}

static void test_nothing_is_known_at_first(void **state)
{
    struct atlas *atlas = atlas_open(instance);
    (void)state;
    assert_null(atlas_topo(atlas, "a"));
    assert_null(atlas_digest(atlas, "a"));
    save(atlas);
    assert_int_equal(access(instance_path(instance), R_OK), 0);
    atlas_free(atlas);
}

static void test_what_is_saved_is_known_to_the_next(void **state)
{
    struct atlas *atlas = atlas_open(instance), *next;
    (void)state;
    put(atlas, "a0", "core:4 pu:1");
    put(atlas, "a1", "core:4 pu:1");
    put(atlas, "b", "core:2 pu:2");
    save(atlas);
    next = atlas_open(instance);
    assert_int_equal(cores(next, "a0"), 4);
    assert_ptr_equal(atlas_topo(next, "a0"), atlas_topo(next, "a1"));
    assert_int_equal(cores(next, "b"), 2);
    assert_string_equal(atlas_digest(next, "b"), atlas_digest(atlas, "b"));
    assert_null(atlas_topo(next, "c"));
    atlas_free(next);
    atlas_free(atlas);
}

static void test_a_host_that_has_changed_is_as_it_was_last(void **state)
{
    struct atlas *atlas = atlas_open(instance);
    (void)state;
    put(atlas, "a", "core:4 pu:1");
    save(atlas);
    put(atlas, "a", "core:8 pu:1");
    assert_int_equal(cores(atlas, "a"), 8);
    save(atlas);
    atlas_free(atlas);
    atlas = atlas_open(instance);
    assert_int_equal(cores(atlas, "a"), 8);
    atlas_free(atlas);
}

static void test_two_that_save_at_once_lose_nothing(void **state)
{
    struct atlas *one = atlas_open(instance), *two = atlas_open(instance);
    (void)state;
    put(one, "a", "core:4 pu:1");
    put(two, "b", "core:2 pu:1");
    save(one);
    save(two);
    atlas_free(one);
    atlas_free(two);
    one = atlas_open(instance);
    assert_int_equal(cores(one, "a"), 4);
    assert_int_equal(cores(one, "b"), 2);
    atlas_free(one);
}

/* It is a cache: what cannot be read is not there, and is written anew. */
static void test_a_damaged_file_counts_as_none(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "7",
        "{\"version\":2,\"nodes\":[]}",
        "{\"version\":1,\"nodes\":7}",
        "{\"version\":1,\"nodes\":[7,{},{\"hosts\":\"a\"},{\"hosts\":\"a[\",\"topology\":{}}]}",
        "{\"version\":1,\"nodes\":[{\"hosts\":\"a\",\"digest\":\"x\",\"topology\":{}}]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int dir = open(instance_path(instance), O_RDONLY | O_DIRECTORY);
        assert_int_equal(store_write(dir, "topologies.json", texts[i], strlen(texts[i])), 0);
        close(dir);
        struct atlas *atlas = atlas_open(instance);
        assert_null(atlas_topo(atlas, "a"));
        put(atlas, "a", "core:4 pu:1");
        save(atlas);
        atlas_free(atlas);
        atlas = atlas_open(instance);
        assert_int_equal(cores(atlas, "a"), 4);
        atlas_free(atlas);
    }
}

int main(void)
{
#define ATLAS_TEST(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)
    const struct CMUnitTest tests[] = {
        ATLAS_TEST(test_nothing_is_known_at_first),
        ATLAS_TEST(test_what_is_saved_is_known_to_the_next),
        ATLAS_TEST(test_a_host_that_has_changed_is_as_it_was_last),
        ATLAS_TEST(test_two_that_save_at_once_lose_nothing),
        ATLAS_TEST(test_a_damaged_file_counts_as_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
