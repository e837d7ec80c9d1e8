/* spawn and descend: processes as described, and none left. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/process/descendants.h"
#include "launcher/process/exec.h"
#include "tests/unit/unit.h"

#define ARGS(...) ((char *[]){__VA_ARGS__, NULL})

static char *const environment[] = {(char *)"PATH=/bin:/usr/bin", (char *)"COLOUR=blue", NULL};

/* The shell's words on stdout, and its wait status. */
static int shell(struct exec *spawn, char *script, char *out, size_t room)
{
    struct exec_failure failure;
    int ends[2], status = -1;
    size_t got = 0;
    ssize_t n;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    int moved = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[1]);
    spawn->path = "/bin/sh";
    spawn->argv = ARGS((char *)"sh", (char *)"-c", script);
    spawn->envp = environment;
    spawn->fds[0] = 0;
    spawn->fds[1] = moved;
    spawn->fds[2] = 2;
    spawn->fds[3] = -1;
    pid_t pid = exec_start(spawn, &failure);
    close(moved);
    assert_true(pid > 0);
    while (got < room - 1 && (n = read(ends[0], out + got, room - 1 - got)) > 0)
        got += (size_t)n;
    out[got] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void test_a_process_is_as_described(void **state)
{
    static const struct {
        const char *script, *expected;
    } cases[] = {
        {"echo $COLOUR", "blue\n"},
        {"umask", "0027\n"},
        {"pwd", "/usr\n"},
        {"ulimit -Sn", "100\n"},
        {"test $(ps -o sid= $$) = $$ && echo leader", "leader\n"},
        {"test -e /proc/self/fd/3 || echo closed", "closed\n"},
        {"grep Cpus_allowed_list /proc/self/status | tr -d '\\t'", "Cpus_allowed_list:0\n"},
        {"grep SigIgn /proc/self/status | tail -c 5", "0000\n"},
    };
    struct exec_limit limits[RLIM_NLIMITS] = {{false, {0, 0}}};
    cpu_set_t first, mine;
    char out[256];
    (void)state;
    for (int i = SIGHUP; i <= SIGQUIT; i++) /* ignored by who runs this with nohup or & */
        signal(i, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    exec_limit(&limits[RLIMIT_NOFILE], RLIMIT_NOFILE, 100);
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_getaffinity(0, sizeof(mine), &mine);
    if (!CPU_ISSET(0, &mine))
        skip();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct exec spawn = {.directory = "/usr",
                             .umask = 027,
                             .group = true,
                             .cpus = &first,
                             .cpus_size = sizeof(first),
                             .limits = limits};
        assert_int_equal(shell(&spawn, (char *)(uintptr_t)cases[i].script, out, sizeof(out)), 0);
        assert_string_equal(out, cases[i].expected);
    }
}

static void test_a_failed_step_is_named(void **state)
{
    cpu_set_t none;
    CPU_ZERO(&none);
    const struct {
        struct exec spawn;
        enum exec_step step;
        int number;
        const char *words;
    } cases[] = {
        {{.path = "/nosuch", .umask = -1}, EXEC_EXEC, ENOENT, "cannot run /nosuch: No such"},
        {{.path = "/etc/passwd", .umask = -1}, EXEC_EXEC, EACCES, "cannot run /etc/passwd: Perm"},
        {{.path = "/bin/true", .umask = -1, .directory = "/nosuch"},
         EXEC_DIRECTORY,
         ENOENT,
         "cannot enter directory /nosuch: No such"},
        {{.path = "/bin/true", .umask = -1, .cpus = &none, .cpus_size = sizeof(none)},
         EXEC_BIND,
         EINVAL,
         "cannot bind /bin/true: Invalid"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct exec spawn = cases[i].spawn;
        struct exec_failure failure;
        struct error err = ERROR_INIT;
        spawn.argv = ARGS((char *)"x");
        spawn.envp = environment;
        spawn.fds[1] = 1, spawn.fds[2] = 2, spawn.fds[3] = -1;
        assert_int_equal(exec_start(&spawn, &failure), -1);
        assert_int_equal(failure.step, cases[i].step);
        assert_int_equal(failure.number, cases[i].number);
        exec_explain(&spawn, &failure, &err);
        assert_memory_equal(error_text(&err), cases[i].words, strlen(cases[i].words));
        error_clear(&err);
    }
    while (waitpid(-1, NULL, 0) > 0)
        ;
}

static void test_a_limit_of_processes_is_named(void **state)
{
    struct exec spawn = {.path = "/bin/true"};
    struct exec_failure failure = {.step = EXEC_FORK, .number = EAGAIN};
    struct error err = ERROR_INIT;
    (void)state;
    exec_explain(&spawn, &failure, &err);
    assert_string_equal(error_text(&err),
                        "cannot start /bin/true: Resource temporarily unavailable "
                        "(\"ulimit -u\" limits processes)");
    error_clear(&err);
}

static void test_a_script_without_a_first_line_runs(void **state)
{
    char path[] = "/tmp/test-spawn-XXXXXX", out[64];
    int fd = mkstemp(path);
    (void)state;
    assert_true(write(fd, "echo script $1\n", 15) == 15);
    fchmod(fd, 0755);
    close(fd);
    struct exec spawn = {.umask = -1};
    char script[128];
    snprintf(script, sizeof(script), "%s word", path);
    assert_int_equal(shell(&spawn, script, out, sizeof(out)), 0);
    assert_string_equal(out, "script word\n");
    struct exec_failure failure;
    spawn = (struct exec){.path = path,
                          .argv = ARGS(path, (char *)"word"),
                          .envp = environment,
                          .fds = {0, 1, 2, -1},
                          .umask = -1};
    pid_t pid = exec_start(&spawn, &failure);
    int status = -1;
    assert_true(pid > 0);
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    unlink(path);
}

/* A shell would take what is in it for commands. */
static void test_a_binary_file_that_the_kernel_refuses_is_not_given_to_a_shell(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        bool runs;
    } cases[] = {
        {"\177ELF\ntrue\n", 10, false}, {"\177ELF", 4, false}, {"true\0\n", 6, false},
        {"true\n\0", 6, true},          {"true", 4, true},     {"", 0, true},
    };
    char path[] = "/tmp/test-spawn-XXXXXX";
    close(mkstemp(path));
    chmod(path, 0755);
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct exec_failure failure;
        int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
        assert_int_equal(write(fd, cases[i].bytes, cases[i].len), cases[i].len);
        close(fd);
        struct exec spawn = {.path = path,
                             .argv = ARGS(path),
                             .envp = environment,
                             .fds = {0, 1, 2, -1},
                             .umask = -1};
        pid_t pid = exec_start(&spawn, &failure);
        assert_int_equal(pid > 0, cases[i].runs);
        if (!cases[i].runs)
            assert_true(failure.step == EXEC_EXEC && failure.number == ENOEXEC);
        waitpid(-1, NULL, 0);
    }
    unlink(path);
}

/* From now on close_range() fails with this number, in this process and its children. */
static void forbid_close_range(unsigned number)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
        _exit(77);
}

static void test_open_descriptors_stay_behind_where_close_range_cannot_mark_them(void **state)
{
    static const unsigned numbers[] = {0, EINVAL, ENOSYS}; /* as it is, Linux 5.9, before */
    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0) {
            char out[64];
            struct exec spawn = {.umask = -1};
            if (numbers[i])
                forbid_close_range(numbers[i]);
            for (int fd = 20; fd < 320; fd++) /* more than one read of /proc gives */
                if (dup2(2, fd) < 0)
                    _exit(1);
            shell(&spawn, (char *)"ls /proc/$$/fd | grep -c '..'", out, sizeof(out));
            _exit(strcmp(out, "0\n") == 0 ? 0 : 2);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            skip();
        if (status)
            fail_msg("with errno %u: status %x", numbers[i], status);
    }
}

static void test_programs_are_found_as_a_shell_finds_them(void **state)
{
    static const struct {
        const char *name, *search, *directory, *found;
        int number;
    } cases[] = {
        {"sh", "/nosuch:/bin", NULL, "/bin/sh", 0},
        {"sh", "/nosuch", NULL, NULL, ENOENT},
        {"passwd", "/etc", NULL, NULL, EACCES},
        {"passwd", "/etc:/usr/bin", NULL, "/usr/bin/passwd", 0},
        {"./sh", NULL, "/bin", "./sh", 0},
        {"/bin/nosuch", NULL, NULL, NULL, ENOENT},
        {"", "/bin", NULL, NULL, ENOENT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *path = exec_find(cases[i].name, cases[i].search, cases[i].directory);
        if (cases[i].found) {
            assert_non_null(path);
            assert_string_equal(path, cases[i].found);
        } else {
            assert_null(path);
            assert_int_equal(errno, cases[i].number);
        }
        free(path);
    }
}

/* ---- one by one ---- */

static struct exec plain(const char *path, char *const *argv)
{
    return (struct exec){
        .path = path, .argv = argv, .envp = environment, .fds = {0, 1, 2, -1}, .umask = -1};
}

static int run(const struct exec *spawn)
{
    struct exec_failure failure;
    int status = -1;
    pid_t pid = exec_start(spawn, &failure);
    assert_int_equal(failure.step, EXEC_OK);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void test_what_cannot_be_executed_is_refused(void **state)
{
    static const struct {
        const char *path;
        int number;
    } cases[] = {{"/tmp", EACCES},           {"/etc/passwd", EACCES}, {"", ENOENT},
                 {"/etc/passwd/x", ENOTDIR}, {"/bin/true/", ENOTDIR}, {"/nosuch/true", ENOENT},
                 {"/proc/self/mem", EACCES}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct exec spawn = plain(cases[i].path, ARGS((char *)"x"));
        struct exec_failure failure;
        assert_int_equal(exec_start(&spawn, &failure), -1);
        assert_int_equal(failure.step, EXEC_EXEC);
        if (failure.number != cases[i].number)
            fail_msg("%s: %s", cases[i].path, strerror(failure.number));
        assert_int_equal(waitpid(-1, NULL, 0) > 0, 1); /* its process is the caller's to reap */
    }
}

static void test_arguments_arrive_as_they_are(void **state)
{
    char out[64];
    struct exec spawn = {.umask = -1};
    (void)state;
    assert_int_equal(
        shell(&spawn, (char *)"set -- '' 'a b' '*' \"$@\"; echo $#:$2:\"$3\"", out, sizeof(out)),
        0);
    assert_string_equal(out, "3:a b:*\n");
}

/* Each of four, in every place, and closed. */
static void test_descriptors_take_their_places(void **state)
{
    char *const script[] = {(char *)"sh", (char *)"-c",
                            (char *)"echo one; echo two >&2; echo three >&3; "
                                    "test -e /proc/self/fd/0 && echo open >&3; true",
                            NULL};
    struct exec spawn = plain("/bin/sh", script);
    int ends[3][2];
    char out[64];
    static const char *const expect[] = {"one\n", "two\n", "three\n"};
    (void)state;
    spawn.fds[0] = -1;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pipe2(ends[i], O_CLOEXEC), 0);
        assert_true(ends[i][0] > 9);
        spawn.fds[i + 1] = ends[i][1];
    }
    int status = run(&spawn);
    for (int i = 0; i < 3; i++) {
        close(ends[i][1]);
        ssize_t n = read(ends[i][0], out, sizeof(out) - 1);
        close(ends[i][0]);
        out[n > 0 ? n : 0] = '\0';
        if (strcmp(out, expect[i]) != 0)
            fail_msg("%d: \"%s\"", i + 1, out);
    }
    assert_int_equal(status, 0);
}

/* Both at once, and the answer of the one does not wait for the other. */
static void test_several_are_under_way_at_a_time(void **state)
{
    enum { MANY = 16 };
    struct exec_process children[MANY] = {{0}};
    struct exec good = plain("/bin/true", ARGS((char *)"true"));
    struct exec bad = plain("/nosuch", ARGS((char *)"x"));
    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++)
            exec_begin(&children[i], i % 3 ? &good : &bad);
        for (int i = MANY - 1; i >= 0; i--) {
            pid_t pid = exec_finish(&children[i]);
            assert_int_equal(pid > 0, i % 3 != 0);
            assert_int_equal(children[i].failure.step, i % 3 ? EXEC_OK : EXEC_EXEC);
            if (pid < 0)
                assert_int_equal(children[i].failure.number, ENOENT);
        }
    }
    for (int i = 0; i < MANY; i++)
        exec_process_free(&children[i]);
    int reaped = 0;
    while (waitpid(-1, NULL, 0) > 0)
        reaped++;
    assert_int_equal(reaped, 3 * MANY);
}

static void test_a_child_dies_with_its_parent(void **state)
{
    int ends[2];
    char byte;
    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t parent = fork();
    if (parent == 0) {
        struct exec spawn = plain("/bin/sleep", ARGS((char *)"sleep", (char *)"100"));
        struct exec_failure failure;
        spawn.death_signal = SIGKILL;
        spawn.fds[3] = ends[1]; /* open as long as it lives */
        _exit(exec_start(&spawn, &failure) > 0 ? 0 : 1);
    }
    close(ends[1]);
    int status = -1;
    waitpid(parent, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    while (waitpid(-1, NULL, 0) > 0) /* where this process adopts */
        ;
}

/* Whatever this process blocks or catches, the child starts with nothing blocked. */
static void test_signals_are_not_inherited(void **state)
{
    char out[64];
    sigset_t some, before, after;
    struct exec spawn = {.umask = -1};
    (void)state;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigaddset(&some, SIGTERM);
    sigprocmask(SIG_BLOCK, &some, &before);
    shell(&spawn, (char *)"grep SigBlk /proc/self/status | tr -d '\t'", out, sizeof(out));
    sigprocmask(SIG_SETMASK, &before, &after);
    assert_string_equal(out, "SigBlk:0000000000000000\n");
    assert_true(sigismember(&after, SIGUSR1) && sigismember(&after, SIGTERM)); /* ours stays */
    assert_false(sigismember(&after, SIGHUP));
}

static void test_a_soft_limit_goes_as_far_as_the_hard_one(void **state)
{
    struct rlimit mine;
    struct exec_limit limit = {0};
    (void)state;
    getrlimit(RLIMIT_NOFILE, &mine);
    exec_limit(&limit, RLIMIT_NOFILE, RLIM_INFINITY);
    assert_true(limit.value.rlim_cur == mine.rlim_max || !limit.set);
    exec_limit(&limit, RLIMIT_NOFILE, mine.rlim_cur);
    assert_false(limit.set);
    exec_limit(&limit, RLIMIT_NOFILE, 7);
    assert_true(limit.set);
    assert_true(limit.value.rlim_cur == 7);
    assert_true(limit.value.rlim_max == mine.rlim_max);
    assert_true(getrlimit(RLIMIT_NOFILE, &mine) == 0 && mine.rlim_cur > 7); /* here all is as was */
}

static void test_a_processor_that_is_not_there_is_refused(void **state)
{
    cpu_set_t *cpus = CPU_ALLOC(8192);
    size_t size = CPU_ALLOC_SIZE(8192);
    struct exec spawn = plain("/bin/true", ARGS((char *)"true"));
    struct exec_failure failure;
    (void)state;
    CPU_ZERO_S(size, cpus);
    sched_getaffinity(0, size, cpus);
    spawn.cpus = cpus;
    spawn.cpus_size = size;
    assert_int_equal(run(&spawn), 0); /* where it may be anyway */
    CPU_SET_S(8191, size, cpus);      /* the kernel takes this one, and leaves it out */
    assert_int_equal(exec_start(&spawn, &failure), -1);
    assert_true(failure.step == EXEC_CHECK || failure.step == EXEC_BIND);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    CPU_FREE(cpus);
}

static void test_memory_is_where_it_was_asked_for(void **state)
{
    struct exec_memory allowed, memory = {{0}};
    struct exec spawn = {.umask = -1, .memory = &memory};
    char out[256], expected[64];
    uint32_t node = 0;
    (void)state;
    if (exec_memory_allowed(&allowed) < 0)
        skip(); /* a kernel without NUMA, or a container that forbids it */
    while (node < EXEC_MAX_MEMORIES - 1 && !exec_memory_has(&allowed, node))
        node++;
    exec_memory_add(&memory, node);
    assert_int_equal(
        shell(&spawn, (char *)"grep -m1 -o ' bind:[^ ]*' /proc/self/numa_maps", out, sizeof(out)),
        0);
    snprintf(expected, sizeof(expected), " bind:%u\n", node);
    assert_string_equal(out, expected);
    spawn.memory = NULL; /* ours is as it was */
    assert_int_equal(
        shell(&spawn, (char *)"! grep -q ' bind:' /proc/self/numa_maps", out, sizeof(out)), 0);
}

static void test_memory_that_is_not_there_is_refused(void **state)
{
    struct exec_memory allowed, memory = {{0}};
    struct exec spawn = plain("/bin/true", ARGS((char *)"true"));
    struct exec_failure failure;
    struct error err = ERROR_INIT;
    (void)state;
    if (exec_memory_allowed(&allowed) < 0 || exec_memory_has(&allowed, EXEC_MAX_MEMORIES - 1))
        skip();
    spawn.memory = &memory;
    exec_memory_add(&memory, EXEC_MAX_MEMORIES - 1);
    assert_int_equal(exec_start(&spawn, &failure), -1);
    assert_int_equal(failure.step, EXEC_MEMORY);
    exec_explain(&spawn, &failure, &err);
    assert_string_equal(error_text(&err), "cannot bind the memory of /bin/true: Invalid argument; "
                                          "leave --mem-bind out");
    error_clear(&err);
    for (uint32_t node = 0; node < EXEC_MAX_MEMORIES; node++)
        if (exec_memory_has(&allowed, node))
            exec_memory_add(&memory, node);
    assert_int_equal(exec_start(&spawn, &failure), -1); /* the kernel would take the rest */
    assert_int_equal(failure.step, EXEC_MEMORY_CHECK);
    while (waitpid(-1, NULL, 0) > 0)
        ;
}

/* A shell that leaves a child behind in a session of its own, deaf to TERM. */
static void test_nothing_escapes(void **state)
{
    char out[64];
    struct exec spawn = {.umask = -1, .group = true};
    (void)state;
    descendants_adopt();
    shell(&spawn, (char *)"setsid sh -c 'trap \"\" TERM; sleep 100' >/dev/null 2>&1 & echo gone",
          out, sizeof(out));
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    assert_true(descendants_signal(0, NULL, 0) >= 1);
    descendants_end(0.2, NULL, 0, NULL);
    assert_int_equal(descendants_signal(0, NULL, 0), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_children_that_are_excepted_stay(void **state)
{
    size_t count;
    (void)state;
    pid_t kept = fork();
    if (kept == 0) {
        pause();
        _exit(0);
    }
    pid_t *list = descendants_children(&count);
    assert_int_equal(count, 1);
    assert_int_equal(list[0], kept);
    descendants_end(0, list, count, NULL);
    assert_int_equal(kill(kept, 0), 0);
    assert_int_equal(waitpid(kept, NULL, WNOHANG), 0);
    kill(kept, SIGKILL);
    waitpid(kept, NULL, 0);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_process_is_as_described),
        cmocka_unit_test(test_a_failed_step_is_named),
        cmocka_unit_test(test_a_limit_of_processes_is_named),
        cmocka_unit_test(test_a_script_without_a_first_line_runs),
        cmocka_unit_test(test_a_binary_file_that_the_kernel_refuses_is_not_given_to_a_shell),
        cmocka_unit_test(test_open_descriptors_stay_behind_where_close_range_cannot_mark_them),
        cmocka_unit_test(test_programs_are_found_as_a_shell_finds_them),
        cmocka_unit_test(test_what_cannot_be_executed_is_refused),
        cmocka_unit_test(test_arguments_arrive_as_they_are),
        cmocka_unit_test(test_descriptors_take_their_places),
        cmocka_unit_test(test_several_are_under_way_at_a_time),
        cmocka_unit_test(test_a_child_dies_with_its_parent),
        cmocka_unit_test(test_signals_are_not_inherited),
        cmocka_unit_test(test_a_soft_limit_goes_as_far_as_the_hard_one),
        cmocka_unit_test(test_a_processor_that_is_not_there_is_refused),
        cmocka_unit_test(test_memory_is_where_it_was_asked_for),
        cmocka_unit_test(test_memory_that_is_not_there_is_refused),
        cmocka_unit_test(test_nothing_escapes),
        cmocka_unit_test(test_children_that_are_excepted_stay),
    };
    exec_reserve();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
