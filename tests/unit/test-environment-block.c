#include <string.h>

#include "base/string_list.h"
#include "launcher/protocol/environment_block.h"
#include "tests/unit/unit.h"

static json_t *read_bytes(const char *bytes, size_t len, char ***environment, struct error *err)
{
    struct frame frame = {.type = FRAME_PROGRAM, .bytes = bytes, .len = len};
    return environment_block_read(&frame, environment, err);
}

static void expect_round_trip(char *const *sent, size_t count)
{
    struct buf message = BUF_INIT;
    json_t *value = json_pack("{s:s}", "spec", "a\0b"), *back;
    char **got = NULL;
    environment_block_write(&message, value, sent);
    back = read_bytes(buf_bytes(&message), message.len, &got, NULL);
    assert_true(json_equal(value, back));
    for (size_t i = 0; i < count; i++)
        assert_string_equal(got[i], sent[i]);
    assert_null(got[count]);
    string_list_free(got);
    json_decref(value);
    json_decref(back);
    buf_free(&message);
}

static void test_an_environment_comes_back_byte_for_byte(void **state)
{
    char texts[][16] = {"A=1", "EMPTY=", "EQUALS==a=b", "LINES=a\nb\n", "LATIN=\xe4\xff"};
    char *const any[] = {texts[0], texts[1], texts[2], texts[3], texts[4], NULL};
    char *const none[] = {NULL};
    (void)state;
    expect_round_trip(any, 5);
    expect_round_trip(none, 0);
    expect_round_trip(NULL, 0);
}

static void test_json_alone_has_no_environment(void **state)
{
    char **environment = NULL;
    json_t *value = read_bytes("{}", 2, &environment, NULL);
    (void)state;
    assert_true(json_is_object(value));
    assert_non_null(environment);
    assert_null(environment[0]);
    string_list_free(environment);
    json_decref(value);
}

static void test_what_is_no_such_message_is_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *why;
    } cases[] = {
        {"", 0, "frame of type"},
        {"{\0A=1\0", 6, "frame of type"},
        {"{}\0A=1", 6, "cut off"},
        {"{}\0A=1\0B", 8, "cut off"},
        {"{}\0A\0", 5, "\"A\" is not NAME=VALUE"},
        {"{}\0=1\0", 6, "\"=1\" is not NAME=VALUE"},
        {"{}\0\0", 4, "\"\" is not NAME=VALUE"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        char **environment = NULL;
        assert_null(read_bytes(cases[i].bytes, cases[i].len, &environment, &err));
        assert_null(environment);
        if (!strstr(error_text(&err), cases[i].why))
            fail_msg("case %zu: \"%s\"", i, error_text(&err));
        error_clear(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_environment_comes_back_byte_for_byte),
        cmocka_unit_test(test_json_alone_has_no_environment),
        cmocka_unit_test(test_what_is_no_such_message_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
