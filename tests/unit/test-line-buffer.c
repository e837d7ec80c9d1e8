#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/stdio/line_buffer.h"
#include "tests/unit/unit.h"

struct seen {
    struct buf text; /* every piece, then | or (unfinished) > */
    struct buf all;
    size_t longest;
    int empty;
};

static void see(void *arg, const char *bytes, size_t len, bool unfinished)
{
    struct seen *seen = arg;
    buf_add(&seen->text, bytes, len);
    buf_add_char(&seen->text, unfinished ? '>' : '|');
    buf_add(&seen->all, bytes, len);
    seen->longest = len > seen->longest ? len : seen->longest;
    seen->empty += !len;
}

static void seen_free(struct seen *seen)
{
    buf_free(&seen->text);
    buf_free(&seen->all);
}

static const struct {
    const char *feeds[6];
    bool raw;
    const char *expected;
} cases[] = {
    {{"a\n"}, false, "a\n|"},
    {{"a\nb\nc\n"}, false, "a\nb\nc\n|"},
    {{"a\nb"}, false, "a\n|b|"},
    {{"a", "b", "c\n"}, false, "abc\n|"},
    {{"a", "b\nc\nd", "e"}, false, "ab\n|c\n|de|"},
    {{"\n\n", "\n"}, false, "\n\n|\n|"},
    {{"", "x", "", "\n"}, false, "x\n|"},
    {{"", ""}, false, ""},
    {{"no end"}, false, "no end|"},
    {{"a\rb", "\r\n"}, false, "a\r|b\r\n|"},
    {{"a\nb\rc", "d\r", "e"}, false, "a\nb\r|cd\r|e|"},
    {{"a\r", "\n"}, false, "a\r|\n|"},
    {{"a\rb\nc"}, false, "a\rb\n|c|"},
    {{"a", "b\n", "c"}, true, "a>b\n|c>"},
    {{"a\nb", "\n"}, true, "a\nb>\n|"},
};

static void test_lines_are_passed_on_when_they_are_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct line_buffer lines;
        struct seen seen = {BUF_INIT, BUF_INIT};
        line_buffer_init(&lines, cases[i].raw);
        for (size_t j = 0; j < 6 && cases[i].feeds[j]; j++)
            line_buffer_feed(&lines, cases[i].feeds[j], strlen(cases[i].feeds[j]), see, &seen);
        line_buffer_end(&lines, see, &seen);
        assert_string_equal(buf_text(&seen.text), cases[i].expected);
        assert_int_equal(seen.empty, 0);
        line_buffer_free(&lines);
        seen_free(&seen);
    }
}

/* A line of `len` bytes and its newline, fed `step` bytes at a time. */
static void feed_long_line(struct line_buffer *lines, size_t len, size_t step, struct seen *seen)
{
    char *line = mem_alloc(len + 1);
    memset(line, 'x', len);
    line[len] = '\n';
    for (size_t at = 0; at < len + 1; at += step)
        line_buffer_feed(lines, line + at, step < len + 1 - at ? step : len + 1 - at, see, seen);
    free(line);
}

static size_t count_of(const struct buf *text, char c)
{
    size_t count = 0;
    for (size_t i = 0; i < text->len; i++)
        count += buf_bytes(text)[i] == c;
    return count;
}

static void test_long_lines_come_in_pieces_of_which_the_last_is_finished(void **state)
{
    static const size_t lengths[] = {LINE_BUFFER_MAX - 2,     LINE_BUFFER_MAX - 1,
                                     LINE_BUFFER_MAX,         LINE_BUFFER_MAX + 1,
                                     2 * LINE_BUFFER_MAX - 1, 3 * LINE_BUFFER_MAX + 17};
    static const size_t steps[] = {1, 4096, 65535, 65536, 65537, 1 << 20};
    (void)state;
    for (size_t i = 0; i < 36; i++) {
        size_t len = lengths[i / 6];
        struct line_buffer lines;
        struct seen seen = {BUF_INIT, BUF_INIT};
        line_buffer_init(&lines, false);
        feed_long_line(&lines, len, steps[i % 6], &seen);
        assert_int_equal(seen.all.len, len + 1);
        assert_true(seen.longest <= LINE_BUFFER_MAX);
        assert_int_equal(count_of(&seen.text, '>'), len / LINE_BUFFER_MAX);
        assert_int_equal(count_of(&seen.text, '|'), 1);
        assert_false(lines.inside);
        assert_int_equal(lines.rest.len, 0);
        line_buffer_free(&lines);
        seen_free(&seen);
    }
}

static void test_the_end_of_a_long_last_line_is_not_empty(void **state)
{
    struct line_buffer lines;
    struct seen seen = {BUF_INIT, BUF_INIT};
    char *text = mem_alloc(2 * LINE_BUFFER_MAX);
    (void)state;
    line_buffer_init(&lines, false);
    line_buffer_feed(&lines, text, 2 * LINE_BUFFER_MAX, see, &seen);
    assert_int_equal(seen.all.len, LINE_BUFFER_MAX);
    assert_true(lines.inside);
    line_buffer_end(&lines, see, &seen);
    assert_int_equal(seen.all.len, 2 * LINE_BUFFER_MAX);
    assert_int_equal(buf_bytes(&seen.text)[seen.text.len - 1], '|');
    assert_int_equal(seen.empty, 0);
    line_buffer_free(&lines);
    seen_free(&seen);
    free(text);
}

static void test_what_was_idle_is_passed_on_and_its_line_goes_on(void **state)
{
    struct line_buffer lines;
    struct seen seen = {BUF_INIT, BUF_INIT};
    (void)state;
    line_buffer_init(&lines, false);
    line_buffer_feed(&lines, "a\nname? ", 8, see, &seen);
    assert_string_equal(buf_text(&seen.text), "a\n|");
    line_buffer_idle(&lines, see, &seen);
    line_buffer_idle(&lines, see, &seen);
    assert_string_equal(buf_text(&seen.text), "a\n|name? |");
    line_buffer_feed(&lines, "b", 1, see, &seen);
    line_buffer_feed(&lines, "c\nd", 3, see, &seen);
    line_buffer_end(&lines, see, &seen);
    line_buffer_idle(&lines, see, &seen);
    assert_string_equal(buf_text(&seen.text), "a\n|name? |bc\n|d|");
    assert_int_equal(seen.empty, 0);
    line_buffer_free(&lines);
    seen_free(&seen);
}

static void test_any_bytes_are_kept_NULs_included(void **state)
{
    struct line_buffer lines;
    struct seen seen = {BUF_INIT, BUF_INIT};
    char all[256];
    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    line_buffer_init(&lines, false);
    line_buffer_feed(&lines, all, 256, see, &seen);
    line_buffer_end(&lines, see, &seen);
    assert_int_equal(seen.all.len, 256);
    assert_memory_equal(buf_bytes(&seen.all), all, 256);
    line_buffer_free(&lines);
    seen_free(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_passed_on_when_they_are_whole),
        cmocka_unit_test(test_long_lines_come_in_pieces_of_which_the_last_is_finished),
        cmocka_unit_test(test_the_end_of_a_long_last_line_is_not_empty),
        cmocka_unit_test(test_what_was_idle_is_passed_on_and_its_line_goes_on),
        cmocka_unit_test(test_any_bytes_are_kept_NULs_included),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
