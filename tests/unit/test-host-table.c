/* Hosts by number: their states, shared topologies, duplicates, failures. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/instance/host_table.h"

static struct topo *topo_of(const char *description)
{
    return topo_load_synthetic(description, NULL);
}

/* n0, n1, ... */
static struct host_table *table_of(size_t count)
{
    struct node_list *nodes = mem_alloc(sizeof(*nodes));
    nodes->list = mem_array(count, sizeof(*nodes->list));
    nodes->count = count;
    nodes->names = hostlist_new();
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%zu", i);
        hostlist_append(nodes->names, name);
        nodes->list[i].host = hostlist_nth(nodes->names, i);
        nodes->list[i].login = mem_format("me@n%zu", i);
        nodes->list[i].target = (uint32_t)i;
    }
    return host_table_new(nodes);
}

static void test_number_name_and_place_in_the_list_are_one(void **state)
{
    struct host_table *hosts = table_of(3);
    (void)state;
    assert_int_equal(host_count(hosts), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct host *host = host_at(hosts, i);
        assert_int_equal(host->number, i);
        assert_int_equal(host->state, HOST_UNUSED);
        assert_ptr_equal(host->node, &host_nodes(hosts)->list[i]);
        assert_ptr_equal(host_names(hosts)[i], host->node->host);
    }
    host_table_free(hosts);
}

static void test_awaited_hosts_are_counted(void **state)
{
    struct host_table *hosts = table_of(4);
    (void)state;
    assert_int_equal(host_awaited(NULL), 0);
    for (uint32_t i = 0; i < 4; i++)
        host_starting(hosts, i);
    host_starting(hosts, 3); /* twice is once */
    assert_int_equal(host_awaited(hosts), 4);
    assert_true(host_up(hosts, 0, topo_of("core:2 pu:1"), "m0"));
    assert_int_equal(host_awaited(hosts), 3);
    host_failed(hosts, 1, mem_copy_text("is down"), -1, true);
    assert_int_equal(host_awaited(hosts), 2);
    assert_false(host_up(hosts, 2, topo_of("core:2 pu:1"), "m0"));
    assert_int_equal(host_awaited(hosts), 1);
    host_lost(hosts, 0, "closed");
    assert_int_equal(host_awaited(hosts), 1);
    host_table_free(hosts);
}

static void assert_used(const struct host_table *hosts, const char *want)
{
    char *text = idset_encode(host_used(hosts));
    assert_string_equal(text, want);
    free(text);
}

static void test_hosts_that_are_used_are_told_from_the_others(void **state)
{
    struct host_table *hosts = table_of(9);
    struct topo *topo = topo_of("core:2 pu:1");
    (void)state;
    assert_used(hosts, "");
    host_starting(hosts, 4);
    host_starting(hosts, 1);
    host_known(hosts, 7, topo);
    assert_used(hosts, "1,4,7");
    host_up(hosts, 1, topo_ref(topo), "m");
    host_up(hosts, 4, topo_ref(topo), "m"); /* a duplicate */
    host_failed(hosts, 2, mem_copy_text("is down"), -1, true);
    assert_used(hosts, "1-2,4,7");
    host_lend(hosts, 5, topo);
    assert_used(hosts, "1-2,4-5,7");
    host_take_back(hosts);
    assert_used(hosts, "1-2,4,7");
    host_starting(hosts, 3);
    host_lend(hosts, 3, topo);
    host_take_back(hosts);
    assert_used(hosts, "1-4,7");
    topo_free(topo);
    host_table_free(hosts);
}

static void test_it_is_known_whether_any_failed(void **state)
{
    struct host_table *hosts = table_of(3);
    (void)state;
    assert_false(host_any_failed(hosts));
    for (int i = 0; i < 2; i++) {
        host_starting(hosts, 1);
        host_failed(hosts, 1, mem_copy_text("is down"), -1, true);
        assert_true(host_any_failed(hosts));
    }
    host_starting(hosts, 2);
    host_up(hosts, 2, topo_of("core:2 pu:1"), "m");
    host_lost(hosts, 2, "closed");
    host_failed(hosts, 2, mem_copy_text("is down"), -1, true);
    host_starting(hosts, 1);
    assert_true(host_any_failed(hosts));
    host_starting(hosts, 2);
    assert_false(host_any_failed(hosts));
    host_table_free(hosts);
}

static void test_equal_hosts_share_a_topology(void **state)
{
    struct host_table *hosts = table_of(3);
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        host_starting(hosts, i);
    assert_true(host_up(hosts, 1, topo_of("core:4 pu:1"), "m1"));
    assert_true(host_up(hosts, 0, topo_of("core:4 pu:1"), NULL)); /* which machine is not known */
    assert_true(host_up(hosts, 2, topo_of("core:2 pu:1"), "m2"));
    assert_ptr_equal(host_at(hosts, 0)->topo, host_at(hosts, 1)->topo);
    assert_ptr_not_equal(host_at(hosts, 2)->topo, host_at(hosts, 1)->topo);
    assert_string_equal(host_at(hosts, 0)->digest, host_at(hosts, 1)->digest);
    host_table_free(hosts);
}

static void test_a_second_name_of_a_machine_is_a_duplicate(void **state)
{
    struct host_table *hosts = table_of(3);
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        host_starting(hosts, i);
    assert_true(host_up(hosts, 2, topo_of("core:4 pu:1"), "m"));
    assert_false(host_up(hosts, 0, topo_of("core:4 pu:1"), "m"));
    assert_int_equal(host_at(hosts, 0)->state, HOST_DUPLICATE);
    assert_int_equal(host_at(hosts, 0)->same, 2);
    assert_null(host_at(hosts, 0)->topo);
    assert_null(host_at(hosts, 0)->failure);
    assert_true(host_up(hosts, 1, topo_of("core:4 pu:1"), "other"));
    host_table_free(hosts);
}

static void test_a_failure_names_the_host_once_and_is_forgotten_at_a_new_start(void **state)
{
    static const struct {
        const char *text, *line;
        double elapsed;
    } cases[] = {
        {"is down", "n0: is down", -1},
        {"n0: is down", "n0: is down", -1},
        {"n01: is down", "n0: n01: is down", -1},
        {"is down", "n0: is down (after 2.0 s)", 2},
    };
    struct host_table *hosts = table_of(1);
    const struct host *host = host_at(hosts, 0);
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        host_starting(hosts, 0);
        assert_null(host->failure);
        assert_false(host->unreached);
        host_failed(hosts, 0, mem_copy_text(cases[i].text), cases[i].elapsed, true);
        assert_int_equal(host->state, HOST_FAILED);
        assert_true(host->unreached);
        char *line = host_failure(hosts, 0);
        assert_string_equal(line, cases[i].line);
        free(line);
    }
    host_table_free(hosts);
}

static void test_a_lost_host_keeps_its_topology(void **state)
{
    struct host_table *hosts = table_of(1);
    (void)state;
    host_starting(hosts, 0);
    host_up(hosts, 0, topo_of("core:4 pu:1"), "m");
    host_lost(hosts, 0, "the link was closed");
    assert_int_equal(host_at(hosts, 0)->state, HOST_LOST);
    assert_non_null(host_at(hosts, 0)->topo);
    assert_string_equal(host_at(hosts, 0)->failure, "lost: the link was closed");
    host_table_free(hosts);
}

static void test_a_lost_host_may_fail_again_and_come_back_as_it_was(void **state)
{
    struct host_table *hosts = table_of(2);
    struct topo *other = topo_of("core:2 pu:1");
    (void)state;
    host_starting(hosts, 0);
    host_up(hosts, 0, topo_of("core:4 pu:1"), "m");
    const struct topo *topo = host_at(hosts, 0)->topo;
    host_lost(hosts, 0, "the link was closed");
    host_starting(hosts, 0);
    assert_int_equal(host_awaited(hosts), 1);
    host_failed(hosts, 0, mem_copy_text("is down"), -1, true);
    assert_int_equal(host_awaited(hosts), 0);
    assert_int_equal(host_at(hosts, 0)->state, HOST_LOST);
    assert_string_equal(host_at(hosts, 0)->failure, "is down");
    host_starting(hosts, 0);
    assert_true(host_is_changed(hosts, 0, other));
    assert_false(host_is_changed(hosts, 1, other));
    assert_false(host_is_changed(hosts, 0, topo));
    assert_true(host_up(hosts, 0, topo_of("core:4 pu:1"), "m"));
    assert_int_equal(host_at(hosts, 0)->state, HOST_UP);
    assert_ptr_equal(host_at(hosts, 0)->topo, topo);
    assert_null(host_at(hosts, 0)->failure);
    topo_free(other);
    host_table_free(hosts);
}

static void test_what_was_lent_is_taken_back_and_nothing_else(void **state)
{
    struct host_table *hosts = table_of(3);
    struct topo *topo = topo_of("core:4 pu:1");
    (void)state;
    host_known(hosts, 0, topo);
    host_lend(hosts, 2, topo);
    assert_ptr_equal(host_at(hosts, 2)->topo, topo);
    assert_int_equal(host_at(hosts, 2)->state, HOST_UNUSED);
    host_take_back(hosts);
    assert_ptr_equal(host_at(hosts, 0)->topo, topo);
    assert_null(host_at(hosts, 2)->topo);
    host_take_back(hosts);
    topo_free(topo);
    host_table_free(hosts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_name_and_place_in_the_list_are_one),
        cmocka_unit_test(test_awaited_hosts_are_counted),
        cmocka_unit_test(test_hosts_that_are_used_are_told_from_the_others),
        cmocka_unit_test(test_it_is_known_whether_any_failed),
        cmocka_unit_test(test_equal_hosts_share_a_topology),
        cmocka_unit_test(test_a_second_name_of_a_machine_is_a_duplicate),
        cmocka_unit_test(test_a_failure_names_the_host_once_and_is_forgotten_at_a_new_start),
        cmocka_unit_test(test_a_lost_host_keeps_its_topology),
        cmocka_unit_test(test_a_lost_host_may_fail_again_and_come_back_as_it_was),
        cmocka_unit_test(test_what_was_lent_is_taken_back_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
