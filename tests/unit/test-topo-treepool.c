#include <stdlib.h>
#include <string.h>

#include "affinity/topology/topo_treepool.h"
#include "tests/unit/unit.h"

/* "@NAME" is a file of the test data, anything else a synthetic description. */
static struct topo *load(const char *machine)
{
    struct error err = ERROR_INIT;
    const char *dir = getenv("TPRUN_TEST_DATA");
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", dir ? dir : TEST_DATA_DIR, machine + 1);
    struct topo *topo =
        machine[0] == '@' ? topo_load_xml(path, &err) : topo_load_synthetic(machine, &err);
    if (!topo)
        fail_msg("%s: %s", machine, error_text(&err));
    return topo;
}

static void expect(const char *machine, const char *cores, const char *gpus, const char *localities)
{
    struct topo *topo = load(machine);
    struct idset *some_cores = cores ? idset_decode(cores, NULL) : NULL;
    struct idset *some_gpus = gpus ? idset_decode(gpus, NULL) : NULL;
    json_t *value = topo_to_treepool(topo, some_cores, some_gpus);
    char *text = json_dumps(value, JSON_COMPACT), *plain = text;
    for (char *at = text; (*at = *plain); plain++) /* easier to read without quotes */
        at += *at != '"';
    if (strcmp(text, localities) != 0)
        fail_msg("%s %s %s\n  is       %s\n  expected %s", machine, cores ? cores : "",
                 gpus ? gpus : "", text, localities);
    free(text);
    json_decref(value);
    idset_free(some_cores);
    idset_free(some_gpus);
    topo_free(topo);
}

static void test_levels_that_divide_nothing_more_are_left_out(void **state)
{
    (void)state;
    expect("core:4 pu:2", NULL, NULL, "{cores:0-3,memory:1}");
    expect("package:1 numa:1 core:4 pu:1", NULL, NULL, "{cores:0-3,memory:1}");
    expect("package:2 numa:1 core:2 pu:1", NULL, NULL,
           "{socket:[{cores:0-1,memory:1},{cores:2-3,memory:1}]}");
    expect("package:1 numa:2 core:2 pu:1", NULL, NULL,
           "{numa:[{cores:0-1,memory:1},{cores:2-3,memory:1}]}");
    expect("package:2 [numa(memory=1)] core:2 pu:1", NULL, NULL,
           "{socket:[{cores:0-1},{cores:2-3}]}");
}

static void test_the_larger_of_socket_and_numa_domain_is_outside(void **state)
{
    (void)state;
    expect("package:2 numa:2(memory=64GB) core:2 pu:2", NULL, NULL,
           "{socket:[{numa:[{cores:0-1,memory:59},{cores:2-3,memory:59}]},"
           "{numa:[{cores:4-5,memory:59},{cores:6-7,memory:59}]}]}");
    expect("numa:2 package:2 core:1 pu:1", NULL, NULL,
           "{numa:[{socket:[{cores:0},{cores:1}],memory:1},"
           "{socket:[{cores:2},{cores:3}],memory:1}]}");
    expect("[numa(memory=64GB)] package:2 core:2 pu:1", NULL, NULL,
           "{socket:[{cores:0-1},{cores:2-3}],memory:59}");
}

static void test_machines_are_as_they_were_built(void **state)
{
    (void)state;
    expect("@machines/xeon-snc2.xml", NULL, NULL,
           "{socket:[{numa:[{cores:0-3,memory:1},{cores:4-7,memory:1}]},"
           "{numa:[{cores:8-11,memory:1},{cores:12-15,memory:1}]}]}");
    expect("@machines/mi300a.xml", NULL, NULL,
           "{socket:[{cores:0-5},{cores:6-11},{cores:12-17},{cores:18-23}]}");
    expect("@topology-memoryless.xml", NULL, NULL,
           "{socket:[{numa:[{cores:0-1},{cores:2-3}]},{numa:[{cores:4-5},{cores:6-7}]}]}");
}

static void test_memory_that_is_no_domain_is_not_told(void **state)
{
    (void)state;
    expect("@machines/knl.xml", NULL, NULL, /* MCDRAM beside each DDR */
           "{numa:[{cores:0-3,memory:1},{cores:4-7,memory:1},{cores:8-11,memory:1},"
           "{cores:12-15,memory:1}]}");
    expect("@machines/grace-hopper.xml", NULL, NULL, /* the GPUs' own; 256 MiB of ordinary */
           "{socket:[{cores:0-7},{cores:8-15}]}");
    expect("@topology-memories.xml", NULL, NULL,
           "{socket:[{cores:0-1,memory:2},{cores:2-3,memory:1},{cores:4-5,memory:1},{cores:6-7}]}");
}

static void test_a_gpu_is_in_the_innermost_domain_around_what_it_is_next_to(void **state)
{
    (void)state;
    expect("@topology-gpu-amd.xml", NULL, NULL,
           "{numa:[{cores:0-15,gpus:4-5,memory:1},{cores:16-31,gpus:2-3,memory:1},"
           "{cores:32-47,gpus:6-7,memory:1},{cores:48-63,gpus:0-1,memory:1}]}");
    expect("@topology-gpu-intel.xml", NULL, NULL,
           "{socket:[{cores:0-51,gpus:0-2,memory:476},{cores:52-103,gpus:3-5,memory:476}]}");
}

static void test_only_what_is_wanted_is_told(void **state)
{
    (void)state;
    expect("package:2 numa:2 core:2 pu:2", "0,2-3", NULL,
           "{socket:[{numa:[{cores:0,memory:1},{cores:2-3,memory:1}]}]}");
    expect("package:2 numa:1 core:2 pu:1", "1-9", NULL,
           "{socket:[{cores:1,memory:1},{cores:2-3,memory:1}]}");
    expect("core:4 pu:1", "2", "5", "{cores:2,memory:1}");
    expect("@topology-gpu-intel.xml", "0-3", "1,4",
           "{socket:[{cores:0-3,gpus:1,memory:476}],gpus:4}");
    expect("@topology-gpu-intel.xml", "0-3,99", "",
           "{socket:[{cores:0-3,memory:476},{cores:99,memory:476}]}");
}

static void test_large_machines_take_no_time(void **state)
{
    (void)state;
    struct topo *topo = load("package:16 numa:4 core:64 pu:1");
    json_t *value = topo_to_treepool(topo, NULL, NULL);
    json_t *last = json_array_get(json_object_get(value, "socket"), 15);
    last = json_array_get(json_object_get(last, "numa"), 3);
    assert_string_equal(json_string_value(json_object_get(last, "cores")), "4032-4095");
    json_decref(value);
    topo_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_that_divide_nothing_more_are_left_out),
        cmocka_unit_test(test_the_larger_of_socket_and_numa_domain_is_outside),
        cmocka_unit_test(test_machines_are_as_they_were_built),
        cmocka_unit_test(test_memory_that_is_no_domain_is_not_told),
        cmocka_unit_test(test_a_gpu_is_in_the_innermost_domain_around_what_it_is_next_to),
        cmocka_unit_test(test_only_what_is_wanted_is_told),
        cmocka_unit_test(test_large_machines_take_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
