#include <string.h>

#include "base/number.h"
#include "tests/unit/unit.h"

static void test_digits_are_read_up_to_the_first_other_character(void **state)
{
    static const struct {
        const char *text;
        size_t len; /* that is looked at */
        uint64_t max, value;
        size_t digits;
    } cases[] = {
        {"", 9, 10, 0, 0},
        {"x1", 9, 10, 0, 0},
        {"-1", 9, 10, 0, 0},
        {" 1", 9, 10, 0, 0},
        {"+1", 9, 10, 0, 0},
        {"0", 9, 10, 0, 1},
        {"007x", 9, 10, 7, 3},
        {"10,", 9, 10, 10, 2},
        {"11,", 9, 10, 11, 2},
        {"999", 9, 10, 11, 3},
        {"123", 2, 1000, 12, 2},
        {"123", 0, 1000, 0, 0},
        {"4294967296", 20, UINT32_MAX, 4294967296u, 10},
        {"18446744073709551614", 30, UINT64_MAX - 1, UINT64_MAX - 1, 20},
        {"18446744073709551615", 30, UINT64_MAX - 1, UINT64_MAX, 20},
        {"18446744073709551616", 30, UINT64_MAX - 1, UINT64_MAX, 20},
        {"36893488147419103233", 30, 100, 101, 20}, /* 2 * 2^64 + 1 */
        {"000000000000000000000000000000000000007", 90, 100, 7, 39},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *text = cases[i].text;
        bool whole = cases[i].len >= strlen(text);
        uint64_t value = 46;
        assert_int_equal(
            number_read(text, whole ? NULL : text + cases[i].len, cases[i].max, &value),
            cases[i].digits);
        assert_true(value == cases[i].value);
    }
}

static void test_a_whole_text_is_a_number_or_not(void **state)
{
    static const char *const wrong[] = {"", "-1", "+1", " 1", "1 ", "1x", "0x1", "101", "1e1"};
    uint64_t value;
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(number_parse(wrong[i], 100, &value));
    assert_true(number_parse("100", 100, &value));
    assert_int_equal(value, 100);
    assert_true(number_parse("000", 100, &value));
    assert_int_equal(value, 0);
}

static void test_an_int_may_have_a_sign(void **state)
{
    int value;
    (void)state;
    assert_true(number_parse_int("-2147483648", &value));
    assert_true(value == INT32_MIN);
    assert_true(number_parse_int("+7", &value));
    assert_int_equal(value, 7);
    assert_false(number_parse_int("2147483648", &value));
    assert_false(number_parse_int("--1", &value));
    assert_false(number_parse_int("", &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digits_are_read_up_to_the_first_other_character),
        cmocka_unit_test(test_a_whole_text_is_a_number_or_not),
        cmocka_unit_test(test_an_int_may_have_a_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
