#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/protocol/control_answer.h"
#include "launcher/protocol/control_request.h"
#include "tests/unit/unit.h"

static json_t *value_of(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    if (!value)
        fail_msg("%s: not JSON", text);
    return value;
}

static void check_text(json_t *value, const char *text)
{
    char *got = json_dumps(value, JSON_COMPACT);
    assert_string_equal(got, text);
    free(got);
    json_decref(value);
}

/* ---- requests ---- */

static void test_a_request_is_read_as_it_was_written(void **state)
{
    static const char *const requests[] = {
        "{\"version\":1,\"method\":\"signal\",\"number\":15}",
        "{\"version\":1,\"method\":\"signal\",\"number\":64,\"ranks\":\"0-3,7\"}",
        "{\"version\":1,\"method\":\"terminate\"}",
        "{\"version\":1,\"method\":\"terminate\",\"grace\":0.0}",
        "{\"version\":1,\"method\":\"terminate\",\"grace\":2.5}",
        "{\"version\":1,\"method\":\"terminate\",\"grace\":\"inf\"}",
        "{\"version\":1,\"method\":\"ps\"}",
        "{\"version\":1,\"method\":\"save\"}",
        "{\"version\":1,\"method\":\"input\"}",
        "{\"version\":1,\"method\":\"input\",\"ranks\":\"3\"}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        struct control_request request;
        json_t *value = value_of(requests[i]);
        assert_int_equal(control_request_from_json(&request, value, NULL), 0);
        check_text(control_request_to_json(&request), requests[i]);
        control_request_clear(&request);
        json_decref(value);
    }
}

static void test_what_is_no_request_is_refused_with_a_sentence(void **state)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"7", "expected an object"},
        {"[]", "expected an object"},
        {"{}", "version: expected 1, as of the tprun that runs the program"},
        {"{\"version\":2,\"method\":\"ps\"}",
         "version: expected 1, as of the tprun that runs the program"},
        {"{\"version\":1}", "method: expected a word"},
        {"{\"version\":1,\"method\":3}", "method: expected a word"},
        {"{\"version\":1,\"method\":\"signals\"}", "unknown method \"signals\""},
        {"{\"version\":1,\"method\":\"signal\"}", "number: expected a signal from 1 to 64"},
        {"{\"version\":1,\"method\":\"signal\",\"number\":0}",
         "number: expected a signal from 1 to 64"},
        {"{\"version\":1,\"method\":\"signal\",\"number\":65}",
         "number: expected a signal from 1 to 64"},
        {"{\"version\":1,\"method\":\"signal\",\"number\":\"TERM\"}",
         "number: expected a signal from 1 to 64"},
        {"{\"version\":1,\"method\":\"signal\",\"number\":9,\"ranks\":3}",
         "ranks: expected a set of numbers"},
        {"{\"version\":1,\"method\":\"signal\",\"number\":9,\"ranks\":\"\"}",
         "ranks: expected at least one"},
        {"{\"version\":1,\"method\":\"terminate\",\"grace\":-1}",
         "grace: expected seconds, 0 or more"},
        {"{\"version\":1,\"method\":\"terminate\",\"grace\":\"soon\"}",
         "grace: expected seconds, 0 or more"},
        {"{\"version\":1,\"method\":\"terminate\",\"grace\":[]}",
         "grace: expected seconds, 0 or more"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct control_request request;
        struct error err = ERROR_INIT;
        json_t *value = value_of(cases[i].text);
        assert_int_equal(control_request_from_json(&request, value, &err), -1);
        assert_string_equal(error_text(&err), cases[i].sentence);
        control_request_clear(&request);
        error_clear(&err);
        json_decref(value);
    }
}

static void test_ranks_that_are_no_set_are_named(void **state)
{
    struct control_request request;
    struct error err = ERROR_INIT;
    json_t *value =
        value_of("{\"version\":1,\"method\":\"signal\",\"number\":9,\"ranks\":\"3-1\"}");
    (void)state;
    assert_int_equal(control_request_from_json(&request, value, &err), -1);
    assert_memory_equal(error_text(&err), "ranks: ", 7);
    control_request_clear(&request);
    error_clear(&err);
    json_decref(value);
}

/* ---- answers ---- */

static void test_an_answer_is_read_as_it_was_written(void **state)
{
    static const char *const answers[] = {
        "{\"status\":0}",
        "{\"status\":4,\"error\":\"it is complete\"}",
        "{\"status\":0,\"reached\":\"0-2\",\"missed\":[[\"3\",\"ended\"]],\"silent\":\"n[3-4]\"}",
        ("{\"status\":0,\"nodes\":[{\"ranks\":\"0-1\",\"pids\":[7,8],\"states\":\"RS\","
         "\"cpu_ms\":[10,20],\"memory_kib\":[1,2],\"waiting\":\"2\",\"host\":\"n0\"}]}"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct control_answer answer;
        json_t *value = value_of(answers[i]);
        assert_int_equal(control_answer_from_json(&answer, value, NULL), 0);
        check_text(control_answer_to_json(&answer), answers[i]);
        control_answer_clear(&answer);
        json_decref(value);
    }
}

static void test_what_is_no_answer_is_refused(void **state)
{
    static const char *const answers[] = {
        "{}",
        "[]",
        "{\"status\":\"0\"}",
        "{\"status\":256}",
        "{\"status\":-1,\"error\":\"a\"}",
        "{\"status\":1}",
        "{\"status\":0,\"reached\":\"x\"}",
        "{\"status\":0,\"missed\":[[\"3\"]]}",
        "{\"status\":0,\"missed\":[3]}",
        "{\"status\":0,\"nodes\":[{}]}",
        "{\"status\":0,\"nodes\":[{\"host\":\"n0\"}]}",
        "{\"status\":0,\"nodes\":[{\"host\":\"n0\",\"ranks\":\"0-2147483647\"}]}",
        "{\"status\":0,\"nodes\":[{\"host\":\"n0\",\"ranks\":\"0-1\",\"pids\":[1]}]}",
        "{\"status\":0,\"nodes\":[{\"host\":\"n0\",\"ranks\":\"0\",\"pids\":[1],\"states\":\"\","
        "\"cpu_ms\":[1],\"memory_kib\":[1]}]}",
        "{\"status\":0,\"nodes\":[{\"host\":\"n0\",\"ranks\":\"0\",\"pids\":[-1],\"states\":\"R\","
        "\"cpu_ms\":[1],\"memory_kib\":[1]}]}",
        "{\"status\":0,\"nodes\":[{\"host\":\"n0\",\"ranks\":\"0\",\"pids\":[1],\"states\":\"7\","
        "\"cpu_ms\":[1],\"memory_kib\":[1]}]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct control_answer answer;
        struct error err = ERROR_INIT;
        json_t *value = value_of(answers[i]);
        if (control_answer_from_json(&answer, value, &err) == 0)
            fail_msg("taken: %s", answers[i]);
        assert_non_null(err.text);
        control_answer_clear(&answer);
        error_clear(&err);
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_is_read_as_it_was_written),
        cmocka_unit_test(test_what_is_no_request_is_refused_with_a_sentence),
        cmocka_unit_test(test_ranks_that_are_no_set_are_named),
        cmocka_unit_test(test_an_answer_is_read_as_it_was_written),
        cmocka_unit_test(test_what_is_no_answer_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
