#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "launcher/protocol/remote_command_request.h"
#include "tests/unit/unit.h"

static const char *const words[] = {"attach", "--input=all", "a b", "n\xff", "", NULL};
static const struct remote_command_request whole = {
    .words = (char **)(uintptr_t)words,
    .streams = {COMMAND_STREAM_TERMINAL, COMMAND_STREAM_BYTES, COMMAND_STREAM_NONE},
    .merged = true,
    .terminal = (char *)(uintptr_t) "24x80 iutf8 intr=^C"};

static void a_command_is_taken_as_it_was_asked_for(void **state)
{
    struct error err = ERROR_INIT;
    struct remote_command_request request;
    (void)state;
    setenv("TPRUN_PROGRAM", "17", 1);
    setenv("TERM", "vt100", 1);
    unsetenv("NO_COLOR");
    json_t *value = remote_command_request_to_json(&whole);
    setenv("TPRUN_PROGRAM", "1", 1);
    setenv("TERM", "dumb", 1);
    setenv("NO_COLOR", "1", 1);
    if (remote_command_request_take(&request, value, &err) < 0)
        fail_msg("%s", error_text(&err));
    for (size_t i = 0; words[i]; i++)
        assert_string_equal(request.words[i], words[i]);
    assert_null(request.words[5]);
    assert_memory_equal(request.streams, whole.streams, sizeof(whole.streams));
    assert_true(request.merged);
    assert_string_equal(request.terminal, whole.terminal);
    assert_string_equal(getenv("TPRUN_PROGRAM"), "17");
    assert_string_equal(getenv("TERM"), "vt100");
    assert_null(getenv("NO_COLOR"));
    remote_command_request_clear(&request);
    json_decref(value);
}

static void assert_refused(json_t *value, const char *part)
{
    struct error err = ERROR_INIT;
    struct remote_command_request request;
    assert_int_equal(remote_command_request_take(&request, value, &err), -1);
    remote_command_request_clear(&request);
    if (!strstr(error_text(&err), part))
        fail_msg("expected \"%s\" in \"%s\"", part, error_text(&err));
    error_clear(&err);
    json_decref(value);
}

static json_t *with(const char *key, const char *text)
{
    json_t *value = remote_command_request_to_json(&whole);
    json_t *other = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(other);
    json_object_set_new(json_object_get(value, "command"), key, other);
    return value;
}

static void what_is_no_command_is_refused(void **state)
{
    static const struct {
        const char *key, *text, *said;
    } cases[] = {
        {"words", "1", "words: expected an array"},
        {"words", "[1]", "words: must be a string"},
        {"words", "[\"a\\u0000\"]", "words: must be a string without a zero byte"},
        {"streams", "[]", "streams: expected three of none, bytes and terminal"},
        {"streams", "[\"none\", \"none\", \"pipe\"]", "streams: expected three of"},
        {"terminal", "\"24x80 nonsense\"", "terminal: "},
        {"terminal", "1", "expected an object command"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_refused(with(cases[i].key, cases[i].text), cases[i].said);
    json_t *value = remote_command_request_to_json(&whole);
    json_object_del(json_object_get(value, "command"), "terminal");
    assert_refused(value, "streams: there is no terminal");
    value = remote_command_request_to_json(&whole);
    json_object_set_new(value, "command", json_array());
    assert_refused(value, "expected an object command");
    value = remote_command_request_to_json(&whole);
    json_object_set_new(value, "version", json_string("0.0.9"));
    assert_refused(value, "the instance runs tprun " PACKAGE_VERSION ", and this is tprun 0.0.9");
}

/* Whoever asks has no say in what else the command's process has. */
static void no_other_variable_is_set(void **state)
{
    struct remote_command_request request;
    (void)state;
    unsetenv("LD_PRELOAD");
    json_t *value = with("environment", "{\"LD_PRELOAD\": \"x.so\", \"TERM\": 4, \"TZ\": \"UTC\"}");
    assert_int_equal(remote_command_request_take(&request, value, NULL), 0);
    assert_null(getenv("LD_PRELOAD"));
    assert_null(getenv("TERM"));
    assert_string_equal(getenv("TZ"), "UTC");
    remote_command_request_clear(&request);
    json_decref(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_taken_as_it_was_asked_for),
        cmocka_unit_test(what_is_no_command_is_refused),
        cmocka_unit_test(no_other_variable_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
