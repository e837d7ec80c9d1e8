/* Contexts of programs that are over: kept by whoever ends them, and moved to the state directory. */
#include "tests/unit/instance-world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/ledger/claim.h"
#include "launcher/ledger/completed.h"
#include "launcher/ledger/context_directory.h"
#include "launcher/ledger/event_log.h"
#include "launcher/ledger/private_directory.h"
#include "launcher/ledger/state_directory.h"

static int make_states(void **state)
{
    char path[96];
    if (make_world(state) < 0)
        return -1;
    snprintf(path, sizeof(path), "%s/deep/state", world);
    return setenv("XDG_STATE_HOME", path, 1);
}

static struct instance *open_test_instance(void)
{
    struct error err = ERROR_INIT;
    struct instance *instance = instance_open("test", &err);
    if (!instance)
        fail_msg("%s", error_text(&err));
    return instance;
}

/* A program that has written these events, and its spec. */
static struct ledger_entry *new_logged(struct instance *instance, const char *const *names)
{
    struct error err = ERROR_INIT;
    struct ledger_entry *entry = entry_new(instance, "test", &err);
    struct event_log *log = entry ? entry_new_events(entry) : NULL;
    json_t *spec = json_pack("{s:s}", "of", entry ? entry_id(entry) : "");
    if (!log)
        fail_msg("%s", error_text(&err));
    entry_write(entry, "spec.json", spec, &err);
    for (; *names; names++)
        event_log_add(log, *names, NULL);
    assert_int_equal(entry_begin_events(entry, log, &err), 0);
    event_log_close(log);
    json_decref(spec);
    return entry;
}

static void end_logged(struct instance *instance)
{
    entry_end(new_logged(instance, (const char *const[]){"new", "complete", NULL}));
}

/* "ID:EVENT EVENT ...;" of all that wait to be moved. */
static char *waiting(struct instance *instance)
{
    struct buf bytes = BUF_INIT, out = BUF_INIT;
    struct completed_context context;
    size_t at = 0;
    assert_int_equal(completed_read(instance, &bytes, NULL), 0);
    while (context_record_next(buf_bytes(&bytes), bytes.len, &at, &context)) {
        struct event_reader reader;
        struct event event;
        buf_printf(&out, "%s:", context.id);
        event_reader_begin(&reader, context.files[CONTEXT_EVENTS], context.lens[CONTEXT_EVENTS]);
        while (event_reader_next(&reader, &event, NULL) == 1)
            buf_printf(&out, "%s ", event.name);
        event_reader_end(&reader);
        buf_add_char(&out, ';');
    }
    buf_free(&bytes);
    return buf_take_text(&out);
}

static void expect_waiting(struct instance *instance, const char *want)
{
    char *got = waiting(instance);
    assert_string_equal(got, want);
    free(got);
}

static void add_name(void *arg, const char *name, uint64_t inode)
{
    (void)inode;
    struct buf *names = arg;
    buf_printf(names, "%s ", name);
}

static void count_name(void *arg, const char *name, uint64_t inode)
{
    (void)inode;
    assert_non_null(name);
    ++*(size_t *)arg;
}

static void expect_state_count(size_t want)
{
    struct instance *instance = open_test_instance();
    int fd = state_directory_open(instance_name(instance), false, NULL);
    size_t count = 0;
    state_directory_each(fd, count_name, &count);
    assert_int_equal(count, want);
    close(fd);
    instance_close(instance);
}

static void expect_state(const char *want)
{
    struct buf names = BUF_INIT;
    int fd = -1;
    struct instance *instance = open_test_instance();
    fd = state_directory_open(instance_name(instance), false, NULL);
    if (fd >= 0)
        state_directory_each(fd, add_name, &names);
    assert_string_equal(buf_text(&names), want);
    buf_free(&names);
    if (fd >= 0)
        close(fd);
    instance_close(instance);
}

/* NAME below the state directory's directory of the instance. */
static void state_path(char *path, size_t size, const char *instance, const char *name)
{
    char host[64];
    assert_int_equal(gethostname(host, sizeof(host)), 0);
    snprintf(path, size, "%s/deep/state/tprun/%s@%s/%s", world, instance, host, name);
}

static void test_what_is_complete_is_kept_and_then_moved(void **state)
{
    struct instance *instance = open_test_instance();
    char path[256];
    struct stat st;
    (void)state;
    end_logged(instance);
    expect_waiting(instance, "1:new complete ;");
    expect_state("");
    assert_int_equal(completed_move(instance, NULL), 0);
    expect_waiting(instance, "");
    expect_state("1 ");
    state_path(path, sizeof(path), instance_name(instance), "1/spec.json");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    instance_close(instance);
}

static void test_a_program_without_a_log_leaves_nothing(void **state)
{
    struct instance *instance = open_test_instance();
    (void)state;
    entry_end(entry_new(instance, "test", NULL));
    end_logged(instance);
    entry_end(entry_new(instance, "test", NULL)); /* in the directory of the one before */
    expect_waiting(instance, "2:new complete ;");
    instance_close(instance);
}

static void test_a_program_that_was_killed_is_lost(void **state)
{
    struct instance *instance = open_test_instance();
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        new_logged(instance, (const char *const[]){"new", "starting", NULL});
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 3; i++) {
        struct instance *other = open_test_instance();
        struct rset *held = instance_held(other, NULL);
        assert_int_equal(held->nnodes, 0);
        rset_free(held);
        instance_close(other);
    }
    expect_waiting(instance, "1:new starting lost ;");
    instance_close(instance);
}

static void test_records_that_are_cut_are_passed_over(void **state)
{
    struct instance *instance = open_test_instance();
    struct buf bytes = BUF_INIT;
    (void)state;
    end_logged(instance);
    end_logged(instance);
    assert_int_equal(completed_read(instance, &bytes, NULL), 0);
    for (size_t len = 0; len <= bytes.len; len++) {
        struct buf cut = BUF_INIT;
        struct completed_context context;
        size_t at = 0, count = 0, whole = 0;
        buf_add(&cut, buf_bytes(&bytes), len);
        while (context_record_next(buf_bytes(&cut), cut.len, &at, &context))
            count++;
        whole = (len >= bytes.len / 2) + (len == bytes.len);
        assert_int_equal(count, whole);
        buf_add(&cut, buf_bytes(&bytes), bytes.len); /* and what comes right behind it is found */
        for (at = count = 0; context_record_next(buf_bytes(&cut), cut.len, &at, &context);)
            count++;
        assert_int_equal(count, whole + 2);
        buf_free(&cut);
    }
    buf_free(&bytes);
    instance_close(instance);
}

static void test_what_is_moved_twice_is_there_once_and_numbers_go_on(void **state)
{
    struct instance *instance = open_test_instance();
    char path[256], copy[256];
    (void)state;
    end_logged(instance);
    struct buf bytes = BUF_INIT;
    assert_int_equal(completed_read(instance, &bytes, NULL), 0);
    assert_int_equal(completed_move(instance, NULL), 0);
    snprintf(path, sizeof(path), "%s/completed", instance_path(instance));
    FILE *file = fopen(path, "w"); /* as if it had been killed before it emptied it */
    fwrite(buf_bytes(&bytes), 1, bytes.len, file);
    fclose(file);
    buf_free(&bytes);
    assert_int_equal(completed_move(instance, NULL), 0);
    expect_state("1 ");
    snprintf(copy, sizeof(copy), "%s", instance_path(instance));
    instance_close(instance);
    directory_remove(AT_FDCWD, copy); /* a boot removes /tmp */
    instance = open_test_instance();
    struct ledger_entry *entry = entry_new(instance, "test", NULL);
    assert_string_equal(entry_id(entry), "2");
    entry_end(entry);
    instance_close(instance);
}

static void age(const char *path)
{
    const struct timespec then[2] = {{time(NULL) - STATE_MAX_AGE - 60, 0},
                                     {time(NULL) - STATE_MAX_AGE - 60, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
}

/* Each batch job is an instance. */
static void test_instances_to_which_nothing_comes_are_removed_with_age(void **state)
{
    struct instance *instance = open_test_instance();
    char old[256], young[256], own[256], mark[256], draft[256], empty[256], new[256];
    (void)state;
    snprintf(mark, sizeof(mark), "%s/deep/state/tprun/.limited", world);
    end_logged(instance);
    assert_int_equal(completed_move(instance, NULL), 0);
    completed_limit(instance);
    state_path(old, sizeof(old), "old", "");
    state_path(young, sizeof(young), "young", "");
    snprintf(own, sizeof(own), "%s/deep/state/tprun/notes", world);
    state_path(draft, sizeof(draft), instance_name(instance), ".new-7-00000000");
    mkdir(old, 0700);
    mkdir(young, 0700);
    mkdir(own, 0700);
    mkdir(draft, 0700);
    state_path(empty, sizeof(empty), "empty", "");
    state_path(new, sizeof(new), "empty", "empty/"); /* where tpctl new has put one now */
    mkdir(empty, 0700);
    mkdir(new, 0700);
    age(empty);
    age(old);
    age(own);
    age(draft);
    for (int i = 0; i < 2; i++) {
        end_logged(instance);
        assert_int_equal(completed_move(instance, NULL), 0);
        completed_limit(instance);
        assert_int_equal(access(old, F_OK), i == 0 ? 0 : -1); /* once a day */
        assert_int_equal(access(draft, F_OK), i == 0 ? 0 : -1);
        assert_int_equal(access(young, F_OK) + access(own, F_OK) + access(new, F_OK), 0);
        age(mark);
    }
    expect_state_count(3);
    instance_close(instance);
}

/* As sudo may leave it in HOME. */
static void test_root_makes_nothing_in_the_home_of_another(void **state)
{
    struct instance *instance = open_test_instance();
    struct error err = ERROR_INIT;
    char home[96], path[128], *before = mem_copy_text(getenv("HOME") ? getenv("HOME") : "");
    (void)state;
    snprintf(home, sizeof(home), "%s/home", world);
    mkdir(home, 0700);
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", home, 1);
    end_logged(instance);
    if (geteuid() == 0) {
        assert_int_equal(chown(home, 65534, (gid_t)-1), 0);
        assert_int_equal(completed_move(instance, &err), -1);
        assert_non_null(strstr(error_text(&err), "belongs to another user"));
        error_clear(&err);
        snprintf(path, sizeof(path), "%s/.local", home);
        assert_int_equal(access(path, F_OK), -1);
    }
    snprintf(home, sizeof(home), "%s/no-home", world); /* nor a home that is not there */
    setenv("HOME", home, 1);
    assert_int_equal(completed_move(instance, NULL), -1);
    assert_int_equal(access(home, F_OK), -1);
    setenv("HOME", "/", 1);
    char *place = state_directory_path();
    assert_true(!place || strncmp(place, "//", 2) != 0);
    free(place);
    setenv("HOME", before, 1);
    free(before);
    instance_close(instance);
}

/* Where they cannot be moved no end would be without a process that tries it. */
static void test_what_stays_is_due_again_only_when_as_much_has_come(void **state)
{
    struct instance *instance = open_test_instance();
    char path[256];
    (void)state;
    end_logged(instance);
    assert_false(completed_is_due(instance, MOVER_RUN));
    snprintf(path, sizeof(path), "%s/completed", instance_path(instance));
    assert_int_equal(truncate(path, COMPLETED_DUE - 1), 0);
    end_logged(instance);
    assert_true(completed_is_due(instance, MOVER_RUN));
    instance_close(instance);
    instance = open_test_instance();
    end_logged(instance);
    assert_false(completed_is_due(instance, MOVER_RUN));
    assert_int_equal(truncate(path, 2 * COMPLETED_DUE - 1), 0);
    end_logged(instance);
    assert_true(completed_is_due(instance, MOVER_RUN));
    instance_close(instance);
}

/* Of an instance with many programs, none of which starts the process that moves them. */
static void
test_an_instance_moves_what_is_much_at_its_end_and_a_run_inside_only_what_presses(void **state)
{
    struct instance *instance = open_test_instance();
    char path[256];
    (void)state;
    snprintf(path, sizeof(path), "%s/completed", instance_path(instance));
    end_logged(instance);
    assert_false(completed_is_due(instance, MOVER_INSTANCE));
    assert_int_equal(truncate(path, 2 * COMPLETED_DUE + 1), 0); /* no boundary is near */
    end_logged(instance);
    assert_false(completed_is_due(instance, MOVER_RUN));
    assert_true(completed_is_due(instance, MOVER_INSTANCE));
    assert_int_equal(truncate(path, COMPLETED_PRESSING - COMPLETED_DUE - 1), 0);
    end_logged(instance);
    assert_true(completed_is_due(instance, MOVER_RUN));
    assert_false(completed_is_due(instance, MOVER_INSIDE));
    assert_int_equal(truncate(path, COMPLETED_PRESSING - 1), 0);
    end_logged(instance);
    assert_true(completed_is_due(instance, MOVER_INSIDE));
    instance_close(instance);
}

static void test_a_state_directory_that_cannot_be_harms_nothing(void **state)
{
    struct instance *instance = open_test_instance();
    struct error err = ERROR_INIT;
    char path[96];
    (void)state;
    snprintf(path, sizeof(path), "%s/file", world);
    fclose(fopen(path, "w"));
    setenv("XDG_STATE_HOME", path, 1);
    end_logged(instance);
    assert_int_equal(completed_move(instance, &err), -1);
    assert_non_null(err.text);
    error_clear(&err);
    end_logged(instance);
    expect_waiting(instance, "1:new complete ;2:new complete ;");
    make_states(NULL);
    instance_close(instance);
}

/* ---- what cannot be appended ---- */

static int write_error; /* of the next calls, so many */
static int write_errors;
static struct instance *busy; /* programs end in it each time that some were moved */
static int ends;              /* so many, */
static int moved;             /* and this often logs were written to the state directory */

static void look_at_move(int fd)
{
    char link[64], path[512];
    struct instance *now = busy;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = busy ? readlink(link, path, sizeof(path) - 1) : -1;
    path[len > 0 ? len : 0] = '\0';
    if (!strstr(path, "/deep/state/"))
        return;
    moved += strstr(path, "/events") != NULL;
    if (ends <= 0 || !strstr(path, "/index"))
        return;
    ends--;
    busy = NULL;
    end_logged(now);
    busy = now;
}

/* In place of the C library's. */
ssize_t write(int fd, const void *bytes, size_t len)
{
    look_at_move(fd);
    if (write_errors > 0) {
        write_errors--;
        errno = write_error;
        return -1;
    }
    return syscall(SYS_write, fd, bytes, len);
}

/* A program that has saved this much output. */
static struct ledger_entry *new_saving(struct instance *instance, off_t size)
{
    struct ledger_entry *entry =
        new_logged(instance, (const char *const[]){"new", "complete", NULL});
    int fd = openat(entry_dir(entry), "output.0", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(fd, size), 0);
    close(fd);
    return entry;
}

static void expect_output(struct instance *instance, const char *id, bool want)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/saved/%s/output.0", instance_path(instance), id);
    assert_int_equal(access(path, F_OK) == 0, want);
}

static void test_a_quota_that_is_used_up_is_as_a_full_disk(void **state)
{
    static const int errors[] = {ENOSPC, EDQUOT};
    struct instance *instance = open_test_instance();
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct ledger_entry *entry = new_saving(instance, 100);
        write_error = errors[i];
        write_errors = 1;
        entry_end(entry); /* what is small stays, and the record comes later */
        assert_int_equal(write_errors, 0);
        assert_true(ledger_finish_contexts(instance, NULL, NULL));
        expect_output(instance, i ? "3" : "1", true);
        entry = new_saving(instance, 1 << 20);
        write_errors = 1;
        entry_end(entry); /* what is large goes, and makes space for the record */
        expect_output(instance, i ? "4" : "2", false);
    }
    expect_waiting(instance, "1:new complete ;2:new complete ;3:new complete ;4:new complete ;");
    instance_close(instance);
}

static void test_what_cannot_be_moved_keeps_no_other(void **state)
{
    struct instance *instance = open_test_instance();
    struct error err = ERROR_INIT;
    (void)state;
    for (int i = 0; i < 4; i++)
        end_logged(instance);
    write_error = EFBIG;
    write_errors = 2; /* the first two fail with their first file */
    assert_int_equal(completed_move(instance, &err), -1);
    assert_string_equal(error_text(&err), "cannot keep what is known of program 1: File too large "
                                          "(and so for 1 more)");
    error_clear(&err);
    expect_waiting(instance, "1:new complete ;2:new complete ;");
    expect_state_count(2);
    write_errors = 1;
    assert_int_equal(completed_move(instance, &err), -1);
    assert_string_equal(error_text(&err), "cannot keep what is known of program 1: File too large");
    error_clear(&err);
    expect_waiting(instance, "1:new complete ;");
    end_logged(instance);
    write_errors = 1;
    assert_int_equal(completed_move(instance, NULL), -1);
    expect_waiting(instance, "1:new complete ;");
    assert_int_equal(completed_move(instance, NULL), 0);
    expect_waiting(instance, "");
    expect_state_count(5);
    instance_close(instance);
}

static void test_a_file_that_others_have_locked_costs_neither_a_record_nor_output(void **state)
{
    struct instance *instance = open_test_instance();
    char path[256];
    (void)state;
    end_logged(instance);
    snprintf(path, sizeof(path), "%s/completed", instance_path(instance));
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(private_directory_lock_byte(fd, 0), 0);
    entry_end(new_saving(instance, 1 << 20));
    expect_waiting(instance, "1:new complete ;");
    expect_output(instance, "2", true);
    close(fd);
    assert_true(ledger_finish_contexts(instance, NULL, NULL));
    expect_waiting(instance, "1:new complete ;2:new complete ;");
    expect_output(instance, "2", true);
    instance_close(instance);
}

static void test_what_ends_while_others_are_moved_is_moved_alone(void **state)
{
    struct instance *instance = open_test_instance();
    (void)state;
    end_logged(instance);
    busy = instance;
    ends = 5;
    moved = 0;
    assert_int_equal(completed_move(instance, NULL), 0);
    busy = NULL;
    expect_waiting(instance, "");
    expect_state_count(6);
    assert_int_equal(moved, 6);
    instance_close(instance);
}

/* Somebody may wait for a list. */
static void test_a_move_ends_though_programs_end_all_the_time(void **state)
{
    struct instance *instance = open_test_instance();
    (void)state;
    end_logged(instance);
    busy = instance;
    ends = 1000;
    assert_int_equal(completed_move(instance, NULL), 0);
    assert_true(ends > 900);
    busy = NULL;
    char *rest = waiting(instance);
    assert_string_not_equal(rest, "");
    free(rest);
    assert_int_equal(completed_move(instance, NULL), 0);
    expect_waiting(instance, "");
    expect_state_count(1000 - (size_t)ends + 1);
    instance_close(instance);
}

static void test_of_too_much_output_the_oldest_is_removed(void **state)
{
    struct instance *instance = open_test_instance();
    char path[256];
    (void)state;
    for (int i = 0; i < 3; i++)
        entry_end(new_saving(instance, (off_t)(STATE_MAX_OUTPUT / 2)));
    assert_int_equal(completed_move(instance, NULL), 0);
    for (int i = 1; i <= 3; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%d/output.0", i);
        state_path(path, sizeof(path), instance_name(instance), name);
        assert_int_equal(access(path, F_OK), i == 1 ? -1 : 0);
    }
    expect_state_count(3);
    instance_close(instance);
}

#define IN_A_STATE(test) cmocka_unit_test_setup_teardown(test, make_states, end_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_STATE(test_what_is_complete_is_kept_and_then_moved),
        IN_A_STATE(test_a_program_without_a_log_leaves_nothing),
        IN_A_STATE(test_a_program_that_was_killed_is_lost),
        IN_A_STATE(test_records_that_are_cut_are_passed_over),
        IN_A_STATE(test_what_is_moved_twice_is_there_once_and_numbers_go_on),
        IN_A_STATE(test_instances_to_which_nothing_comes_are_removed_with_age),
        IN_A_STATE(test_root_makes_nothing_in_the_home_of_another),
        IN_A_STATE(test_what_stays_is_due_again_only_when_as_much_has_come),
        IN_A_STATE(
            test_an_instance_moves_what_is_much_at_its_end_and_a_run_inside_only_what_presses),
        IN_A_STATE(test_a_state_directory_that_cannot_be_harms_nothing),
        IN_A_STATE(test_a_quota_that_is_used_up_is_as_a_full_disk),
        IN_A_STATE(test_what_cannot_be_moved_keeps_no_other),
        IN_A_STATE(test_a_file_that_others_have_locked_costs_neither_a_record_nor_output),
        IN_A_STATE(test_of_too_much_output_the_oldest_is_removed),
        IN_A_STATE(test_what_ends_while_others_are_moved_is_moved_alone),
        IN_A_STATE(test_a_move_ends_though_programs_end_all_the_time),
    };
    (void)spec_on;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
