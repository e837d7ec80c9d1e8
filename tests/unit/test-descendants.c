#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "launcher/process/descendants.h"
#include "launcher/process/process.h"
#include "tests/unit/unit.h"

/* Each test has a process of its own that adopts, so that nothing is left for the next. What a
 * child says when it is ready comes through a pipe. */
static int ready[2];

static void nap(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int setup(void **state)
{
    (void)state;
    descendants_adopt();
    return pipe(ready);
}

static int teardown(void **state)
{
    (void)state;
    descendants_end(0, NULL, 0, NULL);
    close(ready[0]);
    close(ready[1]);
    return waitpid(-1, NULL, WNOHANG) == -1 ? 0 : -1;
}

static void tell(pid_t pid)
{
    if (write(ready[1], &pid, sizeof(pid)) != sizeof(pid))
        _exit(1);
}

/* The next process that is ready. */
static pid_t hear(void)
{
    pid_t pid = 0;
    assert_int_equal(read(ready[0], &pid, sizeof(pid)), sizeof(pid));
    return pid;
}

static void stay(void)
{
    tell(getpid());
    for (;;)
        pause();
}

static bool is_alive(pid_t pid)
{
    return kill(pid, 0) == 0;
}

/* A process that forks `deep` times, each generation but the last leaves at once. */
static pid_t daemonise(int deep)
{
    if (fork() == 0) {
        setsid();
        for (; deep; deep--)
            if (fork() > 0)
                _exit(0);
        stay();
    }
    return hear();
}

static pid_t child_that(void (*prepare)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        if (prepare)
            prepare();
        stay();
    }
    assert_int_equal(hear(), pid);
    return pid;
}

/* No more than 5 s have passed, and 100 times what it takes now to start a process and to end it:
 * more on a machine that is busy. */
static void assert_soon(double start)
{
    double took = now() - start, begin = now();
    pid_t pid = child_that(NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(took < 5 + 100 * (now() - begin));
}

static void ignore_term(void)
{
    signal(SIGTERM, SIG_IGN);
}

static void ignore_all(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

static void leave(int number)
{
    _exit(number);
}

static void leave_on_term(void)
{
    signal(SIGTERM, leave);
}

static void test_without_children_there_is_nothing_to_end(void **state)
{
    size_t count = 7;
    double start = now();
    (void)state;
    assert_int_equal(descendants_signal(0, NULL, 0), 0);
    assert_int_equal(descendants_signal(SIGKILL, NULL, 0), 0);
    free(descendants_children(&count));
    assert_int_equal(count, 0);
    descendants_end(10, NULL, 0, NULL);
    assert_soon(start);
}

static void test_daemons_are_found_and_ended(void **state)
{
    pid_t pids[3] = {daemonise(0), daemonise(1), daemonise(2)};
    (void)state;
    nap(0.05); /* those in between leave */
    assert_int_equal(descendants_signal(0, NULL, 0), 3);
    double start = now();
    descendants_end(30, NULL, 0, NULL);
    assert_soon(start); /* TERM sufficed */
    for (int i = 0; i < 3; i++)
        assert_false(is_alive(pids[i]));
}

static void test_zombies_are_not_counted(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        _exit(3);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    assert_int_equal(descendants_signal(0, NULL, 0), 0);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid); /* and were left to be reaped */
    assert_int_equal(WEXITSTATUS(status), 3);
}

/* What is below a zombie's thread group, or below a child, is found too. */
static void test_every_generation_is_signalled(void **state)
{
    int status;
    (void)state;
    pid_t top = fork();
    if (top == 0) {
        if (fork() == 0) {
            if (fork() == 0) {
                leave_on_term();
                stay();
            }
            leave_on_term();
            stay();
        }
        leave_on_term();
        stay();
    }
    pid_t pids[3] = {hear(), hear(), hear()};
    assert_int_equal(descendants_signal(0, NULL, 0), 3);
    for (int i = 0; i < 3; i++)
        assert_true(is_alive(pids[i])); /* 0 only counts */
    assert_int_equal(descendants_signal(SIGTERM, NULL, 0), 3);
    assert_int_equal(waitpid(top, &status, 0), top);
    assert_int_equal(WEXITSTATUS(status), SIGTERM);
    descendants_end(10, NULL, 0, NULL);
    for (int i = 0; i < 3; i++)
        assert_false(is_alive(pids[i]));
}

static void test_excepted_children_keep_what_is_below_them(void **state)
{
    (void)state;
    pid_t kept = fork();
    if (kept == 0) {
        if (fork() == 0)
            stay();
        stay();
    }
    pid_t pids[2] = {hear(), hear()};
    pid_t other = child_that(NULL);
    assert_int_equal(descendants_signal(0, NULL, 0), 3);
    assert_int_equal(descendants_signal(0, &kept, 1), 1);
    descendants_end(0.2, &kept, 1, NULL);
    assert_false(is_alive(other));
    assert_true(is_alive(pids[0]));
    assert_true(is_alive(pids[1]));
    assert_int_equal(waitpid(kept, NULL, WNOHANG), 0);
    assert_int_equal(descendants_signal(0, NULL, 0), 2);
}

static void test_what_is_deaf_to_term_is_killed_after_the_grace(void **state)
{
    pid_t deaf = child_that(ignore_term), blocked = child_that(ignore_all), meek = child_that(NULL);
    double start = now();
    (void)state;
    descendants_end(0.5, NULL, 0, NULL);
    assert_true(now() - start >= 0.5);
    assert_soon(start);
    assert_false(is_alive(deaf) || is_alive(blocked) || is_alive(meek));
}

static void test_what_hears_term_has_the_grace(void **state)
{
    pid_t pid = child_that(leave_on_term);
    double start = now();
    (void)state;
    descendants_end(30, NULL, 0, NULL);
    assert_soon(start); /* and no longer than it needs */
    assert_false(is_alive(pid));
}

static void test_without_grace_it_is_at_once(void **state)
{
    pid_t pid = child_that(ignore_term);
    double start = now();
    (void)state;
    descendants_end(0, NULL, 0, NULL);
    assert_soon(start);
    assert_false(is_alive(pid));
}

/* A stopped process does not act on TERM until it goes on. */
static void test_stopped_processes_are_ended(void **state)
{
    int status;
    pid_t meek = child_that(leave_on_term), deaf = child_that(ignore_term);
    (void)state;
    kill(meek, SIGSTOP);
    kill(deaf, SIGSTOP);
    assert_int_equal(waitpid(meek, &status, WUNTRACED), meek);
    assert_int_equal(waitpid(deaf, &status, WUNTRACED), deaf);
    assert_int_equal(descendants_signal(0, NULL, 0), 2);
    double start = now();
    pid_t daemon = daemonise(1);
    kill(daemon, SIGSTOP);
    descendants_end(0.5, NULL, 0, NULL);
    assert_true(now() - start >= 0.5);
    assert_false(is_alive(meek) || is_alive(deaf) || is_alive(daemon));
}

static void test_a_stopped_process_that_hears_term_needs_no_kill(void **state)
{
    int status;
    pid_t meek = child_that(leave_on_term);
    double start = now();
    (void)state;
    kill(meek, SIGSTOP);
    assert_int_equal(waitpid(meek, &status, WUNTRACED), meek);
    descendants_end(30, NULL, 0, NULL);
    assert_soon(start);
    assert_false(is_alive(meek));
}

/* Children that are born while the others are ended: a family of which each member forks another
 * when it is told to end. */
static void go_on(int number)
{
    (void)number;
    if (fork() > 0)
        _exit(0);
    setsid();
}

static void test_a_family_that_flees_is_ended(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGTERM, go_on);
        stay();
    }
    hear();
    descendants_end(0.3, NULL, 0, NULL);
    assert_int_equal(descendants_signal(0, NULL, 0), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* More children than one read of /proc holds. */
static void test_many_children_are_all_found(void **state)
{
    enum { MANY = 700 };
    size_t count;
    (void)state;
    for (int i = 0; i < MANY; i++)
        if (fork() == 0)
            stay();
    for (int i = 0; i < MANY; i++)
        hear();
    pid_t *list = descendants_children(&count);
    assert_int_equal(count, MANY);
    assert_int_equal(descendants_signal(0, NULL, 0), MANY);
    assert_int_equal(descendants_signal(0, list, count), 0);
    free(list);
    descendants_end(20, NULL, 0, NULL);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void reads_term(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void test_who_catches_a_signal_is_known(void **state)
{
    pid_t catches = child_that(leave_on_term), ignores = child_that(ignore_term);
    (void)state;
    assert_true(process_catches(catches, SIGTERM));
    assert_false(process_catches(catches, SIGINT));
    assert_false(process_catches(ignores, SIGTERM));
    kill(catches, SIGKILL);
    waitpid(catches, NULL, 0);
    assert_false(process_catches(catches, SIGTERM));
}

/* A shell does so between fork and exec of each command: SIGTSTP would be lost on it then. */
static void test_who_blocks_one_signal_reads_it_and_who_blocks_all_does_not(void **state)
{
    pid_t reads = child_that(reads_term), starts = child_that(ignore_all);
    (void)state;
    assert_true(process_catches(reads, SIGTERM));
    assert_false(process_catches(reads, SIGTSTP));
    assert_false(process_catches(starts, SIGTERM));
    assert_false(process_catches(starts, SIGTSTP));
    kill(reads, SIGKILL);
    kill(starts, SIGKILL);
    waitpid(reads, NULL, 0);
    waitpid(starts, NULL, 0);
}

/* ---- a pid that is used again ---- */

static struct {
    bool armed;
    pid_t parent, child; /* the child ends when its parent's children have been read */
    int tell[2], told[2], want[2], made[2];
} reuse;

int __real_file_read(const char *path, struct buf *out);
int __wrap_file_read(const char *path, struct buf *out);

/* In place of file_read(): between a look at the children and the signal the pid changes hands. */
int __wrap_file_read(const char *path, struct buf *out)
{
    int rc = __real_file_read(path, out);
    char children[64], byte;
    snprintf(children, sizeof(children), "/proc/%d/task/%d/children", reuse.parent, reuse.parent);
    if (!reuse.armed || strcmp(path, children) != 0)
        return rc;
    reuse.armed = false;
    if (write(reuse.tell[1], "x", 1) != 1 || read(reuse.told[0], &byte, 1) != 1 ||
        write(reuse.want[1], &reuse.child, sizeof(reuse.child)) != sizeof(reuse.child) ||
        read(reuse.made[0], &byte, 1) != 1)
        _exit(3);
    return rc;
}

/* The parent of a process that it ends and reaps when it is told to. */
static void be_parent(void)
{
    char byte;
    pid_t child = fork();
    if (child == 0)
        stay();
    if (read(reuse.tell[0], &byte, 1) != 1)
        _exit(1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (write(reuse.told[1], "x", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* A process that signals what is below it, while a pid there becomes that of one that is not. */
static void be_signaller(void)
{
    descendants_adopt();
    reuse.parent = fork();
    if (reuse.parent == 0)
        be_parent();
    reuse.child = hear();
    reuse.armed = true;
    descendants_signal(SIGTERM, NULL, 0);
    _exit(reuse.armed ? 2 : 0);
}

static pid_t fork_with_pid(pid_t pid)
{
    struct clone_args args = {
        .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1};
    return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static void test_a_pid_that_became_another_process_is_left_alone(void **state)
{
    pid_t wanted = 0;
    int status = -1;
    (void)state;
    assert_true(pipe(reuse.tell) == 0 && pipe(reuse.told) == 0 && pipe(reuse.want) == 0 &&
                pipe(reuse.made) == 0);
    pid_t signaller = fork();
    if (signaller == 0)
        be_signaller();
    assert_int_equal(read(reuse.want[0], &wanted, sizeof(wanted)), sizeof(wanted));
    pid_t other = fork_with_pid(wanted);
    if (other == 0)
        for (;;)
            pause();
    assert_int_equal(write(reuse.made[1], "x", 1), 1);
    assert_int_equal(waitpid(signaller, &status, 0), signaller);
    if (other < 0) /* not root, or an older kernel */
        skip();
    assert_int_equal(other, wanted);
    assert_int_equal(status, 0);
    assert_int_equal(waitpid(other, &status, WNOHANG), 0);
    kill(other, SIGKILL);
    waitpid(other, &status, 0);
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

#define DESCEND_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESCEND_TEST(test_without_children_there_is_nothing_to_end),
        DESCEND_TEST(test_daemons_are_found_and_ended),
        DESCEND_TEST(test_zombies_are_not_counted),
        DESCEND_TEST(test_every_generation_is_signalled),
        DESCEND_TEST(test_excepted_children_keep_what_is_below_them),
        DESCEND_TEST(test_what_is_deaf_to_term_is_killed_after_the_grace),
        DESCEND_TEST(test_what_hears_term_has_the_grace),
        DESCEND_TEST(test_without_grace_it_is_at_once),
        DESCEND_TEST(test_stopped_processes_are_ended),
        DESCEND_TEST(test_a_stopped_process_that_hears_term_needs_no_kill),
        DESCEND_TEST(test_a_family_that_flees_is_ended),
        DESCEND_TEST(test_many_children_are_all_found),
        DESCEND_TEST(test_who_catches_a_signal_is_known),
        DESCEND_TEST(test_who_blocks_one_signal_reads_it_and_who_blocks_all_does_not),
        DESCEND_TEST(test_a_pid_that_became_another_process_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
