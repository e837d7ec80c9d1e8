/* The scratch directory: named when needed, removed by whoever is left. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/process/owned_directory.h"
#include "launcher/process/scratch_directory.h"
#include "tests/unit/unit.h"

#define SWEEP_MAX 30.0 /* s */

static char above[] = "/tmp/test-scratch-directory.XXXXXX";

static void put_file(const char *directory, const char *name)
{
    char *path = mem_format("%s/%s", directory, name);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    free(path);
}

static void fill(const char *directory)
{
    char *inner = mem_format("%s/inner", directory), *link = mem_format("%s/link", directory);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(symlink(above, link), 0);
    put_file(directory, "file");
    put_file(inner, "file");
    free(inner);
    free(link);
}

/* Another run may remove it as soon as it has its name. */
static void make_dead(const char *path)
{
    char *other =
        mem_format("%.*s/test-%s", (int)(strrchr(path, '/') - path), path, strrchr(path, '/') + 1);
    assert_int_equal(mkdir(other, 0700), 0);
    fill(other);
    assert_int_equal(rename(other, path), 0);
    free(other);
}

/* Directories of memory as a killed program, a live one, and another user leave them. */
static void directories_of_dead_programs_are_removed_by_the_next(void **state)
{
    struct scratch *scratch = scratch_directory_new(NULL);
    struct stat what;
    char *dead = mem_format("/dev/shm/tprun.%u.dead%d", (unsigned)geteuid(), (int)getpid());
    char *live = mem_format("/dev/shm/tprun.%u.live%d", (unsigned)geteuid(), (int)getpid());
    char *other = mem_format("/dev/shm/tprun.%u.other%d", (unsigned)geteuid() + 1, (int)getpid());
    (void)state;
    make_dead(dead);
    assert_int_equal(mkdir(other, 0700), 0);
    int owner = owned_directory_make(live, 0700);
    assert_true(owner >= 0);
    put_file(live, "segment");
    char *memory = mem_copy_text(scratch_directory_make_memory(scratch, NULL));
    owned_directory_sweep_wait(SWEEP_MAX);
    assert_int_equal(stat(dead, &what), -1);
    assert_int_equal(stat(live, &what), 0);
    assert_int_equal(stat(other, &what), 0);
    close(owner);
    struct scratch *next = scratch_directory_new(NULL);
    assert_non_null(scratch_directory_make_memory(next, NULL));
    owned_directory_sweep_wait(SWEEP_MAX);
    assert_int_equal(stat(live, &what), -1);
    assert_int_equal(stat(memory, &what), 0);
    scratch_directory_remove(next);
    scratch_directory_remove(scratch);
    rmdir(other);
    free(memory);
    free(other);
    free(live);
    free(dead);
}

/* The same of files: the name says the user, and the kernel that knows the owners. */
static void files_of_dead_programs_are_removed_by_the_next(void **state)
{
    struct scratch *scratch = scratch_directory_new(NULL), *next = scratch_directory_new(NULL);
    struct stat what;
    (void)state;
    char *live = mem_copy_text(scratch_directory_name(scratch, NULL));
    assert_int_equal(scratch_directory_make(scratch), 0);
    assert_int_equal(scratch_directory_make(scratch), 0);
    owned_directory_sweep_wait(SWEEP_MAX);
    assert_int_equal(stat(live, &what), 0);
    assert_int_equal(what.st_mode & 07777, 0700);
    char *user = mem_format("%s/tprun.%u.", above, (unsigned)geteuid());
    assert_memory_equal(live, user, strlen(user));
    char *prefix = mem_copy_text_n(live, (size_t)(strrchr(live, '.') + 1 - live));
    char *dead = mem_format("%s0123456789abcdef", prefix);
    char *elsewhere = mem_format("%s0123abcd.0123456789abcdef", user);
    make_dead(dead);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_non_null(scratch_directory_name(next, NULL));
    assert_int_equal(stat(dead, &what), 0); /* a name alone is no directory */
    assert_int_equal(scratch_directory_make(next), 0);
    owned_directory_sweep_wait(SWEEP_MAX);
    assert_int_equal(stat(dead, &what), -1);
    assert_int_equal(stat(live, &what), 0);
    assert_int_equal(rmdir(elsewhere), 0);
    scratch_directory_remove(next);
    scratch_directory_remove(scratch);
    free(elsewhere);
    free(dead);
    free(prefix);
    free(user);
    free(live);
}

/* Who guards an agent that is killed: it writes once the agent is gone, and lives on. */
static void guard_a_killed_maker(struct scratch *scratch, int ready)
{
    pid_t maker = fork();
    if (maker == 0) {
        scratch_directory_make(scratch);
        raise(SIGKILL);
    }
    waitpid(maker, NULL, 0);
    if (write(ready, "", 1) == 1)
        pause();
}

static void sweep_by_another(void)
{
    struct scratch *another = scratch_directory_new(NULL);
    assert_non_null(scratch_directory_name(another, NULL));
    assert_int_equal(scratch_directory_make(another), 0);
    owned_directory_sweep_wait(SWEEP_MAX);
    scratch_directory_remove(another);
}

static void a_directory_stays_for_as_long_as_who_removes_it(void **state)
{
    char path[PATH_MAX], byte;
    int ready[2], named[2];
    struct stat what;
    (void)state;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(named), 0);
    pid_t guard = fork();
    if (guard == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        struct scratch *scratch = scratch_directory_new(NULL);
        const char *name = scratch_directory_name(scratch, NULL);
        if (write(named[1], name, strlen(name) + 1) > 0)
            guard_a_killed_maker(scratch, ready[1]);
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(read(named[0], path, sizeof(path)) > 0);
    sweep_by_another();
    assert_int_equal(stat(path, &what), 0);
    assert_int_equal(kill(guard, SIGKILL), 0);
    assert_int_equal(waitpid(guard, NULL, 0), guard);
    sweep_by_another();
    assert_int_equal(stat(path, &what), -1);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(named[i]);
    }
}

static void a_directory_without_a_name_is_not_made(void **state)
{
    (void)state;
    assert_int_equal(scratch_directory_make(NULL), -1);
    assert_int_equal(scratch_directory_make(scratch_directory_new(NULL)), -1);
}

static void sweep_one(const char *path)
{
    rmdir(path);
}

static unsigned threads; /* that were begun */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg)
{
    threads++;
    return __real_pthread_create(thread, attributes, run, arg);
}

/* Threads that one sweep of `above` begins. */
static unsigned threads_of_a_sweep(void)
{
    unsigned before = threads;
    owned_directory_sweep(above, "thread.", sweep_one);
    owned_directory_sweep_wait(SWEEP_MAX);
    return threads - before;
}

static void a_thread_is_begun_only_where_there_is_work(void **state)
{
    char *dead = mem_format("%s/thread.dead", above), *live = mem_format("%s/thread.live", above);
    int owner = owned_directory_make(live, 0700);
    (void)state;
    assert_true(owner >= 0);
    assert_int_equal(threads_of_a_sweep(), 0);
    assert_int_equal(mkdir(dead, 0700), 0);
    assert_int_equal(threads_of_a_sweep(), 1);
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(live, F_OK), 0);
    rmdir(live);
    close(owner);
    free(live);
    free(dead);
}

static struct {
    const char *path;
    int locks; /* before that with which another has swept it, and somebody made it again */
    int owner;
} made_anew;

/* In place of the C library's. */
int flock(int fd, int how)
{
    if (made_anew.path && how & LOCK_EX && made_anew.locks-- == 0) {
        rmdir(made_anew.path);
        made_anew.owner = owned_directory_make(made_anew.path, 0700);
    }
    return (int)syscall(SYS_flock, fd, how);
}

static void a_directory_that_was_made_anew_meanwhile_is_not_swept(void **state)
{
    char *path = mem_format("%s/thread.anew", above);
    (void)state;
    assert_int_equal(mkdir(path, 0700), 0);
    made_anew.path = path;
    made_anew.locks = 1; /* that of the look */
    assert_int_equal(threads_of_a_sweep(), 1);
    made_anew.path = NULL;
    assert_true(made_anew.owner > 0);
    assert_int_equal(access(path, F_OK), 0);
    close(made_anew.owner);
    rmdir(path);
    free(path);
}

/* No start waits until so many have been looked at. */
static void many_names_of_others_are_left_to_a_thread(void **state)
{
    char name[32];
    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "other%d", i);
        put_file(above, name);
    }
    assert_int_equal(threads_of_a_sweep(), 1);
    for (int i = 0; i < 1000; i++) {
        char *path = mem_format("%s/other%d", above, i);
        assert_int_equal(unlink(path), 0);
        free(path);
    }
}

/* Others sweep all the time while directories are made: each that was made is there. */
static void a_directory_that_is_just_made_is_never_removed(void **state)
{
    struct stat what;
    char *prefix = mem_format("race%d.", (int)getpid());
    pid_t sweeper = fork();
    (void)state;
    while (sweeper == 0) {
        owned_directory_sweep(above, prefix, sweep_one);
        owned_directory_sweep_wait(SWEEP_MAX);
    }
    for (int i = 0; i < 3000; i++) {
        char *path = mem_format("%s/%s%d", above, prefix, i);
        int owner = owned_directory_make(path, 0700);
        if (owner < 0)
            kill(sweeper, SIGKILL); /* it must not outlive the test */
        assert_true(owner >= 0);
        if (i % 16 == 0)
            sched_yield();
        assert_int_equal(stat(path, &what), 0);
        rmdir(path);
        close(owner);
        free(path);
    }
    kill(sweeper, SIGKILL);
    assert_int_equal(waitpid(sweeper, NULL, 0), sweeper);
    free(prefix);
}

static void a_directory_has_one_name_and_is_removed_with_all_in_it(void **state)
{
    struct scratch *scratch = scratch_directory_new(NULL);
    struct stat what;
    (void)state;
    put_file(above, "kept");
    char *path = mem_copy_text(scratch_directory_name(scratch, NULL));
    assert_int_equal(stat(path, &what), -1);
    assert_string_equal(scratch_directory_name(scratch, NULL), path);
    assert_int_equal(mkdir(path, 0700), 0);
    fill(path);
    char *memory = mem_copy_text(scratch_directory_make_memory(scratch, NULL));
    assert_int_equal(strncmp(memory, "/dev/shm/", 9), 0);
    assert_int_equal(stat(memory, &what), 0);
    assert_int_equal(what.st_mode & 07777, 0700);
    assert_string_equal(scratch_directory_make_memory(scratch, NULL), memory);
    put_file(memory, "segment");
    scratch_directory_remove(scratch);
    assert_int_equal(stat(path, &what), -1);
    assert_int_equal(stat(memory, &what), -1);
    scratch_directory_remove(scratch);
    free(memory);
    char *kept = mem_format("%s/kept", above); /* behind a link */
    assert_int_equal(unlink(kept), 0);
    free(kept);
    free(path);
}

/* By descriptors, not by paths: of a path each part may be another's link meanwhile, and it may be
 * longer than the kernel takes. */
static void a_tree_deeper_than_a_path_is_long_is_removed(void **state)
{
    struct scratch *scratch = scratch_directory_new(NULL);
    struct stat what;
    char name[201];
    (void)state;
    memset(name, 'd', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    char *path = mem_copy_text(scratch_directory_name(scratch, NULL));
    assert_int_equal(scratch_directory_make(scratch), 0);
    int at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 40; i++) {
        assert_true(at >= 0);
        assert_int_equal(mkdirat(at, name, 0700), 0);
        int below = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = below;
    }
    close(at);
    scratch_directory_remove(scratch);
    assert_int_equal(stat(path, &what), -1);
    free(path);
}

static void the_parent_of_its_maker_may_remove_a_directory(void **state)
{
    struct scratch *scratch = scratch_directory_new(NULL);
    int status, ends[2];
    struct stat what;
    char path[256] = "";
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t maker = fork();
    if (maker == 0) {
        const char *made = scratch_directory_name(scratch, NULL);
        if (mkdir(made, 0700) == 0)
            fill(made);
        (void)!write(ends[1], made, strlen(made) + 1);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(maker, &status, 0), maker);
    assert_true(read(ends[0], path, sizeof(path)) > 1);
    assert_int_equal(stat(path, &what), 0);
    scratch_directory_remove(scratch);
    assert_int_equal(stat(path, &what), -1);
    close(ends[0]);
    close(ends[1]);
}

static void a_directory_that_cannot_be_made_is_an_error_with_the_reason(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    setenv("TMPDIR", "/nonexistent", 1);
    assert_null(scratch_directory_name(scratch_directory_new(NULL), &err));
    assert_string_equal(err.text, "cannot make a directory in /nonexistent: No such file or "
                                  "directory; TMPDIR may name another");
    error_clear(&err);
    assert_null(scratch_directory_make_memory(NULL, NULL));
    assert_null(scratch_directory_name(NULL, &err));
    error_clear(&err);
    scratch_directory_remove(NULL);
    setenv("TMPDIR", above, 1);
}

static void removing_a_directory_that_was_never_made_does_nothing(void **state)
{
    struct scratch *scratch = scratch_directory_new(NULL);
    (void)state;
    char *path = mem_copy_text(scratch_directory_name(scratch, NULL));
    scratch_directory_remove(scratch);
    assert_string_not_equal(scratch_directory_name(scratch, NULL), path);
    scratch_directory_remove(scratch);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directories_of_dead_programs_are_removed_by_the_next),
        cmocka_unit_test(files_of_dead_programs_are_removed_by_the_next),
        cmocka_unit_test(a_directory_stays_for_as_long_as_who_removes_it),
        cmocka_unit_test(a_directory_without_a_name_is_not_made),
        cmocka_unit_test(a_thread_is_begun_only_where_there_is_work),
        cmocka_unit_test(a_directory_that_was_made_anew_meanwhile_is_not_swept),
        cmocka_unit_test(many_names_of_others_are_left_to_a_thread),
        cmocka_unit_test(a_directory_that_is_just_made_is_never_removed),
        cmocka_unit_test(a_directory_has_one_name_and_is_removed_with_all_in_it),
        cmocka_unit_test(a_tree_deeper_than_a_path_is_long_is_removed),
        cmocka_unit_test(the_parent_of_its_maker_may_remove_a_directory),
        cmocka_unit_test(removing_a_directory_that_was_never_made_does_nothing),
        cmocka_unit_test(a_directory_that_cannot_be_made_is_an_error_with_the_reason),
    };
    if (!mkdtemp(above))
        return 1;
    setenv("TMPDIR", above, 1);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    return rmdir(above) < 0 ? 1 : rc;
}
