#include "tests/unit/output-world.h"

#include <sys/resource.h>

/* A path, or a template, in the test's directory; freed with the process. */
static char *inside(struct world *world, const char *name)
{
    return mem_format("%s/%s", world->dir, name);
}

static void start(struct world *world, const char *out, const char *err)
{
    world->config.templates[0] = out ? inside(world, out) : NULL;
    world->config.templates[1] = err ? inside(world, err) : NULL;
    world_start_file(world);
    assert_non_null(world->output);
}

static void finish(struct world *world)
{
    output_flush(world->output);
    assert_int_equal(output_pending(world->output), 0);
    for (int stream = 0; stream < 2; stream++)
        free((char *)world->config.templates[stream]);
}

static void check_file(struct world *world, const char *name, const char *expected)
{
    char *path = inside(world, name);
    char *text = text_of_path(path);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    free(path);
}

static void test_each_rank_has_its_file(void **state)
{
    struct world *world = *state;
    world->config.ntasks = 12;
    start(world, "%R.out", "%r-%h-%n-%p.err");
    world_say(world, 3, OUTPUT_STDOUT, "three\n", false);
    world_say(world, 11, OUTPUT_STDOUT, "eleven\n", false);
    world_say(world, 3, OUTPUT_STDOUT, "again", false);
    world_say(world, 3, OUTPUT_STDERR, "oops\n", false);
    finish(world);
    check_file(world, "03.out", "three\nagain");
    check_file(world, "11.out", "eleven\n");
    check_file(world, "3-odd-1-f7.err", "oops\n");
    assert_int_equal(world->drained, 23);
}

static void test_a_file_of_all_ranks_has_whole_labelled_lines(void **state)
{
    struct world *world = *state;
    world->config.label = true;
    start(world, "out", NULL);
    world_say(world, 0, OUTPUT_STDOUT, "a", true);
    world_say(world, 1, OUTPUT_STDOUT, "x\n", false);
    world_say(world, 1, OUTPUT_STDERR, "e\n", false);
    world_say(world, 0, OUTPUT_STDOUT, "b\n", false);
    finish(world);
    check_file(world, "out", "0: ab\n1: x\n");
    char *text = text_of(world->sink);
    assert_string_equal(text, "1: e\n");
    free(text);
}

static void check_one_file(struct world *world, const char *out, const char *err)
{
    start(world, out, err);
    world_say(world, 0, OUTPUT_STDOUT, "a", true);
    world_say(world, 0, OUTPUT_STDERR, "e\n", false);
    world_say(world, 0, OUTPUT_STDOUT, "b\n", false);
    finish(world);
    check_file(world, "out0", "ab\ne\n");
}

static void test_both_streams_may_name_one_file(void **state)
{
    check_one_file(*state, "out%r", "out%r");
}

static void test_a_file_by_another_name_is_the_same_file(void **state)
{
    check_one_file(*state, "out%r", "./out%r");
}

static void test_a_file_that_exists_is_emptied_at_first_use(void **state)
{
    struct world *world = *state;
    char *path = inside(world, "out");
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "what was before", 15), 15);
    close(fd);
    start(world, "out", NULL);
    char *text = text_of_path(path);
    assert_string_equal(text, "what was before");
    free(text);
    world_say(world, 0, OUTPUT_STDOUT, "new\n", false);
    finish(world);
    check_file(world, "out", "new\n");
    free(path);
}

static void test_files_are_made_with_the_umask(void **state)
{
    struct world *world = *state;
    struct stat st;
    char *path = inside(world, "out");
    mode_t old = umask(027);
    start(world, "out", NULL);
    world_say(world, 0, OUTPUT_STDOUT, "x\n", false);
    umask(old);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    finish(world);
    free(path);
}

static void check_refused(struct world *world, const char *out, const char *reason)
{
    start(world, out, NULL);
    assert_int_equal(world_say(world, 2, OUTPUT_STDOUT, "x\n", false), -1);
    char *expected = mem_format("--output \"%s/%s\", rank 2: cannot open %s/%s: %s", world->dir,
                                out, world->dir, strcmp(out, "no/%r") == 0 ? "no/2" : out, reason);
    assert_string_equal(error_text(&world->err), expected);
    assert_int_equal(output_pending(world->output) + world->drained, 0);
    free(expected);
    finish(world);
}

static void test_directories_are_not_made(void **state)
{
    check_refused(*state, "no/%r",
                  "No such file or directory; directories are not made, its own must exist");
}

static void test_a_directory_is_no_file(void **state)
{
    check_refused(*state, ".", "Is a directory");
}

static void test_a_fifo_without_a_reader_is_refused(void **state)
{
    struct world *world = *state;
    char *path = inside(world, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    check_refused(world, "fifo", "No such device or address; nothing reads from it");
    free(path);
}

static void test_a_fifo_whose_reader_leaves_is_a_failure(void **state)
{
    struct world *world = *state;
    char *path = inside(world, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    start(world, "fifo", NULL);
    assert_int_equal(world_say(world, 0, OUTPUT_STDOUT, "x\n", false), 0);
    assert_int_equal(world->failed, 0);
    close(reader);
    assert_int_equal(world_say(world, 0, OUTPUT_STDOUT, "y\n", false), 0);
    assert_int_equal(world->failed, 1);
    assert_int_equal(world->closed[0], 0);
    assert_non_null(strstr(error_text(&world->failure), "/fifo: cannot write: Broken pipe"));
    finish(world);
    free(path);
}

static void test_a_full_device_fails_by_its_name(void **state)
{
    struct world *world = *state;
    world->config.templates[0] = "/dev/full";
    world_start_file(world);
    world_say(world, 0, OUTPUT_STDOUT, "x\n", false);
    world_say(world, 1, OUTPUT_STDOUT, "y\n", false);
    assert_int_equal(world->failed, 1);
    assert_string_equal(error_text(&world->failure),
                        "/dev/full: cannot write: No space left on device");
    assert_int_equal(world->drained, 4);
}

static void test_a_wrong_template_is_a_wrong_command_line(void **state)
{
    struct world *world = *state;
    world->config.templates[1] = "x%q";
    world_start_file(world);
    assert_null(world->output);
    assert_int_equal(world->err.kind, ERROR_USAGE);
    assert_non_null(strstr(error_text(&world->err), "--error: \"x%q\""));
}

/* So many descriptors are free. */
static int free_descriptors(void)
{
    int taken[256], count = 0;
    while (count < 256 && (taken[count] = dup(0)) >= 0)
        count++;
    for (int i = 0; i < count; i++)
        close(taken[i]);
    return count;
}

static void test_more_files_than_descriptors_are_written_in_turns(void **state)
{
    struct world *world = *state;
    struct rlimit old, low;
    world->config.ntasks = 100;
    getrlimit(RLIMIT_NOFILE, &old);
    low = old;
    low.rlim_cur = 32;
    start(world, "%r.out", NULL);
    output_free(world->output);
    setrlimit(RLIMIT_NOFILE, &low);
    static const struct output_ops ops = {world_drained, world_closed, world_failed};
    world->output = output_new(world->loop, &world->config, &ops, world, &world->err);
    int rc = 0;
    for (int round = 0; round < 3; round++)
        for (uint32_t rank = 0; rank < 100; rank++)
            rc |=
                world_say(world, rank, OUTPUT_STDOUT, round == 1 ? "half," : "line\n", round == 1);
    int left = free_descriptors();
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(rc, 0);
    assert_true(left >= 4);
    finish(world);
    for (uint32_t rank = 0; rank < 100; rank++) {
        char *name = mem_format("%u.out", rank);
        check_file(world, name, "line\nhalf,line\n");
        free(name);
    }
    assert_int_equal(world->drained, 1500);
}

static void test_a_file_where_somebody_waits_is_not_closed(void **state)
{
    struct world *world = *state;
    struct rlimit old, low;
    int rc = 0;
    world->config.ntasks = 50;
    getrlimit(RLIMIT_NOFILE, &old);
    low = old;
    low.rlim_cur = 32;
    setrlimit(RLIMIT_NOFILE, &low);
    start(world, "%r.out", "%r.out");
    world_say(world, 0, OUTPUT_STDOUT, "begun ", true);
    world_say(world, 0, OUTPUT_STDERR, "waits\n", false);
    for (uint32_t rank = 1; rank < 50; rank++)
        rc |= world_say(world, rank, OUTPUT_STDOUT, "x\n", false);
    output_end(world->output, 0, OUTPUT_STDOUT);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(rc + world->failed, 0);
    finish(world);
    check_file(world, "0.out", "begun waits\n");
}

/* Nothing left at all: what is open is closed for what is new. */
static void test_files_give_descriptors_back_when_there_are_none(void **state)
{
    struct world *world = *state;
    struct rlimit old, low;
    int rc, taken[256], count = 0;
    start(world, "%r.out", NULL);
    rc = world_say(world, 0, OUTPUT_STDOUT, "a\n", false);
    getrlimit(RLIMIT_NOFILE, &old);
    low = old;
    low.rlim_cur = 256;
    setrlimit(RLIMIT_NOFILE, &low);
    while (count < 256 && (taken[count] = dup(0)) >= 0)
        count++;
    for (uint32_t rank = 1; rank < 4; rank++)
        rc |= world_say(world, rank, OUTPUT_STDOUT, "b\n", false);
    rc |= world_say(world, 0, OUTPUT_STDOUT, "c\n", false);
    while (count)
        close(taken[--count]);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(rc, 0);
    finish(world);
    check_file(world, "0.out", "a\nc\n");
    check_file(world, "3.out", "b\n");
}

/* With tee all goes to both. Rank 0 is inside a line, and rank 1 waits. */
static void test_of_two_processes_one_keeps_files_and_one_descriptors(void **state)
{
    struct world *world = *state;
    for (int files = 0; files < 2; files++) {
        char *path = mem_format("%s/kept.%d", world->dir, files);
        world->config.templates[0] = path;
        world->config.tee = true;
        world->drained = 0;
        world_start_file(world);
        world_say(world, 0, OUTPUT_STDOUT, "par", true);
        world_say(world, 1, OUTPUT_STDOUT, "x\n", false);
        if (files)
            output_keep_files(world->output);
        else
            output_keep_descriptors(world->output);
        world_say(world, 0, OUTPUT_STDOUT, "t\n", false);
        char *written = text_of_path(path), *shown = text_of(world->sink);
        assert_string_equal(written, files ? "part\nx\n" : "par");
        assert_string_equal(shown, files ? "par" : "part\nx\n");
        assert_int_equal(output_pending(world->output), 0);
        assert_int_equal(world->drained, 2 * 7);
        assert_int_equal(world->failed + world->closed[0], 0);
        output_free(world->output);
        world->output = NULL;
        world_restore(world);
        close(world->sink);
        world->sink = -1;
        free(shown);
        free(written);
        free(path);
    }
}

#define WORLD_TEST(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(test_each_rank_has_its_file),
        WORLD_TEST(test_a_file_of_all_ranks_has_whole_labelled_lines),
        WORLD_TEST(test_both_streams_may_name_one_file),
        WORLD_TEST(test_a_file_by_another_name_is_the_same_file),
        WORLD_TEST(test_a_file_that_exists_is_emptied_at_first_use),
        WORLD_TEST(test_files_are_made_with_the_umask),
        WORLD_TEST(test_directories_are_not_made),
        WORLD_TEST(test_a_directory_is_no_file),
        WORLD_TEST(test_a_fifo_without_a_reader_is_refused),
        WORLD_TEST(test_a_fifo_whose_reader_leaves_is_a_failure),
        WORLD_TEST(test_a_full_device_fails_by_its_name),
        WORLD_TEST(test_a_wrong_template_is_a_wrong_command_line),
        WORLD_TEST(test_more_files_than_descriptors_are_written_in_turns),
        WORLD_TEST(test_a_file_where_somebody_waits_is_not_closed),
        WORLD_TEST(test_files_give_descriptors_back_when_there_are_none),
        WORLD_TEST(test_of_two_processes_one_keeps_files_and_one_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
