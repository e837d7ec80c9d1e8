#include <string.h>

#include "launcher/stdio/terminal_escape.h"
#include "tests/unit/unit.h"

static const struct story {
    const char *typed; /* in one piece, and byte by byte */
    const char *passed;
    const char *actions; /* . ? z in order */
} stories[] = {
    {"echo a\r", "echo a\r", ""},
    {"~.", "", "."},
    {"a~.", "a~.", ""},
    {"a\r~.", "a\r", "."},
    {"a\n~.b", "a\nb", "."},
    {"~~", "~", ""},
    {"~~.", "~.", ""},
    {"~~\r~.", "~\r", "."},
    {"~\r~.", "~\r", "."},
    {"~x~.", "~x~.", ""},
    {"~?~?", "", "??"},
    {"~\032ls\r", "ls\r", "z"},
    {"\r\r~~~?", "\r\r~~?", ""},
    {"cd ~\r", "cd ~\r", ""},
    {"~/bin\r", "~/bin\r", ""},
    {"", "", ""},
};

static void type(struct terminal_escape *escape, const char *bytes, size_t len, struct buf *passed,
                 struct buf *actions)
{
    static const char letters[] = {
        [TERMINAL_ESCAPE_END] = '.', [TERMINAL_ESCAPE_SUSPEND] = 'z', [TERMINAL_ESCAPE_HELP] = '?'};
    for (size_t at = 0, used; at < len; at += used) {
        enum terminal_escape_action action =
            terminal_escape_read(escape, bytes + at, len - at, &used, passed);
        assert_uint_in_range(used, 1, len - at);
        if (action)
            buf_add_char(actions, letters[action]);
        else
            assert_int_equal(used, len - at);
    }
}

static void test_what_is_typed_is_passed_but_for_escapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
        const struct story *story = &stories[i];
        size_t len = strlen(story->typed);
        for (size_t piece = 1; piece <= len + 1; piece++) {
            struct terminal_escape escape = {0};
            struct buf passed = BUF_INIT, actions = BUF_INIT;
            for (size_t at = 0; at < len; at += piece)
                type(&escape, story->typed + at, len - at < piece ? len - at : piece, &passed,
                     &actions);
            if (strcmp(buf_text(&passed), story->passed) != 0 ||
                strcmp(buf_text(&actions), story->actions) != 0)
                fail_msg("%zu, pieces of %zu: \"%s\" and %s", i, piece, buf_text(&passed),
                         buf_text(&actions));
            buf_free(&passed);
            buf_free(&actions);
        }
    }
}

static void test_bytes_of_any_value_go_through(void **state)
{
    char all[256];
    size_t used;
    struct terminal_escape escape = {.inside_line = true};
    struct buf passed = BUF_INIT;
    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    terminal_escape_read(&escape, all, sizeof(all), &used, &passed);
    assert_int_equal(used, sizeof(all));
    assert_int_equal(passed.len, sizeof(all));
    assert_memory_equal(buf_bytes(&passed), all, sizeof(all));
    buf_free(&passed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_typed_is_passed_but_for_escapes),
        cmocka_unit_test(test_bytes_of_any_value_go_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
