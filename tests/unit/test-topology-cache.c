#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/directory.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/ledger/private_directory.h"
#include "launcher/ledger/topology_cache.h"
#include "tests/unit/unit.h"

static char *world;
static struct instance *instance;

static int make_world(void **state)
{
    char name[] = "/tmp/test-topology-cache-XXXXXX";
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

static void put(struct topology_cache *cache, const char *host, const char *description)
{
    struct topo *topo = topo_load_synthetic(description, NULL);
    char *digest = topo_digest(topo);
    topology_cache_put(cache, host, topo, digest);
    free(digest);
    topo_free(topo);
}

static uint32_t cores(struct topology_cache *cache, const char *host)
{
    struct topo *topo = topology_cache_topo(cache, host);
    return topo ? topo->count[TOPO_CORE] : 0;
}

static void save(struct topology_cache *cache)
{
    struct error err = ERROR_INIT;
    if (topology_cache_save(cache, &err) < 0)
        fail_msg("%s", error_text(&err));
}

static void test_nothing_is_known_at_first(void **state)
{
    struct topology_cache *cache = topology_cache_open(instance);
    (void)state;
    assert_null(topology_cache_topo(cache, "a"));
    assert_null(topology_cache_digest(cache, "a"));
    save(cache);
    assert_int_equal(access(instance_path(instance), R_OK), 0);
    topology_cache_free(cache);
}

static void test_what_is_saved_is_known_to_the_next(void **state)
{
    struct topology_cache *cache = topology_cache_open(instance), *next;
    (void)state;
    put(cache, "a0", "core:4 pu:1");
    put(cache, "a1", "core:4 pu:1");
    put(cache, "b", "core:2 pu:2");
    save(cache);
    next = topology_cache_open(instance);
    assert_int_equal(cores(next, "a0"), 4);
    assert_ptr_equal(topology_cache_topo(next, "a0"), topology_cache_topo(next, "a1"));
    assert_int_equal(cores(next, "b"), 2);
    assert_string_equal(topology_cache_digest(next, "b"), topology_cache_digest(cache, "b"));
    assert_null(topology_cache_topo(next, "c"));
    topology_cache_free(next);
    topology_cache_free(cache);
}

static void test_a_host_that_has_changed_is_as_it_was_last(void **state)
{
    struct topology_cache *cache = topology_cache_open(instance);
    (void)state;
    put(cache, "a", "core:4 pu:1");
    save(cache);
    put(cache, "a", "core:8 pu:1");
    assert_int_equal(cores(cache, "a"), 8);
    save(cache);
    topology_cache_free(cache);
    cache = topology_cache_open(instance);
    assert_int_equal(cores(cache, "a"), 8);
    topology_cache_free(cache);
}

static void test_two_that_save_at_once_lose_nothing(void **state)
{
    struct topology_cache *one = topology_cache_open(instance),
                          *two = topology_cache_open(instance);
    (void)state;
    put(one, "a", "core:4 pu:1");
    put(two, "b", "core:2 pu:1");
    save(one);
    save(two);
    topology_cache_free(one);
    topology_cache_free(two);
    one = topology_cache_open(instance);
    assert_int_equal(cores(one, "a"), 4);
    assert_int_equal(cores(one, "b"), 2);
    topology_cache_free(one);
}

/* The first are looked for one by one, and the rest by an index. */
static void test_any_number_of_hosts_is_found(void **state)
{
    enum { HOSTS = 40 };
    struct topology_cache *cache = topology_cache_open(instance);
    (void)state;
    for (int i = 0; i < HOSTS; i++) {
        char host[24];
        snprintf(host, sizeof(host), "n%d", i);
        put(cache, host, i % 2 ? "core:4 pu:1" : "core:2 pu:1");
    }
    save(cache);
    topology_cache_free(cache);
    cache = topology_cache_open(instance);
    for (int i = HOSTS - 1; i >= -1; i--) {
        char host[24];
        snprintf(host, sizeof(host), "n%d", i);
        if (i < 0)
            assert_null(topology_cache_topo(cache, host));
        else
            assert_int_equal(cores(cache, host), i % 2 ? 4 : 2);
    }
    put(cache, "n7", "core:8 pu:1");
    put(cache, "late", "core:8 pu:1");
    assert_int_equal(cores(cache, "n7"), 8);
    assert_int_equal(cores(cache, "late"), 8);
    save(cache);
    topology_cache_free(cache);
    cache = topology_cache_open(instance);
    assert_int_equal(cores(cache, "n7"), 8);
    assert_int_equal(cores(cache, "n9"), 4);
    assert_int_equal(cores(cache, "late"), 8);
    topology_cache_free(cache);
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
        assert_int_equal(
            private_directory_write(dir, "topologies.json", texts[i], strlen(texts[i])), 0);
        close(dir);
        struct topology_cache *cache = topology_cache_open(instance);
        assert_null(topology_cache_topo(cache, "a"));
        put(cache, "a", "core:4 pu:1");
        save(cache);
        topology_cache_free(cache);
        cache = topology_cache_open(instance);
        assert_int_equal(cores(cache, "a"), 4);
        topology_cache_free(cache);
    }
}

/* Read once, used once; the second finds what it is used to. */
static void test_what_was_read_ahead_is_not_read_again(void **state)
{
    struct topology_cache *cache = topology_cache_open(instance), *first, *second;
    (void)state;
    put(cache, "a", "core:4 pu:1");
    put(cache, "b", "core:2 pu:1");
    save(cache);
    topology_cache_free(cache);

    topology_cache_read_ahead(instance);
    first = topology_cache_open(instance);
    second = topology_cache_open(instance);
    struct topo *topo = topology_cache_topo(first, "a");
    assert_int_equal(cores(first, "a"), 4);
    assert_int_equal(cores(first, "b"), 2);
    assert_null(topology_cache_topo(first, "c"));
    assert_int_equal(cores(second, "a"), 4);
    assert_ptr_not_equal(topology_cache_topo(second, "a"), topo);

    put(first, "c", "core:8 pu:1"); /* as any other it is saved */
    save(first);
    topology_cache_free(first);
    topology_cache_free(second);
    cache = topology_cache_open(instance);
    assert_int_equal(cores(cache, "c"), 8);
    topology_cache_free(cache);
}

/* In a process of its own: what was read ahead is of the process. */
static void in_a_process(void (*test)(void))
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        test();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define NEED(what)                                                                                 \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what);                             \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* The file has another host in the place of this one, and is as long. */
static void rename_a_host(void)
{
    size_t len;
    int dir = open(instance_path(instance), O_RDONLY | O_DIRECTORY);
    char *text = private_directory_read(dir, "topologies.json", 1 << 20, &len);
    char *host = strstr(text, "\"hosts\":\"a\"");
    NEED(host);
    host[9] = 'z';
    topology_cache_read_ahead(instance);
    NEED(private_directory_write(dir, "topologies.json", text, len) == 0);
    free(text);
    close(dir);
    struct topology_cache *cache = topology_cache_open(instance);
    NEED(cores(cache, "z") == 4);
    NEED(!topology_cache_topo(cache, "a"));
    topology_cache_free(cache);
}

static void test_what_has_changed_since_is_read_again(void **state)
{
    struct topology_cache *cache = topology_cache_open(instance);
    (void)state;
    put(cache, "a", "core:4 pu:1");
    save(cache);
    topology_cache_free(cache);
    in_a_process(rename_a_host);
}

int main(void)
{
#define TOPOLOGY_CACHE_TEST(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)
    const struct CMUnitTest tests[] = {
        TOPOLOGY_CACHE_TEST(test_nothing_is_known_at_first),
        TOPOLOGY_CACHE_TEST(test_what_is_saved_is_known_to_the_next),
        TOPOLOGY_CACHE_TEST(test_a_host_that_has_changed_is_as_it_was_last),
        TOPOLOGY_CACHE_TEST(test_two_that_save_at_once_lose_nothing),
        TOPOLOGY_CACHE_TEST(test_any_number_of_hosts_is_found),
        TOPOLOGY_CACHE_TEST(test_a_damaged_file_counts_as_none),
        TOPOLOGY_CACHE_TEST(test_what_has_changed_since_is_read_again),
        TOPOLOGY_CACHE_TEST(test_what_was_read_ahead_is_not_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
