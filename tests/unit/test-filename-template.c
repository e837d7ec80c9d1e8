#include <stdlib.h>
#include <string.h>

#include "launcher/stdio/filename_template.h"
#include "tests/unit/unit.h"

static const struct {
    const char *text;
    uint32_t rank, ntasks;
    const char *expected;
} good[] = {
    {"plain", 3, 8, "plain"},
    {"log/%r.out", 3, 8, "log/3.out"},
    {"%R", 3, 8, "3"},
    {"%R", 3, 10, "3"},
    {"%R", 3, 11, "03"},
    {"%R", 99, 100, "99"},
    {"%R", 7, 101, "007"},
    {"%R", 0, 0, "0"},
    {"%R", 4294967294u, 4294967295u, "4294967294"},
    {"%h-%n-%p", 5, 8, "node3-3-f12"},
    {"%%r", 5, 8, "%r"},
    {"%%%r%%", 5, 8, "%5%"},
    {"%r%r", 5, 8, "55"},
};

static void test_templates_are_filled_in(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct filename_template_fields fields = {good[i].rank, good[i].ntasks, 3, "node3", "f12"};
        struct error err = ERROR_INIT;
        assert_int_equal(filename_template_check(good[i].text, &err), 0);
        char *name = filename_template_expand(good[i].text, &fields);
        assert_string_equal(name, good[i].expected);
        free(name);
    }
}

static void test_what_is_not_known_is_empty(void **state)
{
    struct filename_template_fields fields = {0, 1, 0, NULL, NULL};
    (void)state;
    char *name = filename_template_expand("[%h%p]", &fields);
    assert_string_equal(name, "[]");
    free(name);
}

static const struct {
    const char *text;
    const char *quoted; /* part of the sentence */
} bad[] = {
    {"", "empty"},
    {"%", "ends in %"},
    {"out%", "\"out%\" ends in %"},
    {"%%%", "ends in %"},
    {"%q", "%q is not one of %r %R %h %n %p %%"},
    {"%r.%d", "%d is not one of"},
    {"%02r", "%0 is not one of"},
    {"% r", "%  is not one of"},
    {"%s%s%n", "%s is not one of"},
};

static void test_unknown_letters_are_refused_as_a_wrong_command_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(filename_template_check(bad[i].text, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_non_null(strstr(error_text(&err), bad[i].quoted));
        error_clear(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_templates_are_filled_in),
        cmocka_unit_test(test_what_is_not_known_is_empty),
        cmocka_unit_test(test_unknown_letters_are_refused_as_a_wrong_command_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
