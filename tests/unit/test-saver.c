/* What is saved of a program: each frame is in the files or is given back, once and in order. */
#include "launcher/manager/saver.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/mem.h"
#include "launcher/saved/saved_output.h"
#include "tests/unit/unit.h"

static char place[] = "/tmp/test-saver-XXXXXX";
static int dir;
static struct spec *spec;
static struct saver *saver;
static int stops;                            /* that were told */
static uint32_t first_unsaved, next_unsaved; /* ranks of frames that are given back */

static void on_stopped(void *owner, const struct error *why)
{
    (void)owner;
    assert_non_null(strstr(error_text(why), "output is not saved any more"));
    stops++;
}

static void on_unsaved(void *owner, const struct frame *frame)
{
    (void)owner;
    assert_int_equal(stops, 1);
    if (first_unsaved == next_unsaved)
        first_unsaved = next_unsaved = frame->rank;
    assert_int_equal(frame->rank, next_unsaved++);
}

static const struct saver_ops ops = {on_stopped, on_unsaved};

static int enter(void **state)
{
    (void)state;
    snprintf(place, sizeof(place), "/tmp/test-saver-XXXXXX");
    if (!mkdtemp(place))
        return -1;
    dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    spec = spec_new();
    saver = saver_new(ev_default_loop(0), spec, &ops, NULL);
    stops = 0;
    first_unsaved = next_unsaved = 0;
    return dir < 0 ? -1 : 0;
}

static int leave(void **state)
{
    (void)state;
    saver_free(saver);
    spec_free(spec);
    close(dir);
    return directory_remove(AT_FDCWD, place);
}

static int open_in(void *arg, const char *name)
{
    return openat(*(int *)arg, name, O_RDONLY | O_CLOEXEC);
}

static bool take(enum frame_type type, uint32_t rank, uint16_t flags)
{
    static const char text[] = "some text of a task, or of tprun\n";
    struct frame frame = {
        .type = type, .flags = flags, .rank = rank, .bytes = text, .len = sizeof(text) - 1};
    return saver_take(saver, &frame);
}

static void turn(double seconds)
{
    usleep((useconds_t)(seconds * 1e6));
    ev_run(ev_default_loop(0), EVRUN_NOWAIT);
}

/* Frames whose ranks count up from 0: how many the files have. */
static uint32_t count_saved(enum saved_result *last, struct saved_item *item)
{
    struct saved_reader *reader = saved_reader_new(open_in, &dir, NULL);
    uint32_t count = 0;
    assert_non_null(reader);
    while ((*last = saved_reader_next(reader, item, NULL)) == SAVED_FRAME)
        if (item->frame.type != FRAME_END)
            assert_int_equal(item->frame.rank, count++);
    saved_reader_free(reader);
    return count;
}

static void test_what_comes_before_there_is_a_directory_is_kept(void **state)
{
    enum saved_result last;
    struct saved_item item;
    (void)state;
    take(FRAME_NOTE, 0, 0);
    take(FRAME_SHOW, 1, FRAME_STDERR);
    take(FRAME_PROGRESS, 99, 0);
    assert_int_equal(saver_open(saver, place, NULL), 0);
    take(FRAME_MAPPED, 2, 0);
    assert_true(take(FRAME_OUTPUT, 3, 0));
    saver_end(saver, 5, "the end\n");
    saver_end(saver, 6, "once\n");
    assert_int_equal(count_saved(&last, &item), 4);
    assert_int_equal(last, SAVED_END);
    assert_int_equal(item.status, 5);
}

static void test_frames_are_in_the_file_after_a_turn_of_the_loop_or_a_moment(void **state)
{
    enum saved_result last;
    struct saved_item item;
    (void)state;
    assert_int_equal(saver_open(saver, place, NULL), 0);
    turn(0.01);
    take(FRAME_OUTPUT, 0, 0);
    turn(0); /* the timer is started */
    turn(0);
    assert_int_equal(count_saved(&last, &item), 1);
    assert_int_equal(last, SAVED_WAIT);
    take(FRAME_OUTPUT, 1, 0);
    turn(0.02);
    turn(0);
    assert_int_equal(count_saved(&last, &item), 2);
}

static void test_what_a_full_disk_does_not_take_is_given_back(void **state)
{
    struct rlimit before, small;
    enum saved_result last;
    struct saved_item item;
    uint32_t count = 0;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1000;
    assert_int_equal(saver_open(saver, place, NULL), 0);
    for (; count < 3; count++)
        assert_true(take(FRAME_OUTPUT, count, 0));
    turn(0.01);
    turn(0);
    setrlimit(RLIMIT_FSIZE, &small);
    for (; count < 100; count++)
        assert_true(take(FRAME_OUTPUT, count, 0));
    turn(0.01);
    turn(0);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(stops, 1);
    assert_int_equal(next_unsaved, count);
    assert_false(take(FRAME_OUTPUT, count, 0)); /* from now on it is sent */
    saver_end(saver, 0, "");
    assert_true(first_unsaved > 3);
    assert_int_equal(count_saved(&last, &item), first_unsaved); /* each is saved or given back */
    assert_int_equal(last, SAVED_STOPPED);
}

static void test_what_goes_to_files_is_sent_and_saved_only_where_it_is_shown_too(void **state)
{
    enum saved_result last;
    struct saved_item item;
    (void)state;
    spec->output = mem_copy_text("out.%r");
    assert_int_equal(saver_open(saver, place, NULL), 0);
    assert_false(take(FRAME_OUTPUT, 99, 0));
    assert_true(take(FRAME_OUTPUT, 0, FRAME_STDERR));
    spec->tee = true;
    assert_false(take(FRAME_OUTPUT, 1, 0));
    spec->merge = true;
    assert_false(take(FRAME_OUTPUT, 2, FRAME_STDERR));
    saver_end(saver, 0, "");
    assert_int_equal(count_saved(&last, &item), 3);
}

static void test_what_would_go_to_files_is_saved_once_nobody_writes_them(void **state)
{
    enum saved_result last;
    struct saved_item item;
    (void)state;
    spec->output = mem_copy_text("out");
    assert_int_equal(saver_open(saver, place, NULL), 0);
    assert_false(take(FRAME_OUTPUT, 7, 0));
    saver_keep_all(saver);
    assert_true(take(FRAME_OUTPUT, 0, 0));
    assert_true(take(FRAME_OUTPUT, 1, FRAME_STDERR));
    saver_flush(saver);
    assert_int_equal(count_saved(&last, &item), 2);
    saver_keep_all(NULL);
}

static void test_a_directory_that_is_missing_is_told_and_nothing_is_saved(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    take(FRAME_NOTE, 0, 0);
    assert_int_equal(saver_open(saver, "/nonexistent/directory", &err), -1);
    assert_non_null(strstr(error_text(&err), "cannot save output in /nonexistent/directory"));
    error_clear(&err);
    assert_false(take(FRAME_OUTPUT, 1, 0));
    saver_end(saver, 0, "");
    assert_int_equal(stops, 0);
}

#define WITH_SAVER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SAVER(test_what_comes_before_there_is_a_directory_is_kept),
        WITH_SAVER(test_frames_are_in_the_file_after_a_turn_of_the_loop_or_a_moment),
        WITH_SAVER(test_what_a_full_disk_does_not_take_is_given_back),
        WITH_SAVER(test_what_goes_to_files_is_sent_and_saved_only_where_it_is_shown_too),
        WITH_SAVER(test_what_would_go_to_files_is_saved_once_nobody_writes_them),
        WITH_SAVER(test_a_directory_that_is_missing_is_told_and_nothing_is_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
