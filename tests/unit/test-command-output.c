#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/process/command_output.h"
#include "tests/unit/unit.h"

static int shell(const char *script, double seconds, struct buf *out, struct error *err)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    return command_output_output(argv, seconds, 100000, out, err);
}

static void assert_fails(const char *script, double seconds, const char *why)
{
    struct error err = ERROR_INIT;
    struct buf out = BUF_INIT;
    assert_int_equal(shell(script, seconds, &out, &err), -1);
    assert_string_equal(error_text(&err), why);
    error_clear(&err);
    buf_free(&out);
}

static void test_what_a_command_prints_is_captured(void **state)
{
    struct error err = ERROR_INIT;
    struct buf out = BUF_INIT;
    (void)state;
    buf_add_text(&out, "before ");
    assert_int_equal(shell("echo one; echo not this >&2; cat; printf two", 60, &out, &err), 0);
    assert_string_equal(buf_text(&out), "before one\ntwo");
    assert_int_equal(shell("exec >&-; sleep 0.05", 60, &out, &err), 0);
    buf_free(&out);
}

static void test_the_output_of_a_command_that_failed_is_the_reason(void **state)
{
    (void)state;
    assert_fails("echo it is broken >&2; echo and more >&2; exit 3", 60,
                 "sh: it ended with status 3: it is broken");
    assert_fails("exit 1", 60, "sh: it ended with status 1");
    assert_fails("kill -9 $$", 60, "sh: it was killed by signal 9");
}

static void test_a_command_that_is_not_there_is_named(void **state)
{
    static const char *const argv[] = {"there-is-no-such-command", NULL};
    struct error err = ERROR_INIT;
    struct buf out = BUF_INIT;
    (void)state;
    assert_int_equal(command_output_output(argv, 60, 10, &out, &err), -1);
    assert_string_equal(error_text(&err), "there-is-no-such-command: it cannot be run: No such "
                                          "file or directory");
    error_clear(&err);
}

static void test_a_command_is_ended_at_its_deadline_with_all_that_it_started(void **state)
{
    static const char mark[] = "/tmp/test-command-output.XXXXXX";
    char path[sizeof(mark)], script[200];
    time_t start = time(NULL);
    (void)state;
    memcpy(path, mark, sizeof(mark));
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(script, sizeof(script), "(sleep 1; rm -f %s) & sleep 100", path);
    assert_fails(script, 0.2, "sh: it did not answer in time");
    assert_fails("exec >&-; sleep 100", 0.2, "sh: it did not end in time");
    assert_true(time(NULL) - start < 30);
    sleep(1);
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
}

static void test_a_command_that_prints_without_end_is_ended(void **state)
{
    (void)state;
    assert_fails("yes", 60, "sh: it prints more than 0 MiB");
}

/* A process that outlives SIGKILL: for who asks, none has ended; nobody may wait for it. */
static bool outlives;
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
    if (outlives && !(options & WNOHANG))
        fail_msg("it is waited for without an end");
    return outlives ? 0 : __real_waitpid(pid, status, options);
}

static void test_what_outlives_kill_is_not_waited_for(void **state)
{
    (void)state;
    outlives = true;
    assert_fails("sleep 100", 0.1, "sh: it did not answer in time");
    outlives = false;
    assert_true(__real_waitpid(-1, NULL, 0) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_command_prints_is_captured),
        cmocka_unit_test(test_the_output_of_a_command_that_failed_is_the_reason),
        cmocka_unit_test(test_a_command_that_is_not_there_is_named),
        cmocka_unit_test(test_a_command_is_ended_at_its_deadline_with_all_that_it_started),
        cmocka_unit_test(test_a_command_that_prints_without_end_is_ended),
        cmocka_unit_test(test_what_outlives_kill_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
