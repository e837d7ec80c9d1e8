#include "tests/unit/unit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

static char *shown(const char *text, size_t len, enum printable_kind kind)
{
    struct buf out = BUF_INIT;
    printable_add(&out, text, len, kind);
    return buf_take_text(&out);
}

/* What is replaced, by what; NULL: it stays as it is. */
static void test_what_a_terminal_obeys_is_replaced(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", NULL},
        {"node3: a\\b \"c\"", NULL},
        {"n\xc3\xa4he \xe2\x82\xac \xf0\x9f\x98\x80", NULL},
        {"\xe4\xb8\x9b", NULL}, /* its last byte is that of U+009B */
        {"\x1b[31m", "\\x1b[31m"},
        {"a\rb\bc", "a\\x0db\\x08c"},
        {"\x7f", "\\u007f"},
        {"\xc2\x9b"
         "31m",
         "\\u009b31m"},
        {"\xc2\x80\xc2\x9f\xc2\xa0", "\\u0080\\u009f\xc2\xa0"},
        {"\x9b", "\\x9b"},
        {"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},
        {"\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf", "\\u202a\\u202e\xe2\x80\xaf"},
        {"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9", "\xe2\x81\xa5\\u2066\\u2069"},
        {"\xe2\x80\x8f\xd8\x9c", "\\u200f\\u061c"},
        {"\xef\xbf\xbd\xef\xbf\xbe", "\xef\xbf\xbd\\ufffe"},
        {"\xc3", "\\xc3"},                            /* cut off */
        {"\xe2\x82 x", "\\xe2\\x82 x"},               /* cut off by other text */
        {"\xc0\x9b", "\\xc0\\x9b"},                   /* longer than needed */
        {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},          /* the same of U+009B */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* a surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond U+10FFFF */
        {"\xff\xfe", "\\xff\\xfe"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *once = shown(cases[i].text, strlen(cases[i].text), PRINTABLE_WORD);
        char *twice = shown(once, strlen(once), PRINTABLE_WORD);
        assert_string_equal(once, cases[i].shown ? cases[i].shown : cases[i].text);
        assert_string_equal(twice, once);
        free(once);
        free(twice);
    }
}

static void test_newline_and_tab_stay_in_lines_only(void **state)
{
    (void)state;
    char *word = shown("a\n\tb\0c", 6, PRINTABLE_WORD);
    char *lines = shown("a\n\tb\0c", 6, PRINTABLE_LINES);
    assert_string_equal(word, "a\\x0a\\x09b\\x00c");
    assert_string_equal(lines, "a\n\tb\\x00c");
    free(word);
    free(lines);
}

/* Every text, of one code point or byte each, comes out clean and no longer than promised. */
static void test_every_byte_is_clean_afterwards(void **state)
{
    (void)state;
    for (int first = 0; first < 256; first++)
        for (int second = 0; second < 256; second++) {
            char text[] = {(char)first, (char)second};
            char *out = shown(text, 2, PRINTABLE_WORD);
            json_t *utf8 = json_string(out);
            assert_non_null(utf8);
            assert_true(strlen(out) <= (size_t)2 * PRINTABLE_GROWTH);
            for (const unsigned char *at = (unsigned char *)out; *at; at++)
                assert_true(*at >= ' ' && *at != 0x7f && (*at != 0xc2 || at[1] >= 0xa0));
            json_decref(utf8);
            free(out);
        }
}

static void test_json_means_the_same_afterwards(void **state)
{
    (void)state;
    json_t *value =
        json_pack("{s:s}", "\x1b\xc2\x9bk", "\x01\x1f \"\\ \n\t\x7f\xc2\x85\xe2\x80\xae");
    char *text = json_dumps(value, JSON_INDENT(1));
    char *out = shown(text, strlen(text), PRINTABLE_LINES);
    json_t *read = json_loads(out, 0, NULL);
    assert_non_null(strstr(out, "\\u009b"));
    assert_true(json_equal(read, value));
    json_decref(read);
    json_decref(value);
    free(text);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_terminal_obeys_is_replaced),
        cmocka_unit_test(test_newline_and_tab_stay_in_lines_only),
        cmocka_unit_test(test_every_byte_is_clean_afterwards),
        cmocka_unit_test(test_json_means_the_same_afterwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
