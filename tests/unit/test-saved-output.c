/* Saved output: what is written is read, whatever is cut, removed or full. */
#include "launcher/saved/saved_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/directory.h"
#include "tests/unit/unit.h"

#define LIMIT ((uint64_t)256 << 20)

static char place[] = "/tmp/test-saved-output-XXXXXX";
static int dir;

static int enter(void **state)
{
    (void)state;
    snprintf(place, sizeof(place), "/tmp/test-saved-output-XXXXXX");
    if (!mkdtemp(place))
        return -1;
    dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir < 0 ? -1 : 0;
}

static int leave(void **state)
{
    (void)state;
    close(dir);
    return directory_remove(AT_FDCWD, place);
}

static int open_in(void *arg, const char *name)
{
    return openat(*(int *)arg, name, O_RDONLY | O_CLOEXEC);
}

static struct saved_writer *new_writer(uint64_t limit)
{
    struct error err = ERROR_INIT;
    struct saved_writer *writer = saved_writer_new(dir, limit, &err);
    if (!writer)
        fail_msg("%s", error_text(&err));
    return writer;
}

static struct saved_reader *new_reader(void)
{
    struct error err = ERROR_INIT;
    struct saved_reader *reader = saved_reader_new(open_in, &dir, &err);
    if (!reader)
        fail_msg("%s", error_text(&err));
    return reader;
}

static int try_add(struct saved_writer *writer, uint32_t rank, const void *bytes, size_t len)
{
    struct frame frame = {.type = FRAME_OUTPUT, .rank = rank, .bytes = bytes, .len = len};
    return saved_writer_add(writer, &frame, NULL) < 0 ? -1 : saved_writer_flush(writer, NULL);
}

static void add_text(struct saved_writer *writer, uint32_t rank, const char *text)
{
    assert_int_equal(try_add(writer, rank, text, strlen(text)), 0);
}

static void expect_text(struct saved_reader *reader, uint32_t rank, const char *text)
{
    struct saved_item item;
    assert_int_equal(saved_reader_next(reader, &item, NULL), SAVED_FRAME);
    assert_int_equal(item.frame.rank, rank);
    assert_int_equal(item.frame.len, strlen(text));
    assert_memory_equal(item.frame.bytes, text, item.frame.len);
}

static void expect_result(struct saved_reader *reader, enum saved_result want)
{
    struct saved_item item;
    assert_int_equal(saved_reader_next(reader, &item, NULL), want);
}

static void test_frames_are_read_as_they_were_written_and_the_status_after_them(void **state)
{
    struct saved_writer *writer = new_writer(LIMIT);
    struct saved_item item;
    (void)state;
    add_text(writer, 0, "one\n");
    add_text(writer, 7, "");
    add_text(writer, 3, "two\n");
    saved_writer_end(writer, 42);
    saved_writer_free(writer);
    struct saved_reader *reader = new_reader();
    expect_text(reader, 0, "one\n");
    expect_text(reader, 7, "");
    expect_text(reader, 3, "two\n");
    assert_int_equal(saved_reader_next(reader, &item, NULL), SAVED_END);
    assert_int_equal(item.status, 42);
    saved_reader_free(reader);
}

static void test_a_reader_waits_for_a_writer_that_lives_and_no_longer(void **state)
{
    struct saved_writer *writer = new_writer(LIMIT);
    struct saved_item item;
    (void)state;
    struct saved_reader *reader = new_reader();
    expect_result(reader, SAVED_WAIT);
    assert_false(saved_reader_is_watched(reader));
    struct pollfd poller = {.fd = saved_reader_watch(reader), .events = POLLIN};
    assert_true(saved_reader_is_watched(reader));
    expect_result(reader, SAVED_WAIT);
    assert_int_equal(poll(&poller, 1, 0), 0);
    add_text(writer, 0, "later\n");
    assert_int_equal(poll(&poller, 1, 5000), 1);
    expect_text(reader, 0, "later\n");
    expect_result(reader, SAVED_WAIT);
    assert_int_equal(poll(&poller, 1, 0), 0);
    saved_writer_free(writer); /* without an end */
    assert_int_equal(poll(&poller, 1, 5000), 1);
    assert_int_equal(saved_reader_next(reader, &item, NULL), SAVED_END);
    assert_int_equal(item.status, -1);
    saved_reader_free(reader);
}

static void test_the_end_wakes_a_reader_also_where_the_newest_file_is_not_the_first(void **state)
{
    static char block[400 << 10];
    struct saved_writer *writer = new_writer(SAVED_LIMIT_LEAST);
    (void)state;
    struct saved_reader *reader = new_reader();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(try_add(writer, 0, block, sizeof(block)), 0);
        expect_result(reader, SAVED_FRAME);
    }
    expect_result(reader, SAVED_WAIT);
    assert_false(saved_reader_is_watched(reader));
    struct pollfd poller = {.fd = saved_reader_watch(reader), .events = POLLIN};
    assert_true(saved_reader_is_watched(reader));
    expect_result(reader, SAVED_WAIT);
    assert_int_equal(poll(&poller, 1, 0), 0);
    saved_writer_end(writer, 0);
    assert_int_equal(poll(&poller, 1, 5000), 1);
    expect_result(reader, SAVED_END);
    saved_writer_free(writer);
    saved_reader_free(reader);
}

/* As a crash may leave it. */
static void test_what_is_cut_at_any_byte_is_read_to_the_last_whole_frame(void **state)
{
    struct saved_writer *writer = new_writer(LIMIT);
    struct stat st;
    (void)state;
    for (int i = 0; i < 4; i++)
        add_text(writer, (uint32_t)i, "some text\n");
    saved_writer_free(writer);
    assert_int_equal(fstatat(dir, "output.0", &st, 0), 0);
    off_t frame = FRAME_HEADER + 10, header = st.st_size - 4 * frame;
    char path[sizeof(place) + 16];
    snprintf(path, sizeof(path), "%s/output.0", place);
    for (off_t size = st.st_size; size >= header; size--) {
        assert_int_equal(truncate(path, size), 0);
        struct saved_reader *reader = new_reader();
        for (off_t i = 0; i < (size - header) / frame; i++)
            expect_text(reader, (uint32_t)i, "some text\n");
        expect_result(reader, SAVED_END);
        saved_reader_free(reader);
    }
    for (off_t size = header - 1; size >= 0; size--) {
        struct error err = ERROR_INIT;
        assert_int_equal(truncate(path, size), 0);
        assert_null(saved_reader_new(open_in, &dir, &err));
        assert_non_null(strstr(error_text(&err), "not written by this version"));
        error_clear(&err);
    }
}

static void test_bytes_that_are_no_frame_are_told_by_their_place(void **state)
{
    struct saved_writer *writer = new_writer(LIMIT);
    struct saved_item item;
    struct error err = ERROR_INIT;
    (void)state;
    add_text(writer, 0, "good\n");
    saved_writer_free(writer);
    int fd = openat(dir, "output.0", O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(fd, "this is no frame at all", 23), 23);
    close(fd);
    struct saved_reader *reader = new_reader();
    expect_text(reader, 0, "good\n");
    assert_int_equal(saved_reader_next(reader, &item, &err), SAVED_BAD);
    assert_string_equal(error_text(&err), "the saved output is damaged at byte 25");
    error_clear(&err);
    saved_reader_free(reader);
}

static uint64_t disk_use(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < 10000; i++) {
        char name[32];
        struct stat st;
        snprintf(name, sizeof(name), "output.%d", i);
        if (fstatat(dir, name, &st, 0) == 0)
            sum += (uint64_t)st.st_size;
    }
    return sum;
}

static void test_beyond_the_limit_the_oldest_goes_but_the_beginning_and_that_is_told(void **state)
{
    static char line[1000];
    struct saved_writer *writer = new_writer(SAVED_LIMIT_LEAST);
    struct saved_item item;
    uint32_t count = 5000, next = 0;
    uint64_t dropped = 0;
    enum saved_result result;
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(try_add(writer, i, line, sizeof(line)), 0);
        if (i % 100 == 0)
            assert_true(disk_use() <= SAVED_LIMIT_LEAST);
    }
    saved_writer_end(writer, 0);
    saved_writer_free(writer);
    struct saved_reader *reader = new_reader();
    while ((result = saved_reader_next(reader, &item, NULL)) != SAVED_END) {
        if (result == SAVED_DROPPED) {
            assert_true(next > 100 && dropped == 0);
            dropped = item.dropped;
            assert_int_equal(dropped % (FRAME_HEADER + sizeof(line)), 0);
            next += (uint32_t)(dropped / (FRAME_HEADER + sizeof(line)));
            continue;
        }
        assert_int_equal(result, SAVED_FRAME);
        assert_int_equal(item.frame.rank, next++);
    }
    assert_int_equal(next, count);
    assert_true(dropped > 0);
    saved_reader_free(reader);
}

static void test_a_reader_that_is_overtaken_goes_on_with_what_is_left(void **state)
{
    static char line[1000];
    struct saved_writer *writer = new_writer(SAVED_LIMIT_LEAST);
    struct saved_reader *reader = new_reader();
    struct saved_item item;
    uint32_t next = 0;
    enum saved_result result;
    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(try_add(writer, i, line, sizeof(line)), 0);
        if (i % 7)
            continue;
        result = saved_reader_next(reader, &item, NULL);
        if (result == SAVED_DROPPED) {
            next += (uint32_t)(item.dropped / (FRAME_HEADER + sizeof(line)));
        } else {
            assert_int_equal(result, SAVED_FRAME);
            assert_int_equal(item.frame.rank, next++);
        }
    }
    assert_true(next > 3000);
    saved_writer_free(writer);
    saved_reader_free(reader);
}

static void test_a_frame_that_is_longer_than_a_file_has_a_file_of_its_own(void **state)
{
    size_t len = SAVED_LIMIT_LEAST / 2;
    char *bytes = calloc(1, len);
    struct saved_writer *writer = new_writer(SAVED_LIMIT_LEAST);
    (void)state;
    add_text(writer, 0, "before\n");
    assert_int_equal(try_add(writer, 1, bytes, len), 0);
    add_text(writer, 2, "after\n");
    saved_writer_free(writer);
    struct saved_reader *reader = new_reader();
    expect_text(reader, 0, "before\n");
    expect_result(reader, SAVED_FRAME);
    expect_text(reader, 2, "after\n");
    expect_result(reader, SAVED_END);
    saved_reader_free(reader);
    free(bytes);
}

static void test_a_full_disk_stops_saving_once_and_readers_are_told_what_is_lost(void **state)
{
    struct rlimit before, small;
    struct error err = ERROR_INIT;
    struct saved_item item;
    char text[100] = "";
    struct frame frame = {.type = FRAME_OUTPUT, .bytes = text, .len = sizeof(text)};
    int saved = 0, failed = 0;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1000;
    struct saved_writer *writer = new_writer(LIMIT);
    struct saved_reader *reader = new_reader();
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 20; i++) {
        int rc = saved_writer_add(writer, &frame, &err);
        if (rc == 0)
            rc = saved_writer_flush(writer, &err);
        failed += rc < 0;
        saved += rc == 0 && !failed;
    }
    assert_int_equal(failed, 1);
    assert_string_equal(error_text(&err), "output is not saved any more: File too large");
    error_clear(&err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(saved_writer_add(writer, &frame, &err), 0); /* it does not begin again */
    for (int i = 0; i < saved; i++)
        expect_result(reader, SAVED_FRAME);
    saved_writer_end(writer, 3);
    saved_writer_free(writer);
    assert_int_equal(saved_reader_next(reader, &item, NULL), SAVED_STOPPED);
    assert_int_equal(item.error, EFBIG);
    assert_int_equal(item.dropped, (uint64_t)(21 - saved) * (FRAME_HEADER + sizeof(text)));
    assert_int_equal(saved_reader_next(reader, &item, NULL), SAVED_END);
    assert_int_equal(item.status, 3);
    saved_reader_free(reader);
}

static void test_many_frames_are_written_at_once_and_in_their_order(void **state)
{
    static char large[600 << 10];
    struct saved_writer *writer = new_writer(LIMIT);
    struct frame frame = {.type = FRAME_OUTPUT};
    (void)state;
    struct saved_reader *reader = new_reader();
    for (frame.rank = 0; frame.rank < 5; frame.rank++) {
        frame.bytes = frame.rank == 3 ? large : "small\n";
        frame.len = frame.rank == 3 ? sizeof(large) : 6;
        assert_int_equal(saved_writer_add(writer, &frame, NULL), 0);
        if (frame.rank < 3)
            expect_result(reader, SAVED_WAIT);
    }
    for (uint32_t rank = 0; rank < 3; rank++)
        expect_text(reader, rank, "small\n");
    expect_result(reader, SAVED_FRAME);
    expect_result(reader, SAVED_WAIT);
    assert_int_equal(saved_writer_flush(writer, NULL), 0);
    expect_text(reader, 4, "small\n");
    for (frame.rank = 0; frame.rank < 100000; frame.rank++)
        assert_int_equal(saved_writer_add(writer, &frame, NULL), 0);
    for (uint32_t rank = 0; rank < 75000; rank++)
        expect_text(reader, rank, "small\n"); /* not all wait */
    saved_writer_free(writer);
    saved_reader_free(reader);
}

static void test_what_is_not_written_when_the_disk_is_full_is_given_back(void **state)
{
    struct rlimit before, small;
    struct frame frame = {.type = FRAME_NOTE, .bytes = "text", .len = 4}, back;
    static char large[600 << 10];
    uint32_t rank = 10;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1000;
    struct saved_writer *writer = new_writer(LIMIT);
    setrlimit(RLIMIT_FSIZE, &small);
    for (frame.rank = 0; frame.rank < 10; frame.rank++)
        assert_int_equal(saved_writer_add(writer, &frame, NULL), 0);
    assert_false(saved_writer_unwritten(writer, &back));
    frame.bytes = large;
    frame.len = sizeof(large);
    assert_int_equal(saved_writer_add(writer, &frame, NULL), -1);
    setrlimit(RLIMIT_FSIZE, &before);
    for (; saved_writer_unwritten(writer, &back); rank++) {
        assert_int_equal(back.type, FRAME_NOTE);
        assert_int_equal(back.rank, rank);
        assert_int_equal(back.len, sizeof(large));
    }
    assert_int_equal(rank, 11);
    saved_writer_free(writer);
    struct saved_reader *reader = new_reader();
    for (rank = 0; rank < 10; rank++) /* there was room for these, and readers may have seen them */
        expect_result(reader, SAVED_FRAME);
    expect_result(reader, SAVED_STOPPED);
    saved_reader_free(reader);
}

static void test_files_that_are_missing_or_foreign_are_told(void **state)
{
    static char block[400 << 10];
    struct error err = ERROR_INIT;
    struct saved_item item;
    (void)state;
    assert_null(saved_reader_new(open_in, &dir, &err));
    assert_int_equal(errno, ENOENT);
    error_clear(&err);
    struct saved_writer *writer = new_writer(SAVED_LIMIT_LEAST);
    for (int i = 0; i < 2; i++)
        assert_int_equal(try_add(writer, 0, block, sizeof(block)), 0);
    saved_writer_free(writer);
    assert_int_equal(renameat(dir, "output.0", dir, "output.9"), 0);
    assert_int_equal(renameat(dir, "output.1", dir, "output.0"), 0);
    assert_null(saved_reader_new(open_in, &dir, &err));
    error_clear(&err);
    assert_int_equal(renameat(dir, "output.9", dir, "output.0"), 0);
    struct saved_reader *reader = new_reader();
    expect_result(reader, SAVED_FRAME);
    assert_int_equal(saved_reader_next(reader, &item, &err), SAVED_BAD);
    assert_string_equal(error_text(&err), "of the saved output a file is missing");
    error_clear(&err);
    saved_reader_free(reader);
}

static void test_who_passes_over_what_there_is_reads_what_comes(void **state)
{
    static char block[100 << 10];
    struct saved_writer *writer = new_writer(SAVED_LIMIT_LEAST);
    (void)state;
    for (int i = 0; i < 7; i++)
        assert_int_equal(try_add(writer, 0, block, sizeof(block)), 0);
    struct saved_reader *reader = new_reader();
    saved_reader_skip(reader);
    expect_result(reader, SAVED_WAIT);
    add_text(writer, 1, "new\n");
    expect_text(reader, 1, "new\n");
    saved_writer_free(writer);
    saved_reader_free(reader);
}

static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* Whoever attached to a run that saved nothing reads the copy; it stopped, and the run is left to itself. */
static void test_who_reads_what_stopped_goes_on_with_what_is_saved_anew(void **state)
{
    static char block[300 << 10];
    struct saved_writer *writer = new_writer(SAVED_LIMIT_LEAST);
    struct saved_item item;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 2; i++)
        assert_int_equal(try_add(writer, 0, block, sizeof(block)), 0);
    struct saved_reader *reader = new_reader(), *late = new_reader();
    expect_result(reader, SAVED_FRAME);
    expect_result(late, SAVED_FRAME);
    set_file_limit(1000);
    assert_int_equal(try_add(writer, 0, block, sizeof(block)), -1);
    set_file_limit(RLIM_INFINITY);
    expect_result(reader, SAVED_FRAME);
    expect_result(reader, SAVED_STOPPED);
    expect_result(reader, SAVED_WAIT);
    saved_writer_remove(writer);
    struct saved_writer *next = new_writer(LIMIT);
    add_text(next, 1, "anew\n");
    expect_result(reader, SAVED_WAIT);
    saved_writer_free(writer);
    expect_text(reader, 1, "anew\n");
    expect_result(reader, SAVED_WAIT);
    saved_writer_end(next, 5);
    saved_writer_free(next);
    assert_int_equal(saved_reader_next(reader, &item, NULL), SAVED_END);
    assert_int_equal(item.status, 5);
    saved_reader_free(reader);
    expect_result(
        late, SAVED_BAD); /* its next file is removed: it is told, and reads nothing of the other */
    saved_reader_free(late);
}

static void test_who_begins_to_read_waits_for_who_removes_a_copy(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    saved_writer_free(new_writer(LIMIT));
    int shut = saved_output_shut(open_in, &dir);
    assert_true(shut >= 0);
    assert_null(saved_reader_new(open_in, &dir, &err)); /* in vain */
    assert_int_equal(errno, ENOENT);
    error_clear(&err);
    pid_t pid = fork();
    if (pid == 0) {
        usleep(20000);
        _exit(0); /* with the last copy of the lock */
    }
    close(shut);
    struct saved_reader *reader = new_reader();
    assert_int_equal(saved_output_shut(open_in, &dir), SAVED_IS_READ);
    saved_reader_free(reader);
    waitpid(pid, NULL, 0);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(test_frames_are_read_as_they_were_written_and_the_status_after_them),
        WITH_FILES(test_a_reader_waits_for_a_writer_that_lives_and_no_longer),
        WITH_FILES(test_the_end_wakes_a_reader_also_where_the_newest_file_is_not_the_first),
        WITH_FILES(test_what_is_cut_at_any_byte_is_read_to_the_last_whole_frame),
        WITH_FILES(test_bytes_that_are_no_frame_are_told_by_their_place),
        WITH_FILES(test_beyond_the_limit_the_oldest_goes_but_the_beginning_and_that_is_told),
        WITH_FILES(test_a_reader_that_is_overtaken_goes_on_with_what_is_left),
        WITH_FILES(test_a_frame_that_is_longer_than_a_file_has_a_file_of_its_own),
        WITH_FILES(test_a_full_disk_stops_saving_once_and_readers_are_told_what_is_lost),
        WITH_FILES(test_many_frames_are_written_at_once_and_in_their_order),
        WITH_FILES(test_what_is_not_written_when_the_disk_is_full_is_given_back),
        WITH_FILES(test_files_that_are_missing_or_foreign_are_told),
        WITH_FILES(test_who_passes_over_what_there_is_reads_what_comes),
        WITH_FILES(test_who_reads_what_stopped_goes_on_with_what_is_saved_anew),
        WITH_FILES(test_who_begins_to_read_waits_for_who_removes_a_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
