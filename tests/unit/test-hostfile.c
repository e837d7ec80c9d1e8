#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "launcher/source/hostfile.h"
#include "tests/unit/unit.h"

static char *shown(const struct hostfile *file)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < file->count; i++)
        buf_printf(&text, "%s%s=%u", i ? " " : "", file->entries[i].login, file->entries[i].limit);
    return buf_take_text(&text);
}

static void test_both_styles_are_understood(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"\n\n  \n# only a comment\n", ""},
        {"a", "a=0"},
        {"a\nb\n", "a=0 b=0"},
        {"a slots=4\n", "a=4"},
        {"a slots=4 max_slots=8 # as mpirun has it\n", "a=4"},
        {"a max-slots=8\n", "a=8"},
        {"a cpu=2\nb count=3 max_slots=4\n", "a=2 b=3"},
        {"\t a \t slots=4\t\r\n", "a=4"},
        {"a slots = 4 max_slots\t=\t8\nb slots= 2\r\n", "a=4 b=2"},
        {"a:4\n", "a=4"},
        {"me@a:4#c\n", "me@a=4"},
        {"a:2 max_slots=2\n", "a=2"},
        {"n[0-2]:3\nme@m[08-9] slots=2\n", "n0=3 n1=3 n2=3 me@m08=2 me@m09=2"},
        {"a,b\n", "a=0 b=0"},
        {"a\na:2\n", "a=0 a=2"},
        {"10.0.0.1:2\n::1\nfe80::1%eth0\n", "10.0.0.1=2 ::1=0 fe80::1%eth0=0"},
        {"a slots=16777216", "a=16777216"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct hostfile *file = hostfile_parse("f", cases[i][0], strlen(cases[i][0]), &err);
        if (!file)
            fail_msg("%s: %s", cases[i][0], error_text(&err));
        char *text = shown(file);
        assert_string_equal(text, cases[i][1]);
        free(text);
        hostfile_free(file);
    }
}

static void test_bad_lines_are_named_with_file_and_number(void **state)
{
    static const char *const cases[][2] = {
        {"a\nb slots=0\n", "f:2: slots: \"0\" is not a number from 1 to 16777216"},
        {"a slots=", "f:1: slots: \"\" is not a number from 1 to 16777216"},
        {"a slots=4x", "f:1: slots: \"4x\" is not a number from 1 to 16777216"},
        {"a max_slots=-1", "f:1: max_slots: \"-1\" is not a number from 1 to 16777216"},
        {"\n#\na:", "f:3: \"\" is not a number from 1 to 16777216"},
        {"a:16777217", "f:1: \"16777217\" is not a number from 1 to 16777216"},
        {"a slots=1 slots=2", "f:1: \"slots=2\": the count is given twice"},
        {"a:1 slots=2", "f:1: \"slots=2\": the count is given twice"},
        {"a slots=4 max_slots=2", "f:1: slots=4 is more than max_slots=2"},
        {"a b", "f:1: unknown word \"b\" (expected slots=N or max_slots=N)"},
        {"a slots = ", "f:1: slots: \"\" is not a number from 1 to 16777216"},
        {"a slots == 4", "f:1: slots: \"=4\" is not a number from 1 to 16777216"},
        {"-oProxyCommand=x",
         "f:1: \"-oProxyCommand=x\" is not the name of a host (expected HOST or USER@HOST)"},
        {"me@-x", "f:1: \"me@-x\" is not the name of a host (expected HOST or USER@HOST)"},
        {"@a", "f:1: \"@a\" is not the name of a host (expected HOST or USER@HOST)"},
        {"me@", "f:1: \"me@\" is not the name of a host (expected HOST or USER@HOST)"},
        {"a;b", "f:1: \"a;b\" is not the name of a host (expected HOST or USER@HOST)"},
        {"a$(b)", "f:1: \"a$(b)\" is not the name of a host (expected HOST or USER@HOST)"},
        {"a:4:8", "f:1: \"a:4:8\": bad count (expected HOST:COUNT)"},
        {"node::4", "f:1: \"node::4\": bad count (expected HOST:COUNT)"},
        {"me@a[1-2]:4:8", "f:1: \"me@a1:4:8\": bad count (expected HOST:COUNT)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        assert_null(hostfile_parse("f", cases[i][0], strlen(cases[i][0]), &err));
        assert_string_equal(error_text(&err), cases[i][1]);
        error_clear(&err);
    }
}

static void test_broken_brackets_and_zero_bytes_are_refused(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    assert_null(hostfile_parse("f", "ok\nn[0-", 7, &err));
    assert_memory_equal(error_text(&err), "f:2: ", 5);
    assert_null(hostfile_parse("f", "a\0b\n", 4, &err));
    assert_string_equal(error_text(&err), "f:1: not a text file: it contains a zero byte");
    error_clear(&err);
}

static void test_more_hosts_than_are_read_are_refused(void **state)
{
    static const char line[] = "n[0-1048575]\n";
    struct error err = ERROR_INIT;
    char text[sizeof(line) * 5] = "";
    (void)state;
    for (int i = 0; i < 5; i++)
        strcat(text, line);
    assert_null(hostfile_parse("f", text, strlen(text), &err));
    assert_string_equal(error_text(&err), "f:5: more than 4194304 hosts, the limit");
    error_clear(&err);
}

static void test_a_hostlist_gives_hosts_without_limits(void **state)
{
    struct error err = ERROR_INIT;
    struct hostfile *file = hostfile_from_hostlist("me@n[1-2],x", &err);
    (void)state;
    assert_non_null(file);
    char *text = shown(file);
    assert_string_equal(text, "me@n1=0 me@n2=0 x=0");
    free(text);
    hostfile_free(file);
    assert_null(hostfile_from_hostlist("n1,-v", &err));
    assert_string_equal(error_text(&err),
                        "\"-v\" is not the name of a host (expected HOST or USER@HOST)");
    error_clear(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_styles_are_understood),
        cmocka_unit_test(test_bad_lines_are_named_with_file_and_number),
        cmocka_unit_test(test_broken_brackets_and_zero_bytes_are_refused),
        cmocka_unit_test(test_more_hosts_than_are_read_are_refused),
        cmocka_unit_test(test_a_hostlist_gives_hosts_without_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
