#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/protocol/task_report.h"
#include "tests/unit/unit.h"

static struct idset *set_of(const char *text)
{
    struct idset *set = idset_decode(text, NULL);
    assert_non_null(set);
    return set;
}

static void check_set(const struct idset *set, const char *text)
{
    char *got = idset_encode(set);
    assert_string_equal(got, text);
    free(got);
}

/* Takes the value. */
static void check_wire(json_t *value, const char *text)
{
    char *got = json_dumps(value, JSON_COMPACT);
    assert_string_equal(got, text);
    free(got);
    json_decref(value);
}

static json_t *value_of(const char *text)
{
    json_t *value = json_loads(text, 0, NULL);
    assert_non_null(value);
    return value;
}

static void test_failures_of_one_reason_are_one(void **state)
{
    struct prepared_report report = {0};
    (void)state;
    start_failures_add(&report.failed, 3, 32512, mem_copy_text("no such file"));
    start_failures_add(&report.failed, 4, 256, mem_copy_text("not beside the others"));
    start_failures_add(&report.failed, 1, 32512, mem_copy_text("no such file"));
    check_wire(
        prepared_report_to_json(&report),
        "{\"failed\":[[32512,\"no such file\",\"1,3\"],[256,\"not beside the others\",\"4\"]]}");
    prepared_report_clear(&report);
}

static void test_a_node_without_failures_says_nothing_of_them(void **state)
{
    struct prepared_report prepared = {0};
    struct started_report started = {0};
    (void)state;
    check_wire(prepared_report_to_json(&prepared), "{}");
    check_wire(started_report_to_json(&started), "{}");
}

static void test_a_prepared_report_arrives(void **state)
{
    struct prepared_report report = {0};
    json_t *value =
        value_of("{\"failed\": [[256, \"why\", \"2-3\"], [256, 5, \"7\"], [1, \"x\", \"y\"]],"
                 " \"mpis\": [[1, 0], [99999999999, 1]], \"host\": \"node1\"}");
    (void)state;
    prepared_report_from_json(&report, value);
    assert_int_equal(report.failed.count, 2); /* the third has no ranks */
    assert_string_equal(report.failed.list[0].text, "why");
    check_set(report.failed.list[0].ranks, "2-3");
    assert_null(report.failed.list[1].text);
    assert_int_equal(report.nmpis, 2);
    assert_true(report.mpis[1].family == 99999999999);
    assert_string_equal(report.host, "node1");
    prepared_report_clear(&report);
    json_decref(value);
}

static void test_bindings_arrive_until_one_is_malformed(void **state)
{
    struct started_report report = {0};
    struct error err = ERROR_INIT;
    json_t *value = value_of("{\"bindings\": [[\"0-1\", \"4\"], [\"x\", \"5\"], [\"2\", \"6\"]]}");
    (void)state;
    assert_int_equal(started_report_from_json(&report, value, &err), -1);
    assert_non_null(err.text);
    assert_int_equal(report.nbindings, 1);
    check_set(report.bindings[0].cpus, "0-1");
    check_set(report.bindings[0].ranks, "4");
    started_report_clear(&report);
    error_clear(&err);
    json_decref(value);
}

static void test_no_value_is_an_empty_started_report(void **state)
{
    struct started_report report = {0};
    (void)state;
    assert_int_equal(started_report_from_json(&report, NULL, NULL), 0);
    assert_int_equal(report.nbindings + report.failed.count, 0);
    started_report_clear(&report);
}

static void test_an_ended_report_keeps_its_words_when_its_time_is_turned(void **state)
{
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct ended_report report = {"exit", 256, "caf\xe9", set_of("5")}, got = {0};
    (void)state;
    ended_report_pack(&first, 1000, &report);
    struct frame frame = {.type = FRAME_ENDED, .bytes = buf_bytes(&first), .len = first.len};
    assert_true(ended_report_time(&frame) == 1000);
    ended_report_pack_at(&second, 7, &frame);
    struct frame turned = {.type = FRAME_ENDED, .bytes = buf_bytes(&second), .len = second.len};
    assert_true(ended_report_time(&turned) == 7);
    assert_int_equal(first.len, second.len);
    assert_memory_equal(buf_bytes(&first) + 8, buf_bytes(&second) + 8, first.len - 8);
    json_t *value = json_loadb(buf_bytes(&second) + 8, second.len - 8, 0, NULL);
    assert_int_equal(ended_report_from_json(&got, value), 0);
    assert_string_equal(got.why, "exit");
    assert_int_equal(got.status, 256);
    check_set(got.ranks, "5");
    ended_report_clear(&got);
    ended_report_clear(&report);
    json_decref(value);
    buf_free(&first);
    buf_free(&second);
}

static void test_a_malformed_ended_report_is_refused(void **state)
{
    static const char *const bad[] = {"{}", "{\"ranks\": \"1\", \"why\": 3, \"status\": 0}",
                                      "{\"ranks\": \"1\", \"why\": \"exit\"}"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct ended_report got = {0};
        json_t *value = value_of(bad[i]);
        assert_int_equal(ended_report_from_json(&got, value), -1);
        ended_report_clear(&got);
        json_decref(value);
    }
}

static void test_ranks_that_ended_in_the_same_way_are_merged(void **state)
{
    struct done_report report = {0}, below = {0};
    struct idset *more = set_of("4-5"), *silent = set_of("9");
    (void)state;
    done_report_add_rank(&report, 0, false, 1);
    done_report_add_rank(&report, 0, true, 2);
    done_report_add_rank(&report, 0, false, 0);
    done_report_add(&report, 0, false, more);
    done_report_add_silent(&report, silent);
    done_report_add_silent(&report, more);
    report.nodes = set_of("0-1");
    json_t *value = done_report_to_json(&report);
    done_report_from_json(&below, value);
    assert_int_equal(below.nexits, 2);
    check_set(below.exits[0].ranks, "0-1,4-5");
    assert_true(below.exits[1].killed_by_tprun);
    check_set(below.nodes, "0-1");
    check_wire(value, "{\"ends\":[[0,false,\"0-1,4-5\"],[0,true,\"2\"]],\"nodes\":\"0-1\","
                      "\"silent\":\"4-5,9\"}");
    done_report_clear(&below);
    done_report_clear(&report);
    idset_free(silent);
    idset_free(more);
}

static void test_process_ids_of_what_was_started_arrive(void **state)
{
    struct started_report report = {.pids = mem_copy_text("7-8,0")}, got = {0};
    json_t *value = started_report_to_json(&report);
    (void)state;
    assert_int_equal(started_report_from_json(&got, value, NULL), 0);
    assert_string_equal(got.pids, "7-8,0");
    started_report_clear(&report);
    started_report_clear(&got);
    json_decref(value);
}

static void add_usages(struct done_report *report, uint32_t first, uint32_t count)
{
    struct idset *ranks = idset_new();
    struct task_usages usages = {0};
    idset_add_range(ranks, first, first + count - 1);
    for (uint32_t rank = first + count; rank-- > first;) {
        struct task_usage one = {rank, {1000, 10 + rank, 20 + rank, 30, 40 + rank}};
        task_usages_add(&usages, &one);
    }
    done_report_add(report, 0, false, ranks);
    done_report_add_usage(report, 0, false, &usages);
    task_usages_clear(&usages);
    idset_free(ranks);
}

/* As it arrives; takes what is in the report. */
static void send_done(struct done_report *report)
{
    json_t *value = done_report_to_json(report);
    done_report_clear(report);
    *report = (struct done_report){0};
    done_report_from_json(report, value);
    json_decref(value);
}

static void test_what_tasks_used_arrives_for_each_or_from_least_to_most(void **state)
{
    struct done_report report = {0};
    (void)state;
    add_usages(&report, 3, 2);
    add_usages(&report, 0, 3);
    send_done(&report);
    assert_int_equal(report.nexits, 1);
    assert_int_equal(report.exits[0].usages.count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(report.exits[0].usages.list[i].rank, i);
        assert_true(report.exits[0].usages.list[i].columns[USAGE_MEMORY] == 40 + i);
    }
    add_usages(&report, 5, TASK_USAGES_MAX);
    send_done(&report);
    assert_null(report.exits[0].usages.list);
    assert_int_equal(report.exits[0].usages.count, 5 + TASK_USAGES_MAX);
    assert_true(report.exits[0].usages.least[USAGE_RAN] == 10);
    assert_true(report.exits[0].usages.most[USAGE_RAN] == 10 + 4 + TASK_USAGES_MAX);
    add_usages(&report, 2000, 1);
    assert_true(report.exits[0].usages.most[USAGE_RAN] == 2010);
    done_report_clear(&report);
}

static void test_malformed_usages_are_as_if_nothing_was_said(void **state)
{
    static const char *const bad[] = {"7",
                                      "[]",
                                      "[[1,2,3,4,5]]",
                                      "[[1,2,3,4,5],[1,2,3,4]]",
                                      "[[1,2,3,4,-5],[1,2,3,4,5]]",
                                      "{\"count\":0}",
                                      "{\"count\":2,\"least\":[1,2,3,4,5]}"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct done_report report = {0};
        char *text = mem_format("{\"ends\":[[0,false,\"1-2\",%s]],\"nodes\":\"0\"}", bad[i]);
        json_t *value = value_of(text);
        done_report_from_json(&report, value);
        assert_int_equal(report.nexits, 1);
        assert_int_equal(report.exits[0].usages.count, 0);
        done_report_clear(&report);
        json_decref(value);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures_of_one_reason_are_one),
        cmocka_unit_test(test_a_node_without_failures_says_nothing_of_them),
        cmocka_unit_test(test_a_prepared_report_arrives),
        cmocka_unit_test(test_bindings_arrive_until_one_is_malformed),
        cmocka_unit_test(test_no_value_is_an_empty_started_report),
        cmocka_unit_test(test_an_ended_report_keeps_its_words_when_its_time_is_turned),
        cmocka_unit_test(test_a_malformed_ended_report_is_refused),
        cmocka_unit_test(test_process_ids_of_what_was_started_arrive),
        cmocka_unit_test(test_what_tasks_used_arrives_for_each_or_from_least_to_most),
        cmocka_unit_test(test_malformed_usages_are_as_if_nothing_was_said),
        cmocka_unit_test(test_ranks_that_ended_in_the_same_way_are_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
