#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "launcher/stdio/stdin_reader.h"
#include "tests/unit/unit.h"

struct world {
    struct ev_loop *loop;
    struct input *input;
    int saved;
    struct buf got;
    size_t longest;
    int ends;
    int failed;
    int turns; /* of the loop */
    bool free_in_data;
    struct error err;
};

static void on_data(void *arg, const void *bytes, size_t len)
{
    struct world *world = arg;
    buf_add(&world->got, bytes, len);
    world->longest = len > world->longest ? len : world->longest;
    if (world->free_in_data) {
        stdin_reader_free(world->input);
        world->input = NULL;
    }
}

static void on_end(void *arg)
{
    ((struct world *)arg)->ends++;
}

static void on_failed(void *arg, const struct error *err)
{
    struct world *world = arg;
    world->failed++;
    error_set(&world->err, "%s", error_text(err));
}

static const struct stdin_reader_ops ops = {on_data, on_end, on_failed};

static int setup(void **state)
{
    struct world *world = mem_alloc(sizeof(*world));
    world->loop = ev_loop_new(EVFLAG_AUTO);
    world->saved = fcntl(0, F_DUPFD_CLOEXEC, 100);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    stdin_reader_free(world->input);
    if (world->saved >= 0)
        dup2(world->saved, 0);
    close(world->saved);
    buf_free(&world->got);
    error_clear(&world->err);
    ev_loop_destroy(world->loop);
    free(world);
    return 0;
}

/* stdin is fd from now on, which is closed here; -1: none. */
static void start(struct world *world, int fd)
{
    if (fd < 0) {
        close(0);
    } else if (fd > 0) {
        dup2(fd, 0);
        close(fd);
    }
    world->input = stdin_reader_new(world->loop, NULL, &ops, world, &world->err);
    assert_non_null(world->input);
}

static void turn(struct world *world, int times)
{
    for (int i = 0; i < times; i++)
        ev_run(world->loop, EVRUN_NOWAIT);
}

static void stop_loop(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void run(struct world *world, double seconds)
{
    ev_timer timer;
    ev_now_update(world->loop);
    ev_timer_init(&timer, stop_loop, seconds, 0);
    ev_timer_start(world->loop, &timer);
    ev_run(world->loop, 0);
    ev_timer_stop(world->loop, &timer);
}

/* Until so many bytes came and the end was told so often; a terminal passes things on a little
 * later than they are typed. */
static void await(struct world *world, size_t len, int ends, double seconds)
{
    for (int i = 0; i < seconds * 100 && (world->got.len < len || world->ends < ends); i++)
        run(world, 0.01);
}

static void say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void check_stream(struct world *world, int mine, int theirs)
{
    int flags = fcntl(theirs, F_GETFL);
    start(world, theirs);
    say(mine, "hello\nworld");
    turn(world, 3);
    assert_string_equal(buf_text(&world->got), "");
    stdin_reader_want(world->input, 3);
    turn(world, 3);
    assert_string_equal(buf_text(&world->got), "hel");
    stdin_reader_want(world->input, 4);
    stdin_reader_want(world->input, 100);
    turn(world, 3);
    assert_string_equal(buf_text(&world->got), "hello\nworld");
    assert_int_equal(world->ends, 0);
    close(mine);
    turn(world, 5);
    assert_int_equal(world->ends, 1);
    stdin_reader_want(world->input, 100);
    stdin_reader_resume(world->input);
    turn(world, 3);
    assert_int_equal(world->ends, 1);
    assert_int_equal(fcntl(0, F_GETFL), flags);
}

static void test_a_pipe_is_read_as_wanted_and_ends_once(void **state)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    check_stream(*state, ends[1], ends[0]);
}

static void test_a_socket_is_read_as_wanted_and_ends_once(void **state)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    check_stream(*state, ends[1], ends[0]);
}

static void test_a_pipe_that_does_not_block_is_not_at_its_end(void **state)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    check_stream(*state, ends[1], ends[0]);
}

/* The loop says that there is something, but another took it. */
static void check_another_reader(struct world *world, int mine, int theirs)
{
    start(world, theirs);
    stdin_reader_want(world->input, 10);
    turn(world, 1);
    ev_feed_fd_event(world->loop, 0, EV_READ);
    alarm(10); /* what waits here would do so forever */
    turn(world, 1);
    alarm(0);
    assert_int_equal(world->ends + world->failed, 0);
    say(mine, "x");
    turn(world, 2);
    assert_string_equal(buf_text(&world->got), "x");
    close(mine);
}

/* Where the kernel can: before Linux 6.4 a pipe has no reads that don't wait. */
static void test_another_reader_of_a_pipe_may_be_faster(void **state)
{
    struct iovec one = {.iov_base = (char[1]){0}, .iov_len = 1};
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    if (preadv2(ends[0], &one, 1, -1, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP)
        skip();
    check_another_reader(*state, ends[1], ends[0]);
}

static void test_another_reader_of_a_socket_may_be_faster(void **state)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    check_another_reader(*state, ends[1], ends[0]);
}

static void count_turn(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    (void)loop;
    (void)events;
    ++*(int *)watcher->data;
}

static char *big_file(size_t size)
{
    char *path = mem_copy_text("/tmp/tprun-test-XXXXXX");
    int fd = mkstemp(path);
    char *bytes = mem_alloc(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 7 + (i >> 9));
    assert_int_equal(write(fd, bytes, size), size);
    free(bytes);
    close(fd);
    return path;
}

static void check_file(struct world *world, size_t size)
{
    ev_prepare prepare;
    ev_prepare_init(&prepare, count_turn);
    prepare.data = &world->turns;
    ev_prepare_start(world->loop, &prepare);
    stdin_reader_want(world->input, size / 2);
    run(world, 0.1);
    assert_int_equal(world->got.len, size / 2);
    stdin_reader_want(world->input, size);
    run(world, 0.1);
    ev_prepare_stop(world->loop, &prepare);
    assert_int_equal(world->got.len, size);
    assert_int_equal(world->ends, 1);
    assert_true(world->longest <= 65536);
    assert_true((size_t)world->turns >= size / 65536);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(buf_bytes(&world->got)[i], (char)(i * 7 + (i >> 9)));
}

static void test_a_file_as_stdin_leaves_the_loop_its_turns(void **state)
{
    struct world *world = *state;
    char *path = big_file(1 << 20);
    start(world, open(path, O_RDONLY | O_CLOEXEC));
    unlink(path);
    free(path);
    check_file(world, 1 << 20);
}

static void test_a_file_by_name_is_read_in_place_of_stdin(void **state)
{
    struct world *world = *state;
    char *path = big_file(100001);
    world->input = stdin_reader_new(world->loop, path, &ops, world, &world->err);
    unlink(path);
    free(path);
    assert_non_null(world->input);
    check_file(world, 100001);
}

static void test_an_empty_device_ends_at_once(void **state)
{
    struct world *world = *state;
    start(world, open("/dev/null", O_RDONLY | O_CLOEXEC));
    stdin_reader_want(world->input, 1);
    turn(world, 5);
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->got.len, 0);
}

static void test_a_closed_stdin_ends_at_once(void **state)
{
    struct world *world = *state;
    start(world, -1);
    assert_int_equal(world->ends, 0);
    stdin_reader_want(world->input, 1);
    stdin_reader_resume(world->input);
    turn(world, 5);
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->failed, 0);
}

static void test_a_stdin_for_writing_only_ends_at_once(void **state)
{
    struct world *world = *state;
    start(world, open("/dev/null", O_WRONLY | O_CLOEXEC));
    stdin_reader_want(world->input, 1);
    turn(world, 5);
    assert_int_equal(world->ends, 1);
}

static void test_what_cannot_be_input_is_refused(void **state)
{
    static const struct {
        const char *path, *sentence;
    } bad[] = {
        {"/nonexistent/x", "--input \"/nonexistent/x\": cannot open: No such file or directory"},
        {"/dev", "/dev is a directory: it cannot be read as input"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < 2; i++) {
        assert_null(stdin_reader_new(world->loop, bad[i].path, &ops, world, &world->err));
        assert_string_equal(error_text(&world->err), bad[i].sentence);
    }
}

static void test_a_failed_read_is_told_once_and_nothing_follows(void **state)
{
    struct world *world = *state;
    /* Offset 0 of this file is never mapped. */
    world->input = stdin_reader_new(world->loop, "/proc/self/mem", &ops, world, &world->err);
    assert_non_null(world->input);
    stdin_reader_want(world->input, 10);
    turn(world, 5);
    assert_int_equal(world->failed, 1);
    assert_int_equal(world->ends, 0);
    assert_string_equal(error_text(&world->err), "/proc/self/mem: cannot read: Input/output error");
}

static void test_the_input_may_be_freed_when_it_gives_data(void **state)
{
    struct world *world = *state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    start(world, ends[0]);
    world->free_in_data = true;
    say(ends[1], "x");
    stdin_reader_want(world->input, 10);
    turn(world, 3);
    assert_null(world->input);
    assert_string_equal(buf_text(&world->got), "x");
    close(ends[1]);
}

static int open_terminal(char *name, size_t size)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    assert_int_equal(ptsname_r(master, name, size), 0);
    return master;
}

static void test_a_terminal_is_read_by_lines_and_ends_with_control_D(void **state)
{
    struct world *world = *state;
    char name[64];
    int master = open_terminal(name, sizeof(name));
    start(world, open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    stdin_reader_want(world->input, 100);
    say(master, "half");
    run(world, 0.05);
    assert_string_equal(buf_text(&world->got), "");
    say(master, " line\n");
    await(world, 10, 0, 5);
    assert_string_equal(buf_text(&world->got), "half line\n");
    assert_int_equal(world->ends, 0);
    say(master, "\x04");
    await(world, 10, 1, 5);
    assert_int_equal(world->ends, 1);
    assert_int_equal(fcntl(0, F_GETFL) & O_NONBLOCK, 0);
    close(master);
}

static void test_a_terminal_that_is_hung_up_ends(void **state)
{
    struct world *world = *state;
    char name[64];
    int master = open_terminal(name, sizeof(name));
    start(world, open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    stdin_reader_want(world->input, 100);
    run(world, 0.02);
    assert_int_equal(world->ends, 0);
    close(master);
    await(world, 0, 1, 5);
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->failed, 0);
}

/* Job control, seen from a process that begins in the background of its terminal. `told` says
 * when the foreground became its own. Returns 0, or the step that went wrong. */
static int background_reader(struct world *world, int told, bool resume)
{
    char go;
    world->input = stdin_reader_new(world->loop, NULL, &ops, world, &world->err);
    stdin_reader_want(world->input, 100);
    run(world, 0.3);
    if (world->got.len || world->ends || world->failed)
        return 1;
    if (read(told, &go, 1) != 1)
        return 2;
    if (resume)
        stdin_reader_resume(world->input);
    await(world, 6, 0, resume ? 0.4 : 5);
    return strcmp(buf_text(&world->got), "typed\n") == 0 ? 0 : 3;
}

/* The shell: owns the terminal, starts the reader in the background, brings it to the front. */
static int shell(struct world *world, const char *name, bool resume)
{
    int told[2], status;
    setsid();
    close(0);
    if (open(name, O_RDWR) != 0 || pipe(told) < 0)
        return 10;
    ioctl(0, TIOCSCTTY, 0);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        ev_loop_fork(world->loop);
        _exit(background_reader(world, told[0], resume));
    }
    setpgid(child, child);
    usleep(500000);
    signal(SIGTTOU, SIG_IGN);
    if (tcsetpgrp(0, child) < 0 || write(told[1], "x", 1) != 1)
        return 11;
    if (waitpid(child, &status, WUNTRACED) < 0)
        return 12;
    if (WIFSTOPPED(status)) {
        kill(child, SIGKILL);
        return 13;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 14;
}

static void check_background(struct world *world, bool resume)
{
    char name[64];
    int status, master = open_terminal(name, sizeof(name));
    pid_t child = fork();
    if (child == 0)
        _exit(shell(world, name, resume));
    usleep(100000);
    say(master, "typed\n");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(master);
}

static void test_in_the_background_a_terminal_is_left_alone(void **state)
{
    check_background(*state, false);
}

static void test_resuming_looks_at_the_foreground_at_once(void **state)
{
    check_background(*state, true);
}

#define INPUT_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        INPUT_TEST(test_a_pipe_is_read_as_wanted_and_ends_once),
        INPUT_TEST(test_a_socket_is_read_as_wanted_and_ends_once),
        INPUT_TEST(test_a_pipe_that_does_not_block_is_not_at_its_end),
        INPUT_TEST(test_another_reader_of_a_pipe_may_be_faster),
        INPUT_TEST(test_another_reader_of_a_socket_may_be_faster),
        INPUT_TEST(test_a_file_as_stdin_leaves_the_loop_its_turns),
        INPUT_TEST(test_a_file_by_name_is_read_in_place_of_stdin),
        INPUT_TEST(test_an_empty_device_ends_at_once),
        INPUT_TEST(test_a_closed_stdin_ends_at_once),
        INPUT_TEST(test_a_stdin_for_writing_only_ends_at_once),
        INPUT_TEST(test_what_cannot_be_input_is_refused),
        INPUT_TEST(test_a_failed_read_is_told_once_and_nothing_follows),
        INPUT_TEST(test_the_input_may_be_freed_when_it_gives_data),
        INPUT_TEST(test_a_terminal_is_read_by_lines_and_ends_with_control_D),
        INPUT_TEST(test_a_terminal_that_is_hung_up_ends),
        INPUT_TEST(test_in_the_background_a_terminal_is_left_alone),
        INPUT_TEST(test_resuming_looks_at_the_foreground_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
