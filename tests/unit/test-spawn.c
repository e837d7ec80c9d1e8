/* spawn and descend: processes as described, and none left. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/process/descend.h"
#include "launcher/process/spawn.h"

#define ARGS(...) ((char *[]){__VA_ARGS__, NULL})

static char *const environment[] = {(char *)"PATH=/bin:/usr/bin", (char *)"COLOUR=blue", NULL};

/* The shell's words on stdout, and its wait status. */
static int shell(struct spawn *spawn, char *script, char *out, size_t room)
{
    struct spawn_failure failure;
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
    pid_t pid = spawn_start(spawn, &failure);
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
    struct spawn_limit limits[RLIM_NLIMITS] = {{false, {0, 0}}};
    cpu_set_t first, mine;
    char out[256];
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    spawn_limit(&limits[RLIMIT_NOFILE], RLIMIT_NOFILE, 100);
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_getaffinity(0, sizeof(mine), &mine);
    if (!CPU_ISSET(0, &mine))
        skip();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct spawn spawn = {.directory = "/usr",
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
        struct spawn spawn;
        enum spawn_step step;
        int number;
        const char *words;
    } cases[] = {
        {{.path = "/nosuch", .umask = -1}, SPAWN_EXEC, ENOENT, "cannot run /nosuch: No such"},
        {{.path = "/etc/passwd", .umask = -1}, SPAWN_EXEC, EACCES, "cannot run /etc/passwd: Perm"},
        {{.path = "/bin/true", .umask = -1, .directory = "/nosuch"},
         SPAWN_DIRECTORY,
         ENOENT,
         "cannot enter directory /nosuch: No such"},
        {{.path = "/bin/true", .umask = -1, .cpus = &none, .cpus_size = sizeof(none)},
         SPAWN_BIND,
         EINVAL,
         "cannot bind /bin/true: Invalid"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct spawn spawn = cases[i].spawn;
        struct spawn_failure failure;
        struct error err = ERROR_INIT;
        spawn.argv = ARGS((char *)"x");
        spawn.envp = environment;
        spawn.fds[1] = 1, spawn.fds[2] = 2, spawn.fds[3] = -1;
        assert_int_equal(spawn_start(&spawn, &failure), -1);
        assert_int_equal(failure.step, cases[i].step);
        assert_int_equal(failure.number, cases[i].number);
        spawn_explain(&spawn, &failure, &err);
        assert_memory_equal(error_text(&err), cases[i].words, strlen(cases[i].words));
        error_clear(&err);
    }
    while (waitpid(-1, NULL, 0) > 0)
        ;
}

static void test_a_script_without_a_first_line_runs(void **state)
{
    char path[] = "/tmp/test-spawn-XXXXXX", out[64];
    int fd = mkstemp(path);
    (void)state;
    assert_true(write(fd, "echo script $1\n", 15) == 15);
    fchmod(fd, 0755);
    close(fd);
    struct spawn spawn = {.umask = -1};
    char script[128];
    snprintf(script, sizeof(script), "%s word", path);
    assert_int_equal(shell(&spawn, script, out, sizeof(out)), 0);
    assert_string_equal(out, "script word\n");
    struct spawn_failure failure;
    spawn = (struct spawn){.path = path,
                           .argv = ARGS(path, (char *)"word"),
                           .envp = environment,
                           .fds = {0, 1, 2, -1},
                           .umask = -1};
    pid_t pid = spawn_start(&spawn, &failure);
    int status = -1;
    assert_true(pid > 0);
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    unlink(path);
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
        char *path = spawn_find(cases[i].name, cases[i].search, cases[i].directory);
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

/* A shell that leaves a child behind in a session of its own, deaf to TERM. */
static void test_nothing_escapes(void **state)
{
    char out[64];
    struct spawn spawn = {.umask = -1, .group = true};
    (void)state;
    descend_adopt();
    shell(&spawn, (char *)"setsid sh -c 'trap \"\" TERM; sleep 100' >/dev/null 2>&1 & echo gone",
          out, sizeof(out));
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    assert_true(descend_signal(0, NULL, 0) >= 1);
    descend_end(0.2, NULL, 0);
    assert_int_equal(descend_signal(0, NULL, 0), 0);
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
    pid_t *list = descend_children(&count);
    assert_int_equal(count, 1);
    assert_int_equal(list[0], kept);
    descend_end(0, list, count);
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
        cmocka_unit_test(test_a_script_without_a_first_line_runs),
        cmocka_unit_test(test_programs_are_found_as_a_shell_finds_them),
        cmocka_unit_test(test_nothing_escapes),
        cmocka_unit_test(test_children_that_are_excepted_stay),
    };
    spawn_reserve();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
