/* cgroup: where it can be made is read right, and what is in it cannot get away. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/mem.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/descendants.h"
#include "launcher/process/exec.h"
#include "launcher/process/process_set.h"
#include "tests/unit/unit.h"

/* ---- where ---- */

#define V1 "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
#define V2(root, where)                                                                            \
    "41 31 0:38 " root " " where " rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
#define ALONE V2("/", "/sys/fs/cgroup")

static const struct {
    const char *mounts, *own, *path;
} places[] = {
    {ALONE, "0::/\n", "/sys/fs/cgroup"},
    {ALONE, "0::/user.slice/a b\n", "/sys/fs/cgroup/user.slice/a b"},
    {V1 V2("/", "/sys/fs/cgroup/unified"), "9:name=systemd:/x\n1:cpu:/y\n0::/z\n",
     "/sys/fs/cgroup/unified/z"},
    {V1 "7 1 0:9 / /c rw shared:7 master:3 - cgroup2 none rw", "0::/z", "/c/z"},
    {"7 1 0:9 / / rw - cgroup2 none rw\n", "0::/z\n", "/z"},
    {"7 1 0:9 / / rw - cgroup2 none rw\n", "0::/\n", "/"},
    {V2("/", "/a\\040b\\134\\012c"), "0::/z\n", "/a b\\\nc/z"},
    /* a container's part, without a namespace of its own */
    {V2("/docker/7", "/sys/fs/cgroup"), "0::/docker/7\n", "/sys/fs/cgroup"},
    {V2("/docker/7", "/sys/fs/cgroup"), "0::/docker/7/z\n", "/sys/fs/cgroup/z"},
    {V2("/docker/7", "/c") V2("/", "/d"), "0::/docker/77\n", "/d/docker/77"},
    {V2("/../..", "/c") V2("/", "/d"), "0::/z\n", "/d/z"},
    {ALONE, "0::/..a/b..\n", "/sys/fs/cgroup/..a/b.."},
};

static void test_the_own_directory_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct error err = ERROR_INIT;
        char *path = cgroup_locate(places[i].mounts, places[i].own, NULL, &err);
        if (!path)
            fail_msg("%s: %s", places[i].path, error_text(&err));
        assert_string_equal(path, places[i].path);
        free(path);
    }
}

static const struct {
    const char *mounts, *own, *why;
} nowhere[] = {
    {"", "", "this process is in no cgroup v2"},
    {ALONE, "1:cpu:/\n", "this process is in no cgroup v2"},
    {ALONE, "0::\n", "this process is in no cgroup v2"},
    {ALONE, "10::/\n", "this process is in no cgroup v2"},
    {ALONE, "0::z\n", "this process is in no cgroup v2"},
    {"", "0::/\n", "cgroup2 is not mounted"},
    {"\n\n", "0::/\n", "cgroup2 is not mounted"},
    {V1, "0::/\n", "cgroup2 is not mounted"},
    {"7 1 0:9 / /cgroup2 rw - tmpfs cgroup2 rw\n", "0::/\n", "cgroup2 is not mounted"},
    {"7 1 0:9 / /c rw - cgroup22 none rw\n", "0::/\n", "cgroup2 is not mounted"},
    {"7 1 0:9 / /c rw cgroup2 -\n", "0::/\n", "cgroup2 is not mounted"},
    {"7 1 0:9 /\n/c rw - cgroup2 none rw\n", "0::/\n", "cgroup2 is not mounted"},
    {"- cgroup2\n", "0::/\n", "cgroup2 is not mounted"},
    {"7 1 0:9 / c rw - cgroup2 none rw\n", "0::/\n", "cgroup2 is not mounted"},
    {V2("/docker/7", "/c"), "0::/docker\n", "cgroup2 is mounted, but not where"},
    {V2("/docker/7", "/c"), "0::/docker/77\n", "cgroup2 is mounted, but not where"},
    {V2("docker", "/c"), "0::/docker\n", "cgroup2 is mounted, but not where"},
    {ALONE, "0::/../z\n", "cgroup2 is mounted, but not where"},
    {ALONE, "0::/..\n", "cgroup2 is mounted, but not where"},
    {ALONE, "0::/a/../../z\n", "cgroup2 is mounted, but not where"},
};

static bool fits(const char *path)
{
    return strcmp(path, "/second/a") == 0;
}

static void test_of_several_places_the_one_that_fits_is_meant(void **state)
{
    (void)state;
    char *path = cgroup_locate(V2("/", "/first") V2("/", "/second") V2("/", "/third"), "0::/a\n",
                               fits, NULL);
    assert_string_equal(path, "/second/a");
    free(path);
    assert_null(cgroup_locate(V2("/", "/first"), "0::/a\n", fits, NULL));
}

/* What cgroupfs says of memory, in plain files: name, text. */
static void write_files(const char *above, const char *const (*files)[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *path = mem_format("%s/%s", above, files[i][0]);
        int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        assert_int_equal(write(fd, files[i][1], strlen(files[i][1])), strlen(files[i][1]));
        close(fd);
        free(path);
    }
}

static void test_kills_for_lack_of_memory_are_those_of_the_nearest_that_counts(void **state)
{
    static const char *const files[][2] = {
        {"cgroup.controllers", "memory\n"},
        {"memory.events", "low 0\nhigh 0\nmax 9\noom 7\noom_kill 40\noom_group_kill 0\n"},
        {"a/cgroup.controllers", "memory\n"},
        {"a/memory.events", "oom 7\noom_kill 3\n"},
        {"a/memory.max", "104857600\n"},
        {"a/b/cgroup.controllers", "memory\n"},
        {"a/b/memory.max", "max\n"},
        {"a/b/c/cgroup.controllers", "\n"},
        {"a/b/d/cgroup.controllers", "memory\n"},
        {"a/b/d/memory.events", "oom_kill 1\n"},
        {"a/b/d/memory.max", "4096\n"}};
    static const struct {
        const char *path;
        uint64_t kills, limit;
    } all[] = {{"/a/b/c", 3, 104857600},
               {"/a/b", 3, 104857600},
               {"/a/b/d", 1, 4096},
               {"", 40, UINT64_MAX},
               {"/none", 0, UINT64_MAX}};
    char above[] = "/tmp/test-cgroup.XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(above));
    char *make = mem_format("mkdir -p %s/a/b/c %s/a/b/d", above, above);
    assert_int_equal(system(make), 0);
    write_files(above, files, sizeof(files) / sizeof(files[0]));
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        uint64_t limit;
        char *path = mem_format("%s%s", above, all[i].path);
        assert_int_equal(cgroup_memory_kills(path, &limit), all[i].kills);
        assert_true(limit == all[i].limit);
        free(path);
    }
    assert_int_equal(directory_remove(AT_FDCWD, above), 0);
    free(make);
}

static void test_where_there_is_none_the_reason_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
        struct error err = ERROR_INIT;
        char *path = cgroup_locate(nowhere[i].mounts, nowhere[i].own, NULL, &err);
        if (path && !nowhere[i].why[0])
            fail_msg("%zu: %s", i, path);
        assert_null(path);
        if (strncmp(error_text(&err), nowhere[i].why, strlen(nowhere[i].why)) != 0)
            fail_msg("%zu: %s", i, error_text(&err));
        error_clear(&err);
    }
}

/* ---- made ---- */

/* ---- processor time ---- */

static void put(const char *top, const char *directory, const char *name, const char *text)
{
    char *path = mem_format("%s/%s", top, directory);
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
    char *file = mem_format("%s/%s", path, name);
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
    free(file);
    free(path);
}

static void expect_quota(const char *top, const char *own, double expect)
{
    char *mounts = mem_format("1 0 0:1 / %s/u rw - cgroup2 none rw\n"
                              "2 0 0:2 / %s/c rw shared:1 - cgroup none rw,cpu,cpuacct\n"
                              "3 0 0:3 / %s/p rw - cgroup none rw,cpuset\n",
                              top, top, top);
    double quota = cgroup_quota(mounts, own);
    if (quota != expect)
        fail_msg("%s: %g, not %g", own, quota, expect);
    free(mounts);
}

static void test_the_least_quota_around_a_process_counts(void **state)
{
    char top[] = "/tmp/quota.XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(top));
    put(top, "u/a/b/c", "cpu.max", "max 100000\n");
    put(top, "u/a/b", "cpu.max", "250000 100000\n");
    put(top, "u/a", "cpu.max", "max 100000\n");
    put(top, "u/d", "cpu.max", "50000 200000\n");
    put(top, "u/e", "cpu.max", "\n");
    put(top, "u/f", "cpu.max", "100000 0\n");
    put(top, ".", "cpu.max", "1000 100000\n"); /* above the mount point */
    put(top, "c/x/y", "cpu.cfs_quota_us", "-1\n");
    put(top, "c/x/y", "cpu.cfs_period_us", "100000\n");
    put(top, "c/x", "cpu.cfs_quota_us", "300000\n");
    put(top, "c/x", "cpu.cfs_period_us", "200000\n");
    put(top, "p/x", "cpu.cfs_quota_us", "1\n");
    expect_quota(top, "0::/a/b/c\n", 2.5);
    expect_quota(top, "0::/a/b\n", 2.5);
    expect_quota(top, "0::/a\n", INFINITY);
    expect_quota(top, "0::/\n", INFINITY);
    expect_quota(top, "0::/d\n", 0.25);
    expect_quota(top, "0::/e\n", INFINITY);
    expect_quota(top, "0::/f\n", INFINITY);
    expect_quota(top, "4:cpuset:/x\n3:cpuacct,cpu:/x/y\n0::/\n", 1.5);
    expect_quota(top, "3:cpu,cpuacct:/x/y\n0::/a/b/c\n", 1.5);
    expect_quota(top, "3:cpu,cpuacct:/x/y\n0::/d\n", 0.25);
    expect_quota(top, "3:cpuacct:/x/y\n", INFINITY);
    expect_quota(top, "1:name=cpu:/x\n", INFINITY);
    expect_quota(top, "", INFINITY);
    assert_int_equal(directory_remove(AT_FDCWD, top), 0);
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

/* Whether a directory can be made where this process is, by a shorter way than the tested one. */
static bool can_be_made(void)
{
    static const char *const mounts[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
    struct buf own = BUF_INIT;
    bool made = false;
    file_read("/proc/self/cgroup", &own);
    const char *path = strstr(buf_text(&own), "0::/");
    for (size_t i = 0; path && i < 2 && !made; i++) {
        char *name = mem_format("%s%.*s/tprun-test.%d", mounts[i], (int)strcspn(path + 3, "\n"),
                                path + 3, (int)getpid());
        char *events = mem_format("%s/cgroup.events", name);
        made = mkdir(name, 0755) == 0 && access(events, R_OK) == 0;
        rmdir(name);
        free(events);
        free(name);
    }
    buf_free(&own);
    return made;
}

static struct cgroup *last; /* what a test that fails leaves behind goes in the end */

static int teardown(void **state)
{
    (void)state;
    descendants_end(0, NULL, 0, last);
    return 0;
}

static struct cgroup *make(void)
{
    struct cgroup *cgroup = last = cgroup_new();
    struct error err = ERROR_INIT;
    assert_non_null(cgroup);
    assert_null(cgroup_path(cgroup));
    assert_int_equal(cgroup_dir(cgroup), -1);
    cgroup_find(cgroup); /* the test of a killed maker does without */
    assert_null(cgroup_path(cgroup));
    if (cgroup_make(cgroup, "17", &err) == 0)
        return cgroup;
    if (can_be_made())
        fail_msg("not made where it can be: %s", error_text(&err));
    print_message("no cgroup can be made here: %s\n", error_text(&err));
    error_clear(&err);
    skip();
    return NULL;
}

static bool is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* A shell in the cgroup, and what it writes into a pipe; -1: it was not started, see `failure`. */
static pid_t start(const struct cgroup *cgroup, const char *script, int out,
                   struct exec_failure *failure)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)script, NULL};
    char *environment[] = {(char *)"PATH=/bin:/usr/bin", NULL};
    struct exec spawn = {.path = "/bin/sh",
                         .argv = argv,
                         .envp = environment,
                         .fds = {0, out, 2, -1},
                         .umask = -1,
                         .group = true,
                         .cgroup = cgroup};
    return exec_start(&spawn, failure);
}

static pid_t start_well(const struct cgroup *cgroup, const char *script)
{
    struct exec_failure failure;
    pid_t pid = start(cgroup, script, 1, &failure);
    if (pid < 0 && (failure.number == ENOSYS || failure.number == EPERM)) {
        print_message("clone3 is not to be had here: %s\n", strerror(failure.number));
        skip();
    }
    assert_true(pid > 0);
    return pid;
}

static void test_a_process_starts_inside(void **state)
{
    struct cgroup *cgroup = make();
    struct exec_failure failure;
    char out[4352] = "";
    int ends[2];
    (void)state;
    char *path = mem_copy_text(cgroup_path(cgroup)), *name = strrchr(path, '/');
    char *id = mem_format("/tprun.17.%d.", (int)getpid());
    assert_memory_equal(name, id, strlen(id));
    assert_true(is_there(path));
    assert_false(cgroup_populated(cgroup));
    waitpid(start_well(cgroup, ":"), NULL, 0);

    assert_int_equal(pipe(ends), 0);
    pid_t pid = start(cgroup, "grep ^0:: /proc/self/cgroup; read x", ends[1], &failure);
    close(ends[1]);
    assert_true(read(ends[0], out, sizeof(out) - 1) > 0);
    out[strcspn(out, "\n")] = '\0';
    assert_string_equal(strrchr(out, '/'), name);
    close(ends[0]);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    while (cgroup_populated(cgroup)) /* grep has written, and may not have left */
        nap();
    cgroup_remove(cgroup);
    assert_false(is_there(path));
    assert_null(cgroup_path(cgroup));
    assert_int_equal(cgroup_dir(cgroup), -1);
    free(id);
    free(path);
}

static void assert_left(const struct cgroup *cgroup, const char *want)
{
    char *text = process_set_describe_left(&(struct process_set){0}, cgroup);
    assert_string_equal(text, want);
    free(text);
}

static void test_who_lives_in_it_is_named(void **state)
{
    struct cgroup *cgroup = make();
    char want[64];
    (void)state;
    pid_t pid = start_well(cgroup, "kill -STOP $$");
    waitpid(pid, NULL, WUNTRACED);
    snprintf(want, sizeof(want), "%d (sh, uid %d)", (int)pid, (int)geteuid());
    assert_left(cgroup, want);
    char *move = mem_format("mkdir %s/inner && echo %d >%s/inner/cgroup.procs", cgroup_path(cgroup),
                            (int)pid, cgroup_path(cgroup));
    assert_int_equal(system(move), 0);
    assert_left(cgroup, want);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    while (cgroup_populated(cgroup))
        nap();
    assert_left(cgroup, "of its cgroup");
    cgroup_remove(cgroup);
    free(move);
}

/* Each process forks and leaves at once: no list of processes is ever up to date. Ends by itself
 * in the end, should the test fail. */
static void flee(void)
{
    time_t end = time(NULL) + 20;
    signal(SIGTERM, SIG_IGN);
    setsid();
    while (time(NULL) < end)
        if (fork())
            _exit(0);
    _exit(0);
}

static void test_what_flees_is_killed_at_once(void **state)
{
    struct cgroup *cgroup = make();
    char *path = mem_copy_text(cgroup_path(cgroup)), *procs = mem_format("%s/cgroup.procs", path);
    int ready[2];
    char byte;
    (void)state;
    descendants_adopt();
    assert_int_equal(pipe(ready), 0);
    waitpid(start_well(cgroup, ":"), NULL, 0);
    pid_t pid = fork();
    if (pid == 0) {
        char self[16];
        snprintf(self, sizeof(self), "%d", (int)getpid());
        if (file_write(procs, self) < 0 || write(ready[1], self, 1) != 1)
            _exit(1);
        flee();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    nap();
    assert_true(cgroup_populated(cgroup));
    if (!cgroup_kill(cgroup)) {
        print_message("this kernel has no cgroup.kill\n");
        while (cgroup_populated(cgroup))
            nap();
    }
    descendants_end(0, NULL, 0, cgroup);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_false(is_there(path));
    free(procs);
    free(path);
}

static void test_one_whose_maker_was_killed_is_removed_by_its_parent(void **state)
{
    struct cgroup *probe = make(), *cgroup = last = cgroup_new();
    int ready[2];
    char byte;
    (void)state;
    descendants_adopt();
    waitpid(start_well(probe, ":"), NULL, 0);
    cgroup_remove(probe);
    assert_int_equal(pipe(ready), 0);
    pid_t maker = fork();
    if (maker == 0) {
        struct exec_failure failure;
        bool good = cgroup_make(cgroup, "1", NULL) == 0 &&
                    start(cgroup, "trap '' TERM; echo x; sleep 100 & setsid sleep 100 & wait",
                          ready[1], &failure) > 0;
        if (!good)
            _exit(1);
        pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(maker, SIGKILL);
    assert_int_equal(waitpid(maker, NULL, 0), maker);
    char *path = mem_copy_text(cgroup_path(cgroup));
    assert_non_null(path);
    assert_int_equal(cgroup_dir(cgroup), -1);
    assert_true(cgroup_populated(cgroup));
    descendants_end(0.2, NULL, 0, cgroup);
    assert_false(is_there(path));
    assert_null(cgroup_path(cgroup));
    close(ready[0]);
    free(path);
}

static void test_cgroups_made_in_it_go_along(void **state)
{
    struct cgroup *cgroup = make();
    static const char *const names[] = {"/a", "/a/b", "/a/b/c", "/d"};
    char *path = mem_copy_text(cgroup_path(cgroup));
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char *inner = mem_format("%s%s", path, names[i]);
        assert_int_equal(mkdir(inner, 0755), 0);
        free(inner);
    }
    cgroup_remove(cgroup);
    assert_false(is_there(path));
    free(path);
}

/* Here it has been taken away; elsewhere rights or the kernel's age stand in the way. */
static void test_what_cannot_start_inside_says_so_and_starts_outside(void **state)
{
    struct cgroup *cgroup = make();
    struct exec_failure failure;
    struct error err = ERROR_INIT;
    (void)state;
    assert_int_equal(rmdir(cgroup_path(cgroup)), 0);
    assert_int_equal(start(cgroup, ":", 1, &failure), -1);
    assert_int_equal(failure.step, EXEC_CGROUP);
    assert_int_equal(exec_explain(&(struct exec){.path = "/bin/sh"}, &failure, &err), -1);
    assert_memory_equal(error_text(&err), "cannot start /bin/sh: ", 22);
    error_clear(&err);
    cgroup_shut(cgroup);
    assert_non_null(cgroup_path(cgroup));
    pid_t pid = start(cgroup, ":", 1, &failure);
    assert_true(pid > 0);
    waitpid(pid, NULL, 0);
    cgroup_remove(cgroup);
    assert_null(cgroup_path(cgroup));
}

static void test_processors_are_kept_to_or_a_reason_is_given(void **state)
{
    struct cgroup *cgroup = make();
    struct error err = ERROR_INIT;
    char *file = mem_format("%s/cpuset.cpus", cgroup_path(cgroup));
    (void)state;
    if (is_there(file)) {
        struct buf text = BUF_INIT;
        assert_int_equal(cgroup_confine(cgroup, "9999", &err), -1);
        error_clear(&err);
        file_read(file, &text);
        assert_string_equal(buf_text(&text), "\n");
        buf_free(&text);
    } else {
        assert_int_equal(cgroup_confine(cgroup, "0", &err), -1);
        assert_string_equal(
            error_text(&err),
            "cannot keep tasks to processors 0: there is no cpuset controller for it");
    }
    error_clear(&err);
    cgroup_remove(cgroup);
    free(file);
}

/* Another user's lock would keep its maker waiting. */
static void test_no_other_user_can_open_it(void **state)
{
    struct cgroup *cgroup = make();
    struct stat info;
    (void)state;
    assert_int_equal(stat(cgroup_path(cgroup), &info), 0);
    assert_int_equal(info.st_mode & 0066, 0);
    assert_int_equal(info.st_mode & 0700, 0700);
    cgroup_remove(cgroup);
}

static void test_a_name_that_leads_elsewhere_is_refused(void **state)
{
    struct cgroup *cgroup = make();
    struct error err = ERROR_INIT;
    (void)state;
    cgroup_remove(cgroup);
    assert_int_equal(cgroup_make(cgroup, "../x", &err), -1);
    assert_null(cgroup_path(cgroup));
    error_clear(&err);
}

static void test_functions_take_null_for_no_cgroup(void **state)
{
    struct cgroup *none[] = {NULL, cgroup_new()};
    (void)state;
    assert_int_equal(cgroup_make(NULL, "1", NULL), -1);
    cgroup_find(NULL);
    for (size_t i = 0; i < 2; i++) {
        assert_null(cgroup_path(none[i]));
        assert_int_equal(cgroup_dir(none[i]), -1);
        assert_int_equal(cgroup_confine(none[i], "0", NULL), -1);
        assert_false(cgroup_populated(none[i]));
        assert_false(cgroup_kill(none[i]));
        cgroup_shut(none[i]);
        cgroup_remove(none[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_own_directory_is_found),
        cmocka_unit_test(test_of_several_places_the_one_that_fits_is_meant),
        cmocka_unit_test(test_kills_for_lack_of_memory_are_those_of_the_nearest_that_counts),
        cmocka_unit_test(test_where_there_is_none_the_reason_is_said),
        cmocka_unit_test(test_the_least_quota_around_a_process_counts),
        cmocka_unit_test_teardown(test_a_process_starts_inside, teardown),
        cmocka_unit_test_teardown(test_who_lives_in_it_is_named, teardown),
        cmocka_unit_test_teardown(test_what_flees_is_killed_at_once, teardown),
        cmocka_unit_test_teardown(test_one_whose_maker_was_killed_is_removed_by_its_parent,
                                  teardown),
        cmocka_unit_test_teardown(test_cgroups_made_in_it_go_along, teardown),
        cmocka_unit_test_teardown(test_what_cannot_start_inside_says_so_and_starts_outside,
                                  teardown),
        cmocka_unit_test_teardown(test_processors_are_kept_to_or_a_reason_is_given, teardown),
        cmocka_unit_test_teardown(test_no_other_user_can_open_it, teardown),
        cmocka_unit_test_teardown(test_a_name_that_leads_elsewhere_is_refused, teardown),
        cmocka_unit_test(test_functions_take_null_for_no_cgroup),
    };
    exec_reserve();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
