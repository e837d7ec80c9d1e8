/* Names of this machine that are asked for again. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/process/localhost.h"
#include "tests/unit/unit.h"

static bool is_here(const char *name)
{
    bool here = false;
    localhost_resolve(&name, &here, 1);
    return here;
}

/* Without descriptors nobody can be asked. */
static void ask_nobody(void)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
}

static void test_addresses_are_told_without_a_resolver(void **state)
{
    const char *const hosts[] = {"localhost", "::1",     "127.3.2.1",  "no-such-host.invalid",
                                 "192.0.2.1", "fe80::1", "2001:db8::1"};
    bool here[7];
    (void)state;
    localhost_find_literals(hosts, here, 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(here[i], i < 3);
}

static void test_what_one_process_asked_for_those_forked_before_and_later_know(void **state)
{
    int go[2], status;
    char byte;
    (void)state;
    assert_false(is_here("no-such-host.invalid"));
    localhost_remember();
    localhost_remember();
    assert_int_equal(pipe(go), 0);
    pid_t before = fork();
    if (before == 0) {
        bool told = read(go[0], &byte, 1) == 1;
        ask_nobody();
        _exit(!told || !is_here("localhost") || is_here("localhost4"));
    }
    assert_true(is_here("localhost"));
    assert_int_equal(write(go[1], "x", 1), 1);
    assert_int_equal(waitpid(before, &status, 0), before);
    assert_int_equal(status, 0);
    pid_t later = fork();
    if (later == 0) {
        ask_nobody();
        _exit(!is_here("localhost"));
    }
    assert_int_equal(waitpid(later, &status, 0), later);
    assert_int_equal(status, 0);
    close(go[0]);
    close(go[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_are_told_without_a_resolver),
        cmocka_unit_test(test_what_one_process_asked_for_those_forked_before_and_later_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
