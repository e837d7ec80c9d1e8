#include <stdio.h>

#include "affinity/resource/rset.h"
#include "affinity/sets/host_index.h"
#include "tests/unit/unit.h"

static void test_a_host_has_the_value_that_it_got_first(void **state)
{
    struct host_index *index = host_index_new(0);
    (void)state;
    assert_int_equal(host_index_add(index, "a", 7), HOST_INDEX_NONE);
    assert_int_equal(host_index_add(index, "b", 0), HOST_INDEX_NONE);
    assert_int_equal(host_index_add(index, "a", 9), 7);
    assert_int_equal(host_index_find(index, "a"), 7);
    assert_int_equal(host_index_find(index, "b"), 0);
    assert_int_equal(host_index_find(index, "c"), HOST_INDEX_NONE);
    assert_int_equal(host_index_find(index, ""), HOST_INDEX_NONE);
    assert_int_equal(host_index_find(NULL, "a"), HOST_INDEX_NONE);
    host_index_free(index);
    host_index_free(NULL);
}

static void test_many_hosts_are_found(void **state)
{
    static char names[5000][12];
    struct host_index *index = host_index_new(10);
    (void)state;
    for (size_t i = 0; i < 5000; i++) {
        snprintf(names[i], sizeof(names[i]), "node%zu", i);
        assert_int_equal(host_index_add(index, names[i], i), HOST_INDEX_NONE);
    }
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(host_index_find(index, names[i]), i);
    host_index_free(index);
}

static void test_an_index_of_a_resource_set_has_the_first_node_of_each_host(void **state)
{
    struct rset *set = rset_new();
    struct idset *cores = idset_new(), *gpus = idset_new();
    (void)state;
    idset_add_range(cores, 0, 3);
    rset_append(set, 0, "a", cores, gpus);
    rset_append(set, 3, "b", cores, gpus);
    rset_append(set, 4, "a", cores, gpus);
    struct host_index *index = rset_host_index(set);
    assert_int_equal(host_index_find(index, "a"), 0);
    assert_int_equal(host_index_find(index, "b"), 1);
    host_index_free(index);
    idset_free(cores);
    idset_free(gpus);
    rset_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_host_has_the_value_that_it_got_first),
        cmocka_unit_test(test_many_hosts_are_found),
        cmocka_unit_test(test_an_index_of_a_resource_set_has_the_first_node_of_each_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
