#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tests/unit/unit.h"

static void test_an_excerpt_is_quoted_short_and_printable(void **state)
{
    char text[200];
    (void)state;
    assert_string_equal(excerpt("numa", 4).text, "\"numa\"");
    assert_string_equal(excerpt("a\n\x1b[31m\x7f", 8).text, "\"a\\x0a\\x1b[31m\\u007f\"");
    memset(text, 'x', sizeof(text));
    struct excerpt cut = excerpt(text, sizeof(text));
    assert_int_equal(strlen(cut.text), EXCERPT_MAX + 5);
    assert_string_equal(cut.text + EXCERPT_MAX, "x\"...");
    memset(text, '\x7f', sizeof(text));
    cut = excerpt(text, sizeof(text));
    assert_int_equal(strlen(cut.text), PRINTABLE_GROWTH * EXCERPT_MAX + 5);
    assert_string_equal(cut.text + strlen(cut.text) - 5, "f\"...");
}

static void test_a_pointer_stands_under_its_byte(void **state)
{
    (void)state;
    assert_string_equal(pointer("csxnh", 5, 2).text, "\n  csxnh\n    ^");
    assert_string_equal(pointer("csxnh", 5, 5).text, "\n  csxnh\n       ^");
    assert_string_equal(pointer("", 0, 0).text, "\n  \n  ^");
    assert_string_equal(pointer("\t\xc3\xa4x", 4, 3).text, "\n  ???x\n     ^");
}

/* Every place in a long text: the caret is under it, and no line is wider than a terminal. */
static void test_of_long_texts_the_surroundings_are_shown(void **state)
{
    char text[300];
    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)('a' + i % 26);
    for (size_t len = 55; len <= sizeof(text); len += 49)
        for (size_t at = 0; at <= len; at++) {
            struct pointer out = pointer(text, len, at);
            char *second = strrchr(out.text, '\n'), *caret = strchr(second, '^');
            size_t column = (size_t)(caret - second);
            assert_true(strlen(second) <= 70 && second - out.text <= 70);
            assert_string_equal(caret, "^");
            if (at < len)
                assert_int_equal(out.text[column], text[at]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_excerpt_is_quoted_short_and_printable),
        cmocka_unit_test(test_a_pointer_stands_under_its_byte),
        cmocka_unit_test(test_of_long_texts_the_surroundings_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
