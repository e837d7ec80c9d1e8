#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/string_list.h"
#include "tests/unit/unit.h"

static void test_a_list_ends_with_null_whenever_it_is_looked_at(void **state)
{
    struct string_list words = {0};
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        string_list_add(&words, mem_format("%zu", i));
        assert_int_equal(words.count, i + 1);
        assert_null(words.list[i + 1]);
    }
    assert_string_equal(words.list[99], "99");
    string_list_clear(&words);
    assert_null(words.list);
    assert_int_equal(words.count, 0);
}

static void test_words_of_another_list_are_copied(void **state)
{
    struct string_list from = {0}, to = {0};
    (void)state;
    string_list_add_all(&to, &from);
    assert_int_equal(to.count, 0);
    string_list_add_copy(&from, "a");
    string_list_add_copy(&from, "");
    string_list_add_copy(&to, "first");
    string_list_add_all(&to, &from);
    string_list_clear(&from);
    assert_int_equal(to.count, 3);
    assert_string_equal(to.list[1], "a");
    assert_string_equal(to.list[2], "");
    string_list_clear(&to);
}

static void test_what_is_taken_is_an_argv_even_of_no_words(void **state)
{
    struct string_list words = {0};
    char **taken = string_list_take(&words);
    (void)state;
    assert_null(taken[0]);
    string_list_free(taken);
    string_list_add_copy(&words, "x");
    taken = string_list_take(&words);
    assert_int_equal(words.count, 0);
    assert_null(words.list);
    assert_string_equal(taken[0], "x");
    assert_null(taken[1]);
    errno = EPIPE;
    string_list_free(taken);
    string_list_free(NULL);
    assert_int_equal(errno, EPIPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_list_ends_with_null_whenever_it_is_looked_at),
        cmocka_unit_test(test_words_of_another_list_are_copied),
        cmocka_unit_test(test_what_is_taken_is_an_argv_even_of_no_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
