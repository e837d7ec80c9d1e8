#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/process/descendants.h"
#include "launcher/process/process_set.h"
#include "tests/unit/unit.h"

/* Children write what they hear, a byte for each signal, into a pipe that they share. */
static int heard[2];

static void hear(int number)
{
    char byte = (char)number;
    if (write(heard[1], &byte, 1) != 1)
        _exit(1);
}

/* A child in a process group of its own (0) or in that of another. */
static pid_t start(pid_t group)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, group);
        signal(SIGUSR1, hear);
        close(ready[0]);
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 0); /* its copy is closed: it has come so far */
    close(ready[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* So many have heard it: no more come, everybody who would say so being dead after that. */
static void assert_heard(size_t count, pid_t a, pid_t b)
{
    char bytes[16];
    size_t got = 0;
    while (got < count) {
        ssize_t n = read(heard[0], bytes, sizeof(bytes));
        assert_true(n > 0);
        got += (size_t)n;
    }
    end(a);
    end(b);
    close(heard[1]);
    assert_int_equal(read(heard[0], bytes, sizeof(bytes)), 0);
    assert_int_equal(got, count);
}

static int setup(void **state)
{
    (void)state;
    return pipe(heard);
}

static int teardown(void **state)
{
    (void)state;
    close(heard[0]);
    return 0;
}

static void test_all_below_are_listed_but_those_that_have_ended(void **state)
{
    struct process_set set = {0};
    (void)state;
    pid_t first = start(0), second = start(first), gone = fork();
    if (gone == 0)
        _exit(0);
    siginfo_t info;
    waitid(P_PID, (id_t)gone, &info, WEXITED | WNOWAIT);
    process_set_add_below(&set, NULL, 0);
    assert_int_equal(set.count, 2);
    assert_int_equal(set.list[0].group, first);
    assert_int_equal(set.list[1].group, first);
    struct process_set again = {0};
    process_set_add_below(&again, &second, 1);
    process_set_add(&again, &set);
    assert_int_equal(again.count, 2); /* nobody twice */
    waitpid(gone, NULL, 0);
    process_set_clear(&again);
    process_set_clear(&set);
    assert_heard(0, first, second);
}

static void test_who_is_born_with_the_same_pid_is_another(void **state)
{
    struct process_set set = {0};
    (void)state;
    pid_t first = start(0), second = start(0);
    process_set_add_below(&set, &second, 1);
    struct process other = set.list[0];
    assert_true(process_set_has(&set, &other));
    other.born++;
    assert_false(process_set_has(&set, &other));
    process_set_clear(&set);
    assert_false(process_set_has(&set, &other));
    assert_heard(0, first, second);
}

static void test_each_of_a_group_hears_a_signal_once(void **state)
{
    struct process_set set = {0};
    (void)state;
    pid_t first = start(0), second = start(first);
    process_set_add_below(&set, NULL, 0);
    process_set_signal(&set, NULL, SIGUSR1);
    process_set_clear(&set);
    assert_heard(2, first, second);
}

static void test_who_heard_it_before_does_not_hear_it_again(void **state)
{
    struct process_set set = {0}, done = {0};
    (void)state;
    pid_t first = start(0), second = start(first);
    process_set_add_below(&done, &second, 1);
    process_set_add_below(&set, NULL, 0);
    process_set_signal(&set, &done, SIGUSR1); /* of one group */
    process_set_signal(&set, &set, SIGUSR1);
    process_set_clear(&done);
    process_set_clear(&set);
    assert_heard(1, first, second);
}

/* A process group that is not below this process, as one is whose number was used again. */
static pid_t start_stranger(void)
{
    int told[2];
    pid_t pid = 0;
    assert_int_equal(pipe(told), 0);
    pid_t between = fork();
    if (between == 0) {
        pid = start(0);
        _exit(write(told[1], &pid, sizeof(pid)) != sizeof(pid));
    }
    assert_int_equal(read(told[0], &pid, sizeof(pid)), sizeof(pid));
    waitpid(between, NULL, 0);
    close(told[0]);
    close(told[1]);
    return pid;
}

static void test_a_group_whose_number_became_that_of_another_is_left_alone(void **state)
{
    (void)state;
    pid_t stranger = start_stranger(), deaf = fork();
    if (deaf == 0) {
        signal(SIGUSR1, SIG_IGN);
        kill(getpid(), SIGSTOP);
        _exit(0);
    }
    waitpid(deaf, NULL, WUNTRACED);
    struct process list[] = {{.pid = stranger, .group = stranger},
                             {.pid = deaf, .group = stranger}};
    for (size_t i = 0; i < 2; i++) /* the first is none of ours, the second in another group now */
        process_set_signal(&(struct process_set){&list[i], 1}, NULL, SIGUSR1);
    kill(stranger, SIGUSR2); /* all before that has been delivered when it dies of it */
    assert_heard(0, deaf, stranger);
}

/* A tprun's manager that has a task. */
static void be_manager(int ready)
{
    prctl(PR_SET_NAME, PROCESS_MANAGER);
    signal(SIGUSR1, hear);
    start(0);
    if (write(ready, "x", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* Its front end, which is above it, passes on what it hears. */
static void test_a_manager_of_tprun_and_what_is_below_it_only_hear_kill(void **state)
{
    struct process_set set = {0};
    int ready[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(ready), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* the task may outlive the manager, and is still below */
    pid_t other = start(0), manager = fork();
    if (manager == 0)
        be_manager(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    process_set_add_below(&set, NULL, 0);
    assert_int_equal(set.count, 3);
    process_set_signal(&set, NULL, SIGUSR1);
    assert_int_equal(read(heard[0], &byte, 1), 1);
    process_set_signal(&set, NULL, SIGKILL);
    process_set_clear(&set);
    close(ready[0]);
    close(ready[1]);
    assert_heard(0, other, manager);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void test_they_are_described_by_name_and_user(void **state)
{
    struct process_set set = {0};
    char want[64];
    (void)state;
    pid_t first = start(0), second = start(0);
    process_set_add_below(&set, &second, 1);
    char *text = process_set_describe(&set);
    snprintf(want, sizeof(want), "%d (test-process-se, uid %d)", (int)first, (int)geteuid());
    assert_string_equal(text, want);
    free(text);
    process_set_clear(&set);
    assert_heard(0, first, second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_below_are_listed_but_those_that_have_ended, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_who_is_born_with_the_same_pid_is_another, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_each_of_a_group_hears_a_signal_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_heard_it_before_does_not_hear_it_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_a_group_whose_number_became_that_of_another_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_manager_of_tprun_and_what_is_below_it_only_hear_kill,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_they_are_described_by_name_and_user, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
