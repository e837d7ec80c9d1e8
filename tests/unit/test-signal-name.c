#include "tests/unit/unit.h"

#include <signal.h>
#include <string.h>

#include "launcher/process/signal_name.h"

static const struct {
    const char *text;
    int number; /* 0: it is none */
} cases[] = {
    {"TERM", SIGTERM},
    {"SIGTERM", SIGTERM},
    {"sigusr1", SIGUSR1},
    {"Usr2", SIGUSR2},
    {"15", SIGTERM},
    {"1", SIGHUP},
    {"64", 64},
    {"65", 0},
    {"0", 0},
    {"", 0},
    {"SIG", 0},
    {"TER", 0},
    {"TERMS", 0},
    {"-9", 0},
    {"9x", 0},
    {"99999999999999999999", 0},
};

static void test_a_signal_is_known_by_name_and_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (signal_number(cases[i].text, strlen(cases[i].text)) != cases[i].number)
            fail_msg("%s is not %d", cases[i].text, cases[i].number);
}

static void test_the_name_of_a_signal_is_read_as_that_signal(void **state)
{
    (void)state;
    for (int number = 1; number < 32; number++) {
        const char *name = signal_name(number);
        if (strncmp(name, "SIG", 3) == 0)
            assert_int_equal(signal_number(name, strlen(name)), number);
    }
    assert_string_equal(signal_name(SIGTERM), "SIGTERM");
    assert_string_equal(signal_name(40), "signal 40");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_signal_is_known_by_name_and_number),
        cmocka_unit_test(test_the_name_of_a_signal_is_read_as_that_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
