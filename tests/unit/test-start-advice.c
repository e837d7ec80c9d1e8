/* What a user is told to do where a node lacks the program or the directory of a task. */
#include <stdlib.h>

#include "launcher/program/start_advice.h"
#include "tests/unit/unit.h"

static char shell[] = "/bin/sh", absent[] = "/no/such/program", directory[] = "/home/me";
static char *shell_words[] = {shell, NULL}, *absent_words[] = {absent, NULL};

static void expect_advice(struct spec_part *parts, size_t nparts, const char *text,
                          const char *expected)
{
    const struct spec spec = {.parts = parts, .nparts = nparts};
    char *advice = start_advice(&spec, text);
    if (expected)
        assert_string_equal(advice, expected);
    else
        assert_null(advice);
    free(advice);
}

static void test_a_program_that_only_the_node_lacks_can_be_staged(void **state)
{
    struct spec_part parts[] = {{.argv = absent_words}, {.argv = shell_words}};
    (void)state;
    expect_advice(parts, 2, "cannot run /bin/sh: no such file",
                  "cannot run /bin/sh: no such file there; --stage /bin/sh copies it from this "
                  "machine");
}

static void test_a_program_that_this_machine_lacks_too_gets_no_advice(void **state)
{
    struct spec_part part = {.argv = absent_words};
    (void)state;
    expect_advice(&part, 1, "cannot run /no/such/program: no such file", NULL);
}

static void test_a_directory_that_was_not_asked_for_can_be_another(void **state)
{
    struct spec_part part = {.argv = shell_words};
    (void)state;
    expect_advice(&part, 1, "cannot enter directory /home/me: No such file or directory",
                  "cannot enter directory /home/me: No such file or directory; --chdir names "
                  "another");
    part.chdir = directory;
    expect_advice(&part, 1, "cannot enter directory /home/me: No such file or directory", NULL);
}

static void test_other_failures_get_no_advice(void **state)
{
    struct spec_part part = {.argv = shell_words};
    (void)state;
    expect_advice(&part, 1, NULL, NULL);
    expect_advice(&part, 1, "cannot run /bin/sh: permission denied", NULL);
    expect_advice(&part, 1, "cannot bind: core 3 is not in this cgroup (0-2)", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_program_that_only_the_node_lacks_can_be_staged),
        cmocka_unit_test(test_a_program_that_this_machine_lacks_too_gets_no_advice),
        cmocka_unit_test(test_a_directory_that_was_not_asked_for_can_be_another),
        cmocka_unit_test(test_other_failures_get_no_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
