#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/process/descendants.h"
#include "launcher/process/hook_run.h"
#include "tests/unit/unit.h"

static char path[] = "/tmp/test-hook-run.XXXXXX";

static struct hook_end run_script(const char *text, double timeout)
{
    char path_variable[] = "PATH=/usr/bin:/bin", who[] = "WHO=me";
    char *environment[] = {path_variable, who, NULL};
    struct error err = ERROR_INIT;
    struct hook_end end;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    const struct hook hook = {path, environment, "/", timeout};
    if (hook_run_wait(&hook, &end, &err) < 0)
        fail_msg("%s", error_text(&err));
    return end;
}

static void assert_end(struct hook_end end, const char *fault, const char *output)
{
    char *is = hook_end_fault(&end);
    if (!is != !fault || (is && !strstr(is, fault)))
        fail_msg("fault \"%s\", expected \"%s\"", is ? is : "none", fault ? fault : "none");
    if (output)
        assert_string_equal(end.output ? end.output : "", output);
    free(is);
    hook_end_clear(&end);
}

static void test_what_it_writes_and_how_it_ends_is_known(void **state)
{
    (void)state;
    assert_end(run_script("#!/bin/sh\necho $WHO in $PWD; echo oh >&2\n", 20), NULL,
               "me in /\noh\n");
    assert_end(run_script("#!/bin/sh\nexit 3\n", 20), "it ended with exit status 3", "");
    assert_end(run_script("#!/bin/sh\nkill -SEGV $$\n", INFINITY),
               "it was killed by signal 11 (Segmentation fault)", "");
    assert_end(run_script("echo no interpreter\n", 20), NULL, "no interpreter\n");
    assert_end(run_script("#!/no/such/thing\n", 20), "No such file or directory", NULL);
}

static void test_stdin_is_empty(void **state)
{
    (void)state;
    assert_end(run_script("#!/bin/sh\ncat; echo end\n", 20), NULL, "end\n");
}

static void test_the_last_of_much_output_is_kept(void **state)
{
    struct hook_end end =
        run_script("#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' x; echo end\n", 60);
    (void)state;
    assert_int_equal(strlen(end.output), HOOK_OUTPUT);
    assert_string_equal(end.output + HOOK_OUTPUT - 5, "xend\n");
    assert_end(end, NULL, NULL);
}

/* However it hides: in another session, with a parent that is gone. */
static void test_at_the_time_limit_all_that_it_started_is_killed(void **state)
{
    struct hook_end end = run_script("#!/bin/sh\ntrap '' TERM HUP\n(setsid sh -c 'trap \"\" TERM; "
                                     "sleep 100' &)\necho $$; sleep 100\n",
                                     0.5);
    (void)state;
    assert_true(end.timed_out);
    assert_int_equal(kill((pid_t)atoi(end.output), 0), -1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_end(end, "it did not end within 0.5", NULL);
}

static void test_it_ends_with_who_wants_it(void **state)
{
    char path_variable[] = "PATH=/usr/bin:/bin", *environment[] = {path_variable, NULL};
    struct hook_run run;
    struct hook_end end;
    (void)state;
    end = run_script("#!/bin/sh\nexit 0\n", 20);
    hook_end_clear(&end);
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_int_equal(write(fd, "#!/bin/sh\nsleep 100\n", 20), 20);
    close(fd);
    const struct hook hook = {path, environment, "/", INFINITY};
    assert_int_equal(hook_run_begin(&run, &hook, NULL), 0);
    hook_run_cancel(&run);
    assert_int_equal(waitpid(run.pid, NULL, 0), run.pid);
    hook_run_finish(&run, &end);
    assert_end(end, "it was broken off: killed, with all that it started", NULL);
}

static void test_what_ends_all_else_does_not_end_it(void **state)
{
    char path_variable[] = "PATH=/usr/bin:/bin", *environment[] = {path_variable, NULL};
    char there[sizeof(path) + 10];
    struct hook_run run;
    struct hook_end end;
    (void)state;
    snprintf(there, sizeof(there), "%s.there", path);
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    dprintf(fd, "#!/bin/sh\n: >%s; sleep 0.2; echo end\n", there);
    close(fd);
    const struct hook hook = {path, environment, "/", 20};
    assert_int_equal(hook_run_begin(&run, &hook, NULL), 0);
    while (access(there, F_OK) < 0)
        usleep(1000);
    unlink(there);
    assert_true(descendants_signal(SIGTERM, NULL, 0) > 1);
    assert_int_equal(waitpid(run.pid, NULL, 0), run.pid);
    hook_run_finish(&run, &end);
    assert_end(end, NULL, "end\n");
}

/* A daemon, for instance. */
static void test_what_it_leaves_behind_is_not_waited_for(void **state)
{
    struct hook_end end = run_script("#!/bin/sh\nsleep 30 &\necho $!\n", 20);
    pid_t left = (pid_t)atoi(end.output);
    (void)state;
    assert_int_equal(kill(left, 0), 0);
    kill(left, SIGKILL);
    assert_end(end, NULL, NULL);
}

static int close_script(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static int open_script(void **state)
{
    (void)state;
    close(mkstemp(path));
    chmod(path, 0700);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_writes_and_how_it_ends_is_known),
        cmocka_unit_test(test_stdin_is_empty),
        cmocka_unit_test(test_the_last_of_much_output_is_kept),
        cmocka_unit_test(test_at_the_time_limit_all_that_it_started_is_killed),
        cmocka_unit_test(test_it_ends_with_who_wants_it),
        cmocka_unit_test(test_what_ends_all_else_does_not_end_it),
        cmocka_unit_test(test_what_it_leaves_behind_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, open_script, close_script);
}
