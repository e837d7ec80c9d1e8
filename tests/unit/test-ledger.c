#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/directory.h"
#include "config.h"
#include "launcher/ledger/claim.h"
#include "launcher/ledger/claim_queue.h"
#include "launcher/ledger/context_files.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/ledger/instance_lock.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/ledger/private_directory.h"
#include "tests/unit/unit.h"

/* A directory of the test's own, and the one in it that TPRUN_RUNTIME_DIR names. */
static char *world;
static char runtime[64];

static int make_world(void **state)
{
    char name[] = "/tmp/test-ledger-XXXXXX";
    (void)state;
    world = strdup(mkdtemp(name));
    snprintf(runtime, sizeof(runtime), "%s/tprun", world);
    setenv("TPRUN_RUNTIME_DIR", runtime, 1);
    return 0;
}

static int end_world(void **state)
{
    (void)state;
    directory_remove(AT_FDCWD, world);
    free(world);
    return 0;
}

static struct instance *open_instance(void)
{
    struct error err = ERROR_INIT;
    struct instance *instance = instance_open("this machine", &err);
    if (!instance)
        fail_msg("%s", error_text(&err));
    return instance;
}

static struct ledger_entry *new_program(struct instance *instance)
{
    struct error err = ERROR_INIT;
    struct ledger_entry *program = entry_new(instance, "./app", &err);
    if (!program)
        fail_msg("%s", error_text(&err));
    return program;
}

static int claim_both(struct ledger_entry *program, const char *host, const char *cores,
                      const char *gpus, struct error *err)
{
    struct rset *claim = rset_new();
    struct idset *ids = idset_decode(cores, NULL), *gpu_ids = idset_decode(gpus, NULL);
    if (!idset_empty(ids))
        rset_append(claim, 0, host, ids, gpu_ids);
    int rc = entry_claim(program, claim, err);
    idset_free(ids);
    idset_free(gpu_ids);
    rset_free(claim);
    return rc;
}

static int claim_cores(struct ledger_entry *program, const char *host, const char *cores,
                       struct error *err)
{
    return claim_both(program, host, cores, "", err);
}

/* What is held, as "host:cores host:cores". */
static void expect_held(struct instance *instance, const char *want)
{
    char got[1024] = "";
    struct error err = ERROR_INIT;
    struct rset *held = instance_held(instance, &err);
    if (!held)
        fail_msg("%s", error_text(&err));
    for (size_t i = 0; i < held->nnodes; i++) {
        char *cores = idset_encode(held->nodes[i].children->cores);
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s:%s", i ? " " : "",
                 held->nodes[i].host, cores);
        free(cores);
    }
    assert_string_equal(got, want);
    rset_free(held);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void test_a_claim_is_held_until_the_program_ends(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *a = new_program(instance), *b = new_program(instance);
    struct error err = ERROR_INIT;
    char *path = strdup(entry_path(a));
    assert_int_equal(claim_cores(a, "n0", "0-3", &err), 0);
    assert_int_equal(claim_cores(b, "n0", "3-4", &err), 1);
    assert_non_null(strstr(err.text, "program "));
    assert_non_null(strstr(err.text, entry_id(a)));
    assert_non_null(strstr(err.text, "core 3 of n0"));
    assert_int_equal(claim_cores(b, "n1", "3-4", &err), 0);
    expect_held(instance, "n0:0-3 n1:3-4");
    assert_int_equal(claim_cores(a, "n0", "2-5", &err), 0); /* in place of the first */
    expect_held(instance, "n0:2-5 n1:3-4");
    assert_int_equal(claim_cores(b, "n0", "0-1", &err), 0);
    expect_held(instance, "n0:0-5");
    entry_end(a);
    assert_false(exists(path));
    expect_held(instance, "n0:0-1");
    assert_int_equal(claim_cores(b, "", "", &err), 0);
    expect_held(instance, "");
    entry_end(b);
    free(path);
    error_clear(&err);
    instance_close(instance);
}

static void test_programs_that_did_not_claim_hold_nothing(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *program = new_program(instance);
    expect_held(instance, "");
    entry_end(program);
    instance_close(instance);
}

static void test_numbers_are_never_used_twice(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    long last = 0;
    for (int i = 0; i < 20; i++) {
        struct ledger_entry *program = new_program(instance);
        long number = atol(entry_id(program));
        assert_true(number > last);
        last = number;
        if (i & 1)
            entry_end(program);
        else
            entry_leave(program);
    }
    instance_close(instance);
}

static void test_two_programs_never_hold_one_gpu(void **state)
{
    static const struct {
        const char *cores, *gpus, *says; /* NULL: granted */
    } cases[] = {
        {"2", "2-3", NULL},
        {"2", "1-2", "holds GPU 1 of n0"},
        {"2", "0-3", "holds GPUs 0-1 of n0"},
        {"0-2", "1", "holds cores 0-1 and GPU 1 of n0"},
        {"1", "2", "holds core 1 of n0"},
        {"2", "", NULL},
    };
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *a = new_program(instance), *b = new_program(instance);
    assert_int_equal(claim_both(a, "n0", "0-1", "0-1", NULL), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(claim_both(b, "n0", cases[i].cores, cases[i].gpus, &err),
                         cases[i].says != NULL);
        if (cases[i].says && !strstr(error_text(&err), cases[i].says))
            fail_msg("%s, not %s", error_text(&err), cases[i].says);
        error_clear(&err);
    }
    assert_int_equal(claim_both(b, "n1", "0-1", "0-1", NULL), 0);
    struct rset *held = instance_held(instance, NULL);
    char *gpus = idset_encode(rset_find_host(held, "n0")->children->gpus);
    assert_string_equal(gpus, "0-1");
    free(gpus);
    rset_free(held);
    entry_end(a);
    assert_int_equal(claim_both(b, "n0", "0-1", "0-1", NULL), 0);
    entry_end(b);
    instance_close(instance);
}

/* Writes `text` over the instance's claims, or removes them. */
static void break_claims(struct instance *instance, const char *text)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/claims", instance_path(instance));
    unlink(path);
    if (!text)
        return;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_lost_claims_are_made_anew_from_the_programs_that_live(void **state)
{
    static const char *const broken[] = {NULL, "", "x\n", "tprun-claims 2 9\n",
                                         "tprun-claims 2 9\n7 h 1 0 -\tapp\tn0 0-3 -\n"};
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *old = new_program(instance), *idle = new_program(instance);
    assert_int_equal(claim_cores(old, "n0", "0-3", NULL), 0);
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        break_claims(instance, broken[i]);
        if (i & 1)
            expect_held(instance, "n0:0-7");
        struct ledger_entry *program = new_program(instance);
        assert_true(atol(entry_id(program)) > atol(entry_id(idle)));
        assert_int_equal(claim_cores(program, "n0", "3", NULL), 1);
        entry_end(idle);
        assert_int_equal(claim_cores(program, "n0", "4-7", NULL), 0);
        expect_held(instance, "n0:0-7");
        idle = program;
    }
    entry_end(old);
    entry_end(idle);
    expect_held(instance, "");
    instance_close(instance);
}

static void write_claims(struct instance *instance, const char *bytes, size_t len)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/claims", instance_path(instance));
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

static void test_claims_that_were_cut_off_or_changed_anywhere_give_no_core_twice(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *a = new_program(instance), *b = new_program(instance);
    assert_int_equal(claim_cores(a, "n0", "0-3", NULL), 0);
    int dir = open(instance_path(instance), O_RDONLY | O_DIRECTORY);
    size_t len;
    char *whole = private_directory_read(dir, "claims", 10000, &len);
    for (size_t i = 0; i < len; i++) {
        write_claims(instance, whole, i);
        assert_int_equal(claim_cores(b, "n0", "0", NULL), 1);
        expect_held(instance, "n0:0-3");
        whole[i] ^= 1;
        write_claims(instance, whole, len);
        whole[i] ^= 1;
        assert_int_equal(claim_cores(b, "n0", "3", NULL), 1);
        expect_held(instance, "n0:0-3");
    }
    free(whole);
    close(dir);
    entry_end(a);
    assert_int_equal(claim_cores(b, "n0", "0", NULL), 0);
    entry_end(b);
    instance_close(instance);
}

static void test_all_that_live_are_found_again(void **state)
{
    enum { MANY = 60 };
    struct ledger_entry *programs[MANY];
    char core[16];
    (void)state;
    struct instance *instance = open_instance();
    for (int i = 0; i < MANY; i++) {
        programs[i] = new_program(instance);
        snprintf(core, sizeof(core), "%d", i);
        assert_int_equal(claim_cores(programs[i], "n0", core, NULL), 0);
    }
    for (int i = 0; i < MANY; i += 3)
        entry_end(programs[i]);
    break_claims(instance, NULL);
    struct ledger_entry *last = new_program(instance);
    assert_int_equal(atol(entry_id(last)), atol(entry_id(programs[MANY - 1])) + 1);
    for (int i = 0; i < MANY; i++) {
        snprintf(core, sizeof(core), "%d", i);
        assert_int_equal(claim_cores(last, "n0", core, NULL), i % 3 != 0);
        if (i % 3)
            entry_end(programs[i]);
    }
    entry_end(last);
    instance_close(instance);
}

/* Who was stopped between a number and its row is passed over. */
static void test_a_number_that_somebody_is_about_to_take_is_left_to_them(void **state)
{
    char path[512];
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *a = new_program(instance);
    uint64_t number = strtoull(entry_id(a), NULL, 10);
    snprintf(path, sizeof(path), "%s/alive", instance_path(instance));
    int fd = open(path, O_RDWR);
    assert_int_equal(private_directory_lock_byte(fd, number + 1), 0);
    struct ledger_entry *b = new_program(instance);
    assert_int_equal(atol(entry_id(b)), number + 2);
    close(fd);
    entry_end(a);
    entry_end(b);
    instance_close(instance);
}

static void test_a_file_of_the_context_is_written_whole(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *program = new_program(instance);
    json_t *value = json_pack("{s:[i,i]}", "a", 1, 2);
    struct error err = ERROR_INIT;
    assert_int_equal(entry_write(program, "spec.json", value, &err), 0);
    size_t len;
    char *text = private_directory_read(entry_dir(program), "spec.json", 100, &len);
    assert_string_equal(text, "{\"a\":[1,2]}");
    free(text);
    static const char *const bad[] = {"", "a/b", "../x", ".hidden"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(entry_write(program, bad[i], value, &err), -1);
        assert_non_null(err.text);
    }
    error_clear(&err);
    json_decref(value);
    entry_end(program);
    instance_close(instance);
}

static void test_ending_removes_whatever_the_directory_holds(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *program = new_program(instance);
    char *path = strdup(entry_path(program)), outside[512];
    snprintf(outside, sizeof(outside), "%s/outside", world);
    assert_int_equal(mkdir(outside, 0700), 0);
    int dir = entry_dir(program);
    assert_int_equal(mkdirat(dir, "user", 0700), 0);
    assert_int_equal(mkdirat(dir, "user/deep", 0700), 0);
    assert_int_equal(symlinkat(outside, dir, "user/deep/link"), 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof(name.sun_path), "/proc/self/fd/%d/control", dir);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    close(fd);
    entry_end(program);
    assert_false(exists(path));
    assert_true(exists(outside));
    free(path);
    instance_close(instance);
}

/* A child that claims, says how that went, and stays until it is killed. */
static pid_t start_holder(const char *cores, int *result)
{
    int pipefd[2];
    assert_int_equal(pipe(pipefd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct instance *instance = instance_open("this machine", NULL);
        struct ledger_entry *program = instance ? entry_new(instance, "./app", NULL) : NULL;
        int rc = program ? claim_cores(program, "n0", cores, NULL) : -1;
        if (write(pipefd[1], &rc, sizeof(rc)) != sizeof(rc))
            _exit(1);
        for (;;)
            pause();
    }
    close(pipefd[1]);
    *result = pipefd[0];
    return pid;
}

static int read_result(int fd)
{
    int rc = -2;
    assert_int_equal(read(fd, &rc, sizeof(rc)), sizeof(rc));
    close(fd);
    return rc;
}

static void kill_holder(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_of_many_that_want_a_core_exactly_one_gets_it(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        pid_t pids[8];
        int results[8], wins = 0, losses = 0;
        for (int i = 0; i < 8; i++)
            pids[i] = start_holder("0-1", &results[i]);
        for (int i = 0; i < 8; i++) {
            int rc = read_result(results[i]);
            wins += rc == 0;
            losses += rc == 1;
        }
        assert_int_equal(wins, 1);
        assert_int_equal(losses, 7);
        for (int i = 0; i < 8; i++)
            kill_holder(pids[i]);
    }
}

static void test_a_killed_holder_frees_at_once(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *program = new_program(instance);
    int result;
    pid_t pid = start_holder("0-3", &result);
    assert_int_equal(read_result(result), 0);
    expect_held(instance, "n0:0-3");
    assert_int_equal(claim_cores(program, "n0", "0", NULL), 1);
    kill_holder(pid);
    assert_int_equal(claim_cores(program, "n0", "0", NULL), 0);
    expect_held(instance, "n0:0");
    entry_end(program);
    instance_close(instance);
}

/* Adds one to the number in the file, `times` times, and is killed while it has the lock. */
static pid_t start_adder(const char *file, int times)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    struct instance *instance = instance_open("this machine", NULL);
    for (int i = 0; instance && i < times; i++) {
        static const char *const keys[] = {"a", "number"};
        int number = 0, lock;
        while ((lock = instance_exclude(instance, "names", keys, 2, NULL)) == INSTANCE_EXCLUDED)
            sched_yield();
        int fd = open(file, O_RDWR | O_CREAT, 0600);
        if (lock < 0 || fd < 0 || pread(fd, &number, sizeof(number), 0) < 0)
            _exit(1);
        number++;
        if (pwrite(fd, &number, sizeof(number), 0) != sizeof(number))
            _exit(1);
        if (i + 1 == times)
            raise(SIGKILL);
        close(fd);
        close(lock);
    }
    _exit(1);
}

static void test_one_process_at_a_time_has_a_key_and_a_killed_one_leaves_it(void **state)
{
    enum { ADDERS = 4, TIMES = 500 };
    (void)state;
    struct instance *instance = open_instance();
    char *path;
    pid_t pids[ADDERS];
    int number = 0, status;
    assert_true(asprintf(&path, "%s/number", instance_path(instance)) > 0);
    for (int i = 0; i < ADDERS; i++)
        pids[i] = start_adder(path, TIMES);
    for (int i = 0; i < ADDERS; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, &number, sizeof(number)), sizeof(number));
    assert_int_equal(number, ADDERS * TIMES);
    close(fd);
    free(path);
    instance_close(instance);
}

static void test_keys_of_others_are_in_nobodys_way(void **state)
{
    static const char *const a[] = {"a", "b", "a"}, *const b[] = {"c"}, *const c[] = {"d", "b"};
    (void)state;
    struct instance *one = open_instance(), *two = open_instance();
    int first = instance_exclude(one, "names", a, 3, NULL);
    int second = instance_exclude(two, "names", b, 1, NULL);
    assert_true(first >= 0 && second >= 0);
    assert_int_equal(instance_exclude(two, "names", c, 2, NULL), INSTANCE_EXCLUDED);
    close(first);
    int third = instance_exclude(two, "names", c, 2, NULL);
    assert_true(third >= 0);
    close(second);
    close(third);
    instance_close(one);
    instance_close(two);
}

/* Who was stopped while it had the lock is named, and who waits a little comes back. */
static void test_who_has_the_lock_is_named(void **state)
{
    char path[512], want[640], text[64];
    struct error err = ERROR_INIT;
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *program = new_program(instance);
    snprintf(path, sizeof(path), "%s/lock", instance_path(instance));
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(path, O_RDWR);
        snprintf(text, sizeof(text), "%-15d\n", (int)getpid());
        if (private_directory_lock(fd, true) == 0 && pwrite(fd, text, 16, 0) == 16)
            raise(SIGSTOP);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
    instance_set_patience(instance, 0.1);
    assert_false(instance_is_busy(instance));
    assert_int_equal(claim_cores(program, "n0", "0", &err), -1);
    assert_true(instance_is_busy(instance));
    snprintf(want, sizeof(want),
             "%s is locked by process %d, which is stopped: continue it (kill -CONT %d) or end it",
             path, (int)pid, (int)pid);
    assert_string_equal(error_text(&err), want);
    expect_held(instance, ""); /* who only reads needs no lock */
    kill_holder(pid);
    assert_int_equal(claim_cores(program, "n0", "0", NULL), 0);
    assert_false(instance_is_busy(instance));
    entry_end(program);
    instance_close(instance);
    error_clear(&err);
}

/* A process that has the lock for longer than is waited for. */
static pid_t start_locker(const struct instance *instance)
{
    char path[512], byte;
    int ends[2];
    snprintf(path, sizeof(path), "%s/lock", instance_path(instance));
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(path, O_RDWR);
        if (private_directory_lock(fd, true) == 0 && write(ends[1], "", 1) == 1)
            sleep(3);
        _exit(0);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

/* Who started the process may have blocked it. */
static void test_a_wait_for_the_lock_ends_also_where_its_signal_is_blocked(void **state)
{
    (void)state;
    sigset_t alarms, before, after;
    struct instance *instance = open_instance();
    struct ledger_entry *program = new_program(instance);
    pid_t pid = start_locker(instance);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarms, &before);
    instance_set_patience(instance, 0.1);
    assert_int_equal(claim_cores(program, "n0", "0", NULL), -1);
    assert_true(instance_is_busy(instance));
    sigprocmask(SIG_SETMASK, &before, &after);
    assert_true(sigismember(&after, SIGALRM));
    kill_holder(pid);
    entry_end(program);
    instance_close(instance);
}

/* tpmove has one, for file systems that hang. */
static void test_a_wait_for_the_lock_leaves_an_alarm_of_the_process_as_it_is(void **state)
{
    (void)state;
    const struct itimerval late = {.it_value = {.tv_sec = 1000}};
    struct itimerval left = {0};
    struct instance *instance = open_instance();
    struct ledger_entry *program = new_program(instance);
    pid_t pid = start_locker(instance);
    setitimer(ITIMER_REAL, &late, NULL);
    instance_set_patience(instance, 0.1);
    assert_int_equal(claim_cores(program, "n0", "0", NULL), -1);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, &left);
    assert_uint_in_range(left.it_value.tv_sec, 1, 999);
    kill_holder(pid);
    entry_end(program);
    instance_close(instance);
}

static void test_a_file_is_written_and_appended_to_and_others_read_its_values(void **state)
{
    (void)state;
    struct instance *one = open_instance(), *two = open_instance();
    struct ledger_entry *program = new_program(one), *other = new_program(two);
    json_t *first = json_pack("[s]", "first"), *next = json_pack("{s:i}", "next", 2);
    assert_int_equal(entry_append(program, "values", next, NULL), -1); /* there is none */
    assert_int_equal(entry_write(program, "values", first, NULL), 0);
    assert_int_equal(entry_append(program, "values", next, NULL), 0);
    assert_int_equal(entry_append(program, "values", next, NULL), 0);
    int fd = openat(entry_dir(program), "values", O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "{\"next\":", 8), 8); /* half of one */
    close(fd);
    json_t *have = instance_read(two, other, "values", NULL);
    json_t *want = json_pack("[[O,O,O]]", first, next, next);
    assert_true(json_equal(have, want));
    json_decref(have);
    have = instance_read(one, program, "values", NULL);
    assert_int_equal(json_array_size(have), 0);
    json_decref(have);
    json_decref(want);
    json_decref(first);
    json_decref(next);
    entry_end(other);
    entry_end(program);
    instance_close(two);
    instance_close(one);
}

static void test_a_mark_is_taken_away_by_one_program(void **state)
{
    (void)state;
    struct instance *one = open_instance(), *two = open_instance();
    struct ledger_entry *program = new_program(one);
    const char *id = entry_id(program);
    assert_false(instance_is_marked(two, id, "m"));
    assert_int_equal(entry_mark(program, "m", NULL), 0);
    assert_int_equal(entry_mark(program, "m", NULL), -1);
    assert_true(instance_is_marked(two, id, "m"));
    assert_true(instance_take_mark(two, id, "m"));
    assert_false(instance_take_mark(one, id, "m"));
    assert_false(instance_is_marked(one, id, "m"));
    assert_int_equal(entry_mark(program, "m", NULL), 0); /* it ends with the program */
    char *path = strdup(entry_path(program)), outside[64];
    snprintf(outside, sizeof(outside), "../programs/%s", id);
    assert_false(instance_take_mark(two, outside, "m"));
    assert_false(instance_take_mark(two, "", "m"));
    entry_end(program);
    assert_int_equal(access(path, F_OK), -1);
    free(path);
    instance_close(two);
    instance_close(one);
}

static void test_a_program_lives_on_in_a_forked_process(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *program = new_program(instance);
    assert_int_equal(claim_cores(program, "n0", "0-3", NULL), 0);
    pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            pause();
    }
    entry_leave(program);
    expect_held(instance, "n0:0-3");
    kill_holder(pid);
    expect_held(instance, "");
    instance_close(instance);
}

static void test_a_program_does_not_live_on_behind_an_exec(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *program = new_program(instance);
    assert_int_equal(claim_cores(program, "n0", "0-3", NULL), 0);
    int pipefd[2];
    char byte;
    assert_int_equal(pipe2(pipefd, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        execlp("sleep", "sleep", "60", (char *)NULL);
        _exit(1);
    }
    close(pipefd[1]);
    assert_int_equal(read(pipefd[0], &byte, 1), 0); /* the child is behind its exec */
    close(pipefd[0]);
    entry_leave(program);
    expect_held(instance, "");
    kill_holder(pid);
    instance_close(instance);
}

static void test_kills_at_any_moment_leave_a_ledger_that_works(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *holder = new_program(instance);
    long last = 0;
    assert_int_equal(claim_cores(holder, "n1", "0-3", NULL), 0);
    srand(11);
    for (int round = 0; round < 150; round++) {
        pid_t pid = fork();
        if (pid == 0) {
            for (;;) {
                struct instance *own = instance_open("this machine", NULL);
                struct ledger_entry *program = entry_new(own, "./app", NULL);
                claim_cores(program, "n0", "0-3", NULL);
                if (claim_cores(program, "n1", "3", NULL) != 1)
                    _exit(1);
                entry_end(program);
                instance_close(own);
            }
        }
        nanosleep(&(struct timespec){0, rand() % 1500000}, NULL);
        kill_holder(pid);
        struct ledger_entry *program = new_program(instance);
        assert_true(atol(entry_id(program)) > last);
        last = atol(entry_id(program));
        assert_int_equal(claim_cores(program, "n1", "0", NULL), 1);
        assert_int_equal(claim_cores(program, "n0", "0-3", NULL), 0);
        expect_held(instance, "n0:0-3 n1:0-3");
        entry_end(program);
        expect_held(instance, "n1:0-3");
    }
    entry_end(holder);
    instance_close(instance);
}

static void test_every_identity_has_an_instance_of_its_own(void **state)
{
    static const char *const identities[] = {
        "this machine",  "R file /a/b.json", "R file /a/b_json", "R file /c/b.json", "",
        "\xc3\xa9/../.."};
    (void)state;
    struct instance *instances[6];
    for (int i = 0; i < 6; i++) {
        instances[i] = instance_open(identities[i], NULL);
        assert_non_null(instances[i]);
        assert_int_equal(strncmp(instance_path(instances[i]), world, strlen(world)), 0);
        assert_null(strchr(strstr(instance_path(instances[i]), "/tprun/") + 7, '/'));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(instance_path(instances[i]), instance_path(instances[j]));
    }
    struct instance *again = open_instance();
    assert_string_equal(instance_path(again), instance_path(instances[0]));
    size_t len;
    int dir = open(instance_path(instances[1]), O_RDONLY | O_DIRECTORY);
    char *text = private_directory_read(dir, "identity", 1000, &len);
    assert_string_equal(text, "R file /a/b.json\n");
    free(text);
    close(dir);
    instance_close(again);
    for (int i = 0; i < 6; i++)
        instance_close(instances[i]);
}

static void expect_no_instance(const char *says)
{
    struct error err = ERROR_INIT;
    struct instance *instance = instance_open("this machine", &err);
    assert_null(instance);
    if (!strstr(err.text, says))
        fail_msg("\"%s\" does not say \"%s\"", err.text, says);
    error_clear(&err);
}

static void test_a_directory_that_others_may_enter_is_refused(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof(path), "%s/tprun", world);
    mkdir(path, 0700);
    chmod(path, 0755);
    expect_no_instance("mode 0755");
    chmod(path, 0710);
    expect_no_instance("mode 0710");
    chmod(path, 0700);
    instance_close(open_instance());
    struct instance *instance = open_instance();
    chmod(instance_path(instance), 0750);
    expect_no_instance(instance_path(instance));
    chmod(instance_path(instance), 0700);
    instance_close(instance);
}

static void test_a_symbolic_link_is_refused(void **state)
{
    (void)state;
    char path[512], elsewhere[512];
    snprintf(path, sizeof(path), "%s/tprun", world);
    snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", world);
    directory_remove(AT_FDCWD, path);
    mkdir(elsewhere, 0700);
    assert_int_equal(symlink(elsewhere, path), 0);
    expect_no_instance("is a symbolic link, expected a directory: remove it");
    unlink(path);
}

static void test_a_directory_of_another_user_is_refused(void **state)
{
    (void)state;
    char path[512];
    if (geteuid() != 0)
        skip();
    snprintf(path, sizeof(path), "%s/tprun", world);
    mkdir(path, 0700);
    assert_int_equal(chown(path, 12345, 12345), 0);
    expect_no_instance(
        "belongs to user 12345, not to root (0) who runs this: user 12345 or root has "
        "to remove it");
    assert_int_equal(chown(path, 1, 1), 0);
    expect_no_instance("belongs to daemon (1), not to root (0)");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink(world, path), 0);
    assert_int_equal(lchown(path, 1, 1), 0);
    expect_no_instance("is a symbolic link that belongs to daemon (1)");
    assert_int_equal(unlink(path), 0);
}

/* Cron, batch jobs and su have another environment, or none. */
static void test_the_environment_does_not_decide_the_place(void **state)
{
    static const char *const names[] = {"XDG_RUNTIME_DIR", "TMPDIR", "HOME", "XDG_STATE_HOME"};
    char want[64], kept[4][256], other[512];
    (void)state;
    snprintf(want, sizeof(want), RUNTIME_PARENT "/tprun-%u/", (unsigned)geteuid());
    snprintf(other, sizeof(other), "%s/other", world);
    mkdir(other, 0700);
    unsetenv("TPRUN_RUNTIME_DIR");
    for (size_t i = 0; i < 4; i++) {
        const char *was = getenv(names[i]);
        snprintf(kept[i], sizeof(kept[i]), "%s", was ? was : "");
        setenv(names[i], other, 1);
    }
    struct instance *with = instance_open("test-ledger", NULL);
    for (size_t i = 0; i < 4; i++)
        unsetenv(names[i]);
    struct instance *without = instance_open("test-ledger", NULL);
    assert_non_null(with);
    assert_non_null(without);
    assert_string_equal(instance_path(with), instance_path(without));
    assert_int_equal(strncmp(instance_path(with), want, strlen(want)), 0);
    assert_int_equal(rmdir(other), 0); /* nothing is in it */
    directory_remove(AT_FDCWD, instance_path(with));
    instance_close(with);
    instance_close(without);
    for (size_t i = 0; i < 4; i++)
        if (*kept[i])
            setenv(names[i], kept[i], 1);
    setenv("TPRUN_RUNTIME_DIR", runtime, 1);
}

static void test_a_runtime_directory_of_the_users_choice_is_checked_as_well(void **state)
{
    char path[512], file[512];
    (void)state;
    setenv("TPRUN_RUNTIME_DIR", "relative", 1);
    expect_no_instance("TPRUN_RUNTIME_DIR: expected an absolute path, got \"relative\"");
    setenv("TPRUN_RUNTIME_DIR", "/nonexistent/below", 1);
    expect_no_instance("cannot make the directory /nonexistent/below: No such file or directory");
    snprintf(file, sizeof(file), "%s/file", world);
    close(open(file, O_WRONLY | O_CREAT, 0600));
    setenv("TPRUN_RUNTIME_DIR", file, 1);
    expect_no_instance("is a file, expected a directory");
    snprintf(path, sizeof(path), "%s/made//", world);
    setenv("TPRUN_RUNTIME_DIR", path, 1);
    instance_close(open_instance());
    snprintf(path, sizeof(path), "%s/made", world);
    assert_int_equal(directory_remove(AT_FDCWD, path), 0);
    setenv("TPRUN_RUNTIME_DIR", runtime, 1);
}

/* systemd-tmpfiles removes what has been in /tmp for ten days, but for what is locked so. */
static void test_the_directory_is_locked_against_cleaning_while_it_is_used(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    int fd = open(runtime, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
    instance_close(instance);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    close(fd);
}

static void test_what_cannot_be_made_anew_is_named(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *a = new_program(instance), *b = new_program(instance);
    json_t *wrong = json_pack("{s:i}", "version", 2);
    struct error err = ERROR_INIT;
    assert_int_equal(entry_write(a, "R.json", wrong, NULL), 0);
    break_claims(instance, NULL);
    assert_null(instance_held(instance, &err));
    assert_non_null(strstr(err.text, entry_path(a)));
    error_clear(&err);
    assert_int_equal(claim_cores(b, "n0", "0", &err), -1);
    assert_non_null(strstr(err.text, entry_path(a)));
    error_clear(&err);
    json_decref(wrong);
    entry_end(a);
    entry_end(b);
    instance_close(instance);
}

/* ---- the queue ---- */

static int queue_until(struct ledger_entry *program, const char *host, const char *cores,
                       uint64_t start)
{
    struct rset *scope = rset_new();
    struct idset *ids = idset_decode(cores, NULL);
    if (!idset_empty(ids))
        rset_append(scope, 0, host, ids, NULL);
    int rc = entry_queue(program, scope, start, NULL);
    idset_free(ids);
    rset_free(scope);
    return rc;
}

static int queue_cores(struct ledger_entry *program, const char *host, const char *cores)
{
    return queue_until(program, host, cores, 0);
}

/* A program that runs so long at most. */
static struct ledger_entry *limited_program(struct instance *instance, double seconds)
{
    struct ledger_entry *program = new_program(instance);
    entry_set_limit(program, seconds, 0);
    return program;
}

static void expect_claim_error(struct ledger_entry *program, const char *host, const char *cores,
                               const char *says)
{
    struct error err = ERROR_INIT;
    assert_int_equal(claim_cores(program, host, cores, &err), 1);
    if (!strstr(error_text(&err), says))
        fail_msg("\"%s\" does not say \"%s\"", error_text(&err), says);
    error_clear(&err);
}

static void expect_holders(struct instance *instance, struct ledger_entry *program,
                           const char *cores, const char *says)
{
    struct rset *wanted = rset_new();
    struct idset *ids = idset_decode(cores, NULL);
    rset_append(wanted, 0, "n0", ids, NULL);
    char *text = instance_holders(instance, program, wanted);
    if (*says ? !strstr(text, says) : *text)
        fail_msg("\"%s\" does not say \"%s\"", text, says);
    free(text);
    idset_free(ids);
    rset_free(wanted);
}

static void test_a_long_command_is_shown_by_its_beginning(void **state)
{
    (void)state;
    char name[200], want[200];
    struct instance *instance = open_instance();
    memset(name, 'x', 59);
    snprintf(name + 59, sizeof(name) - 59, "\u00e9 and more");
    struct ledger_entry *a = entry_new(instance, name, NULL), *b = new_program(instance);
    assert_int_equal(claim_cores(a, "n0", "0", NULL), 0);
    snprintf(want, sizeof(want), "(%.59s..., since ", name);
    expect_holders(instance, b, "0", want);
    expect_holders(instance, b, "0", ", for ");
    entry_end(a);
    entry_end(b);
    instance_close(instance);
}

static void expect_barred(struct ledger_entry *entry, size_t hosts)
{
    struct rset *barred, *held = entry_held(entry, &barred, NULL);
    assert_non_null(held);
    assert_int_equal(barred->nnodes, hosts);
    rset_free(barred);
    rset_free(held);
}

static void test_nobody_overtakes_who_waits(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *a = new_program(instance), *b = new_program(instance);
    struct ledger_entry *c = new_program(instance), *d = new_program(instance);
    assert_int_equal(claim_cores(a, "n0", "0-2", NULL), 0);
    assert_int_equal(queue_cores(b, "n0", "0-3"), 0); /* wants all four */
    expect_claim_error(c, "n0", "3", "waits for core 3 of n0, and came first");
    assert_int_equal(claim_cores(c, "n1", "3", NULL), 0); /* is not in its way */
    assert_int_equal(queue_cores(d, "n0", "0-3"), 0);
    assert_int_equal(entry_place(b), 0);
    assert_int_equal(entry_place(d), 1);
    expect_barred(d, 1);
    expect_barred(b, 0);
    expect_holders(instance, d, "0-3", "(./app, since ");
    expect_holders(instance, d, "0-3", ") holds cores 0-2 of n0; 1 program is before this one");
    expect_holders(instance, b, "3", "");
    entry_end(a);
    expect_claim_error(d, "n0", "0", "came first");
    assert_int_equal(claim_cores(b, "n0", "0-1", NULL), 0); /* and waits no longer */
    assert_int_equal(entry_place(d), 0);
    assert_int_equal(claim_cores(d, "n0", "2-3", NULL), 0);
    entry_end(b);
    entry_end(c);
    entry_end(d);
    instance_close(instance);
}

static void test_who_is_over_before_the_first_can_start_does_not_wait_for_it(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    uint64_t start = (uint64_t)time(NULL) + 100;
    struct ledger_entry *holder = new_program(instance), *first = new_program(instance);
    struct ledger_entry *second = new_program(instance), *third = new_program(instance);
    struct ledger_entry *quick = limited_program(instance, 50),
                        *slow = limited_program(instance, 200), *endless = new_program(instance);
    assert_int_equal(claim_cores(holder, "n0", "0-2", NULL), 0);
    assert_int_equal(queue_until(first, "n0", "0-3", start), 0);
    assert_int_equal(queue_cores(second, "n0", "0-3"), 0); /* which cannot start before the first */
    expect_claim_error(slow, "n0", "3", "came first");
    expect_claim_error(endless, "n0", "3", "came first");
    expect_claim_error(quick, "n0", "2", "holds core 2");
    assert_int_equal(claim_cores(quick, "n0", "3", NULL), 0);
    assert_int_equal(claim_cores(quick, "", "", NULL), 0);
    assert_int_equal(queue_until(third, "n0", "3", 1), 0); /* which may start at any moment */
    expect_claim_error(quick, "n0", "3", "came first");
    assert_int_equal(queue_cores(third, "", ""), 0);
    entry_end(first);
    expect_claim_error(quick, "n0", "3", "came first"); /* it may be the second's turn now */
    entry_end(second);
    entry_end(third);
    entry_end(quick);
    entry_end(slow);
    entry_end(endless);
    entry_end(holder);
    instance_close(instance);
}

static void test_what_the_first_does_not_keep_is_for_any_other(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *holder = limited_program(instance, 50), *first = new_program(instance);
    struct ledger_entry *second = new_program(instance), *other = new_program(instance);
    struct idset *all = idset_decode("0-7", NULL);
    struct rset *scope = rset_new();
    struct entry_holds holds;
    uint64_t state_before, start = 0;
    rset_append(scope, 0, "n0", all, NULL);
    assert_int_equal(claim_cores(holder, "n0", "0-3", NULL), 0);
    assert_int_equal(claim_cores(other, "n1", "0-3", NULL), 0);
    assert_int_equal(queue_until(first, "n0", "0-5", 1), 0);
    assert_int_equal(queue_cores(second, "n0", "0-7"), 0);

    assert_int_equal(entry_holds_read(first, scope, &holds, NULL), 0);
    assert_int_equal(holds.count, 1);
    assert_true(holds.is_first && holds.list[0].is_known && holds.list[0].end > holds.now + 48);
    state_before = holds.state;
    entry_holds_clear(&holds);
    assert_int_equal(claim_cores(other, "n1", "0-2", NULL), 0);
    assert_int_equal(entry_holds_read(first, scope, &holds, NULL), 0);
    assert_int_equal(holds.state, state_before);
    entry_holds_clear(&holds);
    assert_int_equal(entry_holds_read(second, scope, &holds, NULL), 0);
    assert_int_equal(holds.count, 2);
    assert_false(holds.is_first || holds.list[1].is_known);
    entry_holds_clear(&holds);

    assert_int_equal(claim_cores(second, "n0", "6-7", NULL), 0);
    assert_int_equal(entry_holds_read(first, scope, &holds, NULL), 0);
    assert_true(holds.state != state_before);
    entry_holds_clear(&holds);
    char *who = entry_delayed(other, scope, &start);
    assert_non_null(strstr(who, "program "));
    assert_int_equal(start, 1);
    free(who);
    struct waiter waiter;
    assert_true(instance_find_waiter(instance, strtoull(entry_id(first), NULL, 10), &waiter));
    char *holders = idset_encode(waiter.holders);
    assert_string_equal(holders, entry_id(holder));
    assert_int_equal(waiter.before, 0);
    free(holders);
    idset_free(waiter.holders);
    assert_false(instance_find_waiter(instance, strtoull(entry_id(holder), NULL, 10), &waiter));
    entry_end(first);
    entry_end(second);
    entry_end(other);
    entry_end(holder);
    rset_free(scope);
    idset_free(all);
    instance_close(instance);
}

static void test_a_waiter_that_was_killed_is_in_nobodys_way(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct ledger_entry *waiter = entry_new(instance_open("this machine", NULL), "w", NULL);
        if (queue_cores(waiter, "n0", "0-3") < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    struct ledger_entry *program = new_program(instance);
    expect_claim_error(program, "n0", "0", "came first");
    kill_holder(pid);
    assert_int_equal(claim_cores(program, "n0", "0", NULL), 0);
    entry_end(program);
    close(ready[0]);
    close(ready[1]);
    instance_close(instance);
}

static void test_who_was_killed_in_a_long_line_is_cleared_away_by_those_who_look(void **state)
{
    enum { LINE = 120, LOOKS = 20 };
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *line[LINE];
    for (size_t i = 0; i < LINE; i++) {
        line[i] = new_program(instance);
        assert_int_equal(queue_cores(line[i], "n0", "0-3"), 0);
    }
    char *lost = strdup(entry_path(line[LINE / 2]));
    entry_leave(line[LINE / 2]); /* without its end, as one that is killed */
    line[LINE / 2] = NULL;
    for (size_t i = 0; i < LOOKS; i++)
        expect_held(instance, "");
    assert_int_equal(access(lost, F_OK), -1);
    free(lost);
    for (size_t i = 0; i < LINE; i++)
        entry_end(line[i]);
    instance_close(instance);
}

static void test_who_leaves_the_line_gives_its_place_away(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *a = new_program(instance), *b = new_program(instance);
    assert_int_equal(queue_cores(a, "n0", "0-3"), 0);
    expect_claim_error(b, "n0", "0", "came first");
    assert_int_equal(queue_cores(a, "", ""), 0);
    assert_int_equal(claim_cores(b, "n0", "0", NULL), 0);
    entry_end(a);
    entry_end(b);
    instance_close(instance);
}

/* A program that waits outside cannot have what a program holds: its tasks' runs pass it by. */
static void test_tasks_runs_do_not_stand_in_line_behind_those_outside(void **state)
{
    (void)state;
    struct instance *instance = open_instance(), *inner = open_instance();
    struct ledger_entry *outer = new_program(instance), *waiter = new_program(instance);
    instance_draw_from(inner, entry_id(outer));
    assert_int_equal(claim_cores(outer, "n0", "0-1", NULL), 0);
    assert_int_equal(queue_cores(waiter, "n0", "0-3"), 0);
    struct ledger_entry *first = new_program(inner), *second = new_program(inner);
    expect_held(inner, "");
    assert_int_equal(claim_cores(first, "n0", "0", NULL), 0);
    expect_claim_error(second, "n0", "0", "holds core 0");
    assert_int_equal(queue_cores(first, "n0", "0-1"), 0);
    expect_claim_error(second, "n0", "1", "came first");
    entry_end(first);
    assert_int_equal(claim_cores(second, "n0", "1", NULL), 0);
    entry_end(second);
    entry_end(outer);
    entry_end(waiter);
    instance_close(inner);
    instance_close(instance);
}

static bool has_sign(int watch, int milliseconds)
{
    char bytes[4096];
    struct pollfd one = {.fd = watch, .events = POLLIN};
    bool any = poll(&one, 1, milliseconds) > 0;
    while (read(watch, bytes, sizeof(bytes)) > 0)
        ;
    return any;
}

static void test_whatever_frees_something_gives_a_sign(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *a = new_program(instance), *b = new_program(instance);
    int result;
    pid_t pid = start_holder("4-5", &result);
    assert_int_equal(read_result(result), 0);
    assert_int_equal(claim_cores(a, "n0", "0-3", NULL), 0);
    int watch = instance_watch(instance);
    assert_true(watch >= 0);
    expect_held(instance, "n0:0-5"); /* looking is no sign */
    assert_false(has_sign(watch, 0));
    assert_int_equal(claim_cores(a, "n0", "0-1", NULL), 0);
    assert_true(has_sign(watch, 1000));
    assert_int_equal(queue_cores(b, "n0", "0-3"), 0);
    assert_false(has_sign(watch, 0));
    assert_int_equal(claim_cores(b, "n0", "2", NULL), 0); /* the next one in line may look */
    assert_true(has_sign(watch, 1000));
    entry_end(b);
    assert_true(has_sign(watch, 1000));
    kill_holder(pid);
    assert_true(has_sign(watch, 1000));
    entry_end(a);
    close(watch);
    instance_close(instance);
}

static void test_who_keeps_other_cores_than_before_does_not_ring_for_itself(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *waiting[4];
    int bell[4];
    for (size_t i = 0; i < 4; i++) {
        waiting[i] = new_program(instance);
        bell[i] = entry_bell(waiting[i]);
        assert_int_equal(queue_cores(waiting[i], "n0", "0-3"), 0);
    }
    assert_int_equal(queue_cores(waiting[1], "n0", "0-3"), 0);
    for (size_t i = 0; i < 4; i++) /* it is one of the first two all the same */
        assert_int_equal(has_sign(bell[i], 0), i == 0);
    assert_int_equal(queue_cores(waiting[0], "n0", "0-1"), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(has_sign(bell[i], 0), i == 1 || i == 2);
    for (size_t i = 0; i < 4; i++) {
        entry_end(waiting[i]);
        close(bell[i]);
    }
    instance_close(instance);
}

static void test_who_leaves_the_line_rings_for_the_next_two_of_each_line(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct ledger_entry *waiting[6];
    int bell[6];
    for (size_t i = 0; i < 6; i++) {
        waiting[i] = new_program(instance);
        bell[i] = entry_bell(waiting[i]);
        assert_true(bell[i] >= 0);
        assert_int_equal(queue_cores(waiting[i], "n0", i < 4 ? "0-3" : "0-1"), 0);
    }
    assert_int_equal(entry_place(waiting[3]), 2); /* or more */
    assert_int_equal(claim_cores(waiting[0], "n0", "0", NULL), 0);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(has_sign(bell[i], 0), i != 0 && i != 3);
    entry_end(waiting[0]); /* it was in no line: the first of each looks, and no other */
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(has_sign(bell[i], 0), i == 1 || i == 4);
    entry_end(waiting[1]);
    for (size_t i = 2; i < 6; i++)
        assert_true(has_sign(bell[i], 0));
    for (size_t i = 2; i < 6; i++)
        entry_end(waiting[i]);
    for (size_t i = 0; i < 6; i++)
        close(bell[i]);
    instance_close(instance);
}

static void test_strangers_are_told_apart_by_their_family(void **state)
{
    (void)state;
    struct instance *instance = open_instance();
    struct rset *set = rset_new();
    struct idset *ids = idset_decode("0-1", NULL);
    rset_append(set, 0, "here", ids, NULL);
    struct ledger_entry *a = entry_new(instance, "f00 ./app in /x", NULL);
    struct ledger_entry *b = entry_new(instance, "f00 b in /x", NULL);
    assert_int_equal(entry_share(a, set, NULL), 0);
    assert_int_equal(entry_share(b, set, NULL), 0);
    char *text = instance_strangers(instance, b, set, "f00");
    assert_string_equal(text, "");
    free(text);
    text = instance_strangers(instance, b, set, "f0");
    const char *want = "processors 0-1 are also bound by a run of ./app in /x, since ";
    assert_int_equal(strncmp(text, want, strlen(want)), 0);
    free(text);
    entry_end(a);
    entry_end(b);
    idset_free(ids);
    rset_free(set);
    instance_close(instance);
}

static void test_another_instance_of_the_same_path_is_not_taken_for_the_outer_one(void **state)
{
    (void)state;
    struct instance *instance = open_instance(), *outer;
    char id[64];
    assert_int_equal(strlen(instance_id(instance)), 16);
    outer = instance_open_outer(instance_path(instance), instance_id(instance));
    assert_non_null(outer);
    instance_close(outer);
    snprintf(id, sizeof(id), "%s:0123456789abcdef", instance_id(instance));
    outer = instance_open_outer(instance_path(instance), id);
    assert_non_null(outer);
    instance_close(outer);
    assert_null(instance_open_outer(instance_path(instance), "0123456789abcdef"));
    assert_null(instance_open_outer(instance_path(instance), ""));
    assert_null(instance_open_outer(world, instance_id(instance)));
    assert_null(instance_open_outer("/nonexistent", instance_id(instance)));
    instance_close(instance);
}

/* What cannot be written is refused before anything is started. */
static void test_a_full_disk_is_told_in_one_sentence(void **state)
{
    char path[512], options[] = "size=64k,mode=700";
    struct error err = ERROR_INIT;
    (void)state;
    snprintf(path, sizeof(path), "%s/full", world);
    mkdir(path, 0700);
    if (mount("tmpfs", path, "tmpfs", 0, options) < 0)
        skip();
    setenv("TPRUN_RUNTIME_DIR", path, 1);
    struct instance *instance = instance_open("this machine", &err);
    assert_non_null(instance);
    struct ledger_entry *a = entry_new(instance, "a", NULL);
    assert_non_null(a);
    assert_int_equal(claim_cores(a, "n0", "0", NULL), 0);
    char file[600];
    snprintf(file, sizeof(file), "%s/ballast", path);
    int fd = open(file, O_WRONLY | O_CREAT, 0600);
    static const char zeros[4096];
    while (write(fd, zeros, sizeof(zeros)) > 0)
        ;
    close(fd);
    struct ledger_entry *b = entry_new(instance, "b", NULL); /* its row has room */
    assert_non_null(b);
    assert_int_equal(claim_cores(b, "n0", "1", &err), -1);
    assert_non_null(strstr(error_text(&err), "No space left on device"));
    error_clear(&err);
    assert_int_equal(claim_cores(a, "n0", "0-1", &err), -1);
    assert_non_null(strstr(error_text(&err), "No space left on device"));
    expect_held(instance, "n0:0"); /* as before */
    unlink(file);
    assert_int_equal(claim_cores(b, "n0", "1", &err), 0);
    expect_held(instance, "n0:0-1");
    entry_end(b);
    entry_end(a);
    expect_held(instance, "");
    instance_close(instance);
    umount(path);
    setenv("TPRUN_RUNTIME_DIR", runtime, 1);
    error_clear(&err);
}

static double processor_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Of processor time, whatever else the machine does: the best of many rounds, and a loose limit. */
static void test_open_and_claim_cost_milliseconds(void **state)
{
    double best = INFINITY;
    (void)state;
    instance_close(open_instance());
    for (int i = 0; i < 200; i++) {
        double start = processor_now();
        struct instance *instance = instance_open("this machine", NULL);
        struct ledger_entry *program = entry_new(instance, "./app", NULL);
        assert_int_equal(claim_cores(program, "n0", "0-3", NULL), 0);
        entry_end(program);
        instance_close(instance);
        best = fmin(best, processor_now() - start);
    }
    print_message("%.0f us\n", best * 1e6);
    assert_true(best < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_claim_is_held_until_the_program_ends),
        cmocka_unit_test(test_programs_that_did_not_claim_hold_nothing),
        cmocka_unit_test(test_two_programs_never_hold_one_gpu),
        cmocka_unit_test(test_numbers_are_never_used_twice),
        cmocka_unit_test(test_lost_claims_are_made_anew_from_the_programs_that_live),
        cmocka_unit_test(test_claims_that_were_cut_off_or_changed_anywhere_give_no_core_twice),
        cmocka_unit_test(test_all_that_live_are_found_again),
        cmocka_unit_test(test_a_number_that_somebody_is_about_to_take_is_left_to_them),
        cmocka_unit_test(test_a_file_of_the_context_is_written_whole),
        cmocka_unit_test(test_ending_removes_whatever_the_directory_holds),
        cmocka_unit_test(test_of_many_that_want_a_core_exactly_one_gets_it),
        cmocka_unit_test(test_a_killed_holder_frees_at_once),
        cmocka_unit_test(test_one_process_at_a_time_has_a_key_and_a_killed_one_leaves_it),
        cmocka_unit_test(test_keys_of_others_are_in_nobodys_way),
        cmocka_unit_test(test_who_has_the_lock_is_named),
        cmocka_unit_test(test_a_wait_for_the_lock_ends_also_where_its_signal_is_blocked),
        cmocka_unit_test(test_a_wait_for_the_lock_leaves_an_alarm_of_the_process_as_it_is),
        cmocka_unit_test(test_a_file_is_written_and_appended_to_and_others_read_its_values),
        cmocka_unit_test(test_a_mark_is_taken_away_by_one_program),
        cmocka_unit_test(test_a_program_lives_on_in_a_forked_process),
        cmocka_unit_test(test_a_program_does_not_live_on_behind_an_exec),
        cmocka_unit_test(test_kills_at_any_moment_leave_a_ledger_that_works),
        cmocka_unit_test(test_every_identity_has_an_instance_of_its_own),
        cmocka_unit_test(test_a_directory_that_others_may_enter_is_refused),
        cmocka_unit_test(test_a_symbolic_link_is_refused),
        cmocka_unit_test(test_a_directory_of_another_user_is_refused),
        cmocka_unit_test(test_the_environment_does_not_decide_the_place),
        cmocka_unit_test(test_a_runtime_directory_of_the_users_choice_is_checked_as_well),
        cmocka_unit_test(test_the_directory_is_locked_against_cleaning_while_it_is_used),
        cmocka_unit_test(test_what_cannot_be_made_anew_is_named),
        cmocka_unit_test(test_a_long_command_is_shown_by_its_beginning),
        cmocka_unit_test(test_nobody_overtakes_who_waits),
        cmocka_unit_test(test_who_is_over_before_the_first_can_start_does_not_wait_for_it),
        cmocka_unit_test(test_what_the_first_does_not_keep_is_for_any_other),
        cmocka_unit_test(test_a_waiter_that_was_killed_is_in_nobodys_way),
        cmocka_unit_test(test_who_was_killed_in_a_long_line_is_cleared_away_by_those_who_look),
        cmocka_unit_test(test_who_leaves_the_line_gives_its_place_away),
        cmocka_unit_test(test_tasks_runs_do_not_stand_in_line_behind_those_outside),
        cmocka_unit_test(test_whatever_frees_something_gives_a_sign),
        cmocka_unit_test(test_who_keeps_other_cores_than_before_does_not_ring_for_itself),
        cmocka_unit_test(test_who_leaves_the_line_rings_for_the_next_two_of_each_line),
        cmocka_unit_test(test_strangers_are_told_apart_by_their_family),
        cmocka_unit_test(test_another_instance_of_the_same_path_is_not_taken_for_the_outer_one),
        cmocka_unit_test(test_a_full_disk_is_told_in_one_sentence),
        cmocka_unit_test(test_open_and_claim_cost_milliseconds),
    };
    return cmocka_run_group_tests(tests, make_world, end_world);
}
