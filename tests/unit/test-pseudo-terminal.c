#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/process/exec.h"
#include "launcher/process/pseudo_terminal.h"
#include "launcher/process/terminal_modes.h"
#include "launcher/stdio/raw_terminal.h"
#include "tests/unit/unit.h"

struct pair {
    int master, terminal;
};

static int pair_setup(void **state)
{
    struct pair *pair = mem_alloc(sizeof(*pair));
    struct error err = ERROR_INIT;
    *state = pair;
    return pseudo_terminal_open(&pair->master, &pair->terminal, &err);
}

static int pair_teardown(void **state)
{
    struct pair *pair = *state;
    close(pair->master);
    close(pair->terminal);
    free(pair);
    return 0;
}

/* ---- the terminal ---- */

static void test_both_ends_are_out_of_the_way_and_closed_by_exec(void **state)
{
    const struct pair *pair = *state;
    assert_true(pair->master >= 10 && pair->terminal >= 10);
    assert_int_equal(isatty(pair->terminal), 1);
    assert_int_equal(fcntl(pair->master, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(pair->terminal, F_GETFD), FD_CLOEXEC);
}

static void test_a_size_is_seen_at_the_other_end(void **state)
{
    const struct pair *pair = *state;
    const uint64_t size = (uint64_t)50 << 48 | (uint64_t)132 << 32 | 1056 << 16 | 800;
    terminal_set_size(pair->master, size);
    assert_true(terminal_size(pair->terminal) == size);
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    assert_true(terminal_size(pipes[0]) == 0);
    close(pipes[0]);
    close(pipes[1]);
}

static void wait_until_unread(int master, bool unread)
{
    for (int i = 0; i < 1000 && pseudo_terminal_is_unread(master) != unread; i++)
        poll(NULL, 0, 5);
    assert_int_equal(pseudo_terminal_is_unread(master), unread);
}

static void test_the_end_of_file_is_typed_with_the_key_that_it_is_there(void **state)
{
    const struct pair *pair = *state;
    char bytes[8];
    struct termios modes;
    tcgetattr(pair->terminal, &modes);
    modes.c_cc[VEOF] = 'x';
    tcsetattr(pair->terminal, TCSANOW, &modes);
    assert_false(pseudo_terminal_is_unread(pair->master));
    assert_int_equal(write(pair->master, "a\n", 2), 2);
    wait_until_unread(pair->master, true);
    assert_int_equal(read(pair->terminal, bytes, sizeof(bytes)), 2);
    wait_until_unread(pair->master, false);
    pseudo_terminal_type_end(pair->master);
    wait_until_unread(pair->master, true);
    assert_int_equal(read(pair->terminal, bytes, sizeof(bytes)), 0);
    wait_until_unread(pair->master, false);
}

static void test_without_descriptors_there_is_a_sentence(void **state)
{
    struct rlimit before, none;
    struct error err = ERROR_INIT;
    int master, terminal;
    (void)state;
    getrlimit(RLIMIT_NOFILE, &before);
    none = (struct rlimit){3, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    int rc = pseudo_terminal_open(&master, &terminal, &err);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(rc, -1);
    assert_string_equal(error_text(&err), "cannot make a terminal (--pty): Too many open files");
    error_clear(&err);
}

/* The kernel ends the session's leader when its terminal is gone. */
static void test_a_process_has_it_as_its_controlling_terminal(void **state)
{
    const struct pair *pair = *state;
    char sh[] = "sh", option[] = "-c", script[] = "echo tty >/dev/tty; read a";
    char *argv[] = {sh, option, script, NULL}, *envp[] = {NULL};
    struct exec what = {.path = "/bin/sh",
                        .argv = argv,
                        .envp = envp,
                        .fds = {pair->terminal, pair->terminal, pair->terminal, -1},
                        .umask = -1,
                        .group = true,
                        .terminal = true};
    struct exec_failure failure;
    char bytes[8];
    int status;
    pid_t pid = exec_start(&what, &failure);
    assert_true(pid > 0);
    assert_int_equal(read(pair->master, bytes, sizeof(bytes)), 5);
    assert_memory_equal(bytes, "tty\r\n", 5);
    assert_int_equal(tcgetpgrp(pair->master), pid);
    kill(-pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void test_what_is_no_terminal_is_none(void **state)
{
    int pipes[2];
    char word[] = "true", *argv[] = {word, NULL}, *envp[] = {NULL};
    struct error err = ERROR_INIT;
    struct exec_failure failure;
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    int high = fcntl(pipes[0], F_DUPFD_CLOEXEC, 10);
    struct exec what = {.path = "/bin/true",
                        .argv = argv,
                        .envp = envp,
                        .fds = {high, high, high, -1},
                        .umask = -1,
                        .group = true,
                        .terminal = true};
    assert_int_equal(exec_start(&what, &failure), -1);
    assert_int_equal(failure.step, EXEC_TERMINAL);
    exec_explain(&what, &failure, &err);
    assert_string_equal(error_text(&err), "cannot give /bin/true its terminal (--pty): "
                                          "Inappropriate ioctl for device");
    error_clear(&err);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    close(high);
    close(pipes[0]);
    close(pipes[1]);
}

/* ---- its modes ---- */

static const char all_modes[] =
    "24x80 iutf8 -ixon ixany -ixoff imaxbel -echoctl echoe -echoke intr=^A quit=^? erase=^H "
    "kill=7e eof=^D eol=- eol2=ff start=^Q stop=^S susp=^_ rprnt=- discard=- werase=20 lnext=^[";

static void test_modes_that_were_set_are_read(void **state)
{
    const struct pair *pair = *state;
    struct error err = ERROR_INIT;
    assert_int_equal(terminal_modes_set(pair->terminal, all_modes, &err), 0);
    char *text = terminal_modes_of(pair->terminal);
    assert_string_equal(text, all_modes);
    free(text);
}

static void test_modes_that_are_not_named_stay(void **state)
{
    const struct pair *pair = *state;
    struct error err = ERROR_INIT;
    char *before = terminal_modes_of(pair->terminal);
    assert_int_equal(terminal_modes_set(pair->terminal, "", &err), 0);
    char *after = terminal_modes_of(pair->terminal);
    assert_string_equal(after, before);
    free(before);
    free(after);
}

static void test_bad_modes_are_refused(void **state)
{
    static const char *const bad[] = {
        "24",
        "24x",
        "x80",
        "24x80x",
        "99999x1",
        "-1x2",
        "echo",
        "--ixon",
        "intr",
        "intr=",
        "intr=^",
        "intr=^AB",
        "intr=^a",
        "intr=1",
        "intr=0G",
        "intr=FF",
        "intr=123",
        "other=^A",
        "=^A",
        "IXON",
        "24x80\n",
        "\xff",
        "intr=-1",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    struct error err = ERROR_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (terminal_modes_check(bad[i], &err) == 0)
            fail_msg("%s is not refused", bad[i]);
        assert_non_null(strstr(error_text(&err), "is no size, mode or key of a terminal"));
        error_clear(&err);
    }
}

/* ---- raw mode ---- */

/* In processes of their own: the raw terminal is one of a process. */
static int in_child(int terminal, void (*run)(int terminal))
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        ioctl(terminal, TIOCSCTTY, 0);
        run(terminal);
        exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static bool is_raw(int fd)
{
    struct termios modes;
    return tcgetattr(fd, &modes) == 0 && !(modes.c_lflag & (ICANON | ECHO | ISIG)) &&
           !(modes.c_oflag & OPOST);
}

static void run_enter_and_leave(int terminal)
{
    bool right = raw_terminal_enter(terminal) && is_raw(terminal) && raw_terminal_enter(terminal);
    raw_terminal_leave();
    right = right && !is_raw(terminal) && raw_terminal_enter(terminal) && is_raw(terminal);
    if (!right)
        _exit(1);
}

static void run_fail(int terminal)
{
    raw_terminal_enter(terminal);
    raise(SIGALRM);
}

/* AddressSanitizer ends the process itself where an allocation fails. */
static void run_without_memory(int terminal)
{
    raw_terminal_enter(terminal);
    close(2);
#if defined(__SANITIZE_ADDRESS__)
    exit(1);
#else
    mem_array(SIZE_MAX, SIZE_MAX);
#endif
}

static void run_in_background(int terminal)
{
    pid_t other = fork();
    if (other == 0) {
        setpgid(0, 0);
        _exit(!raw_terminal_enter(terminal) && !is_raw(terminal) ? 0 : 1);
    }
    int status;
    waitpid(other, &status, 0);
    if (status)
        _exit(1);
}

static void test_raw_mode_ends_with_the_process_however_that_ends(void **state)
{
    static const struct way {
        void (*run)(int terminal);
        int status;
    } ways[] = {{run_enter_and_leave, 0},
                {run_fail, SIGALRM},
                {run_without_memory, W_EXITCODE(1, 0)},
                {run_in_background, 0}};
    struct pair *pair = *state;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(in_child(pair->terminal, ways[i].run) & ~0x80, ways[i].status);
        /* the end of a session hangs its terminal up: a look from the master */
        assert_false(is_raw(pair->master));
        close(pair->master);
        close(pair->terminal);
        assert_int_equal(pseudo_terminal_open(&pair->master, &pair->terminal, &err), 0);
    }
}

#define PAIR_TEST(test) cmocka_unit_test_setup_teardown(test, pair_setup, pair_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR_TEST(test_both_ends_are_out_of_the_way_and_closed_by_exec),
        PAIR_TEST(test_a_size_is_seen_at_the_other_end),
        PAIR_TEST(test_the_end_of_file_is_typed_with_the_key_that_it_is_there),
        cmocka_unit_test(test_without_descriptors_there_is_a_sentence),
        PAIR_TEST(test_a_process_has_it_as_its_controlling_terminal),
        cmocka_unit_test(test_what_is_no_terminal_is_none),
        PAIR_TEST(test_modes_that_were_set_are_read),
        PAIR_TEST(test_modes_that_are_not_named_stay),
        cmocka_unit_test(test_bad_modes_are_refused),
        PAIR_TEST(test_raw_mode_ends_with_the_process_however_that_ends),
    };
    exec_reserve();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
