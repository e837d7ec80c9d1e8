#include "tests/unit/output-world.h"

#include <math.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>

#include "base/file.h"

/* A story: who says what in which order. text NULL: the stream ends. */
struct step {
    uint32_t rank;
    enum output_stream stream;
    const char *text;
    bool unfinished;
};

#define STEPS 8

static const struct story {
    const char *name;
    bool label;
    struct step steps[STEPS];
    size_t count;
    const char *expected;
} stories[] = {
    {"bytes pass unchanged", false, {{0, 0, "a\nb\n"}, {1, 0, "c\n"}}, 2, "a\nb\nc\n"},
    {"a last line without newline stays so", false, {{0, 0, "a"}, {0, 0, NULL}}, 2, "a"},
    {"it is ended when another rank follows", false, {{0, 0, "a"}, {1, 0, "b\n"}}, 2, "a\nb\n"},
    {"what goes on after another rank has a line of its own",
     false,
     {{0, 0, "a"}, {1, 0, "b\n"}, {0, 0, "c\n"}},
     3,
     "a\nb\nc\n"},
    {"without labels both streams of a rank share it",
     false,
     {{0, 0, "a"}, {0, 1, "b\n"}},
     2,
     "ab\n"},
    {"a line that goes on is not parted",
     true,
     {{0, 0, "a"}, {0, 0, "b\n"}, {1, 0, "c\n"}},
     3,
     "0: ab\n1: c\n"},
    {"progress is labelled again and again",
     true,
     {{0, 0, "10%\r"}, {0, 0, "20%\r30%\r"}, {0, 0, "\n"}, {0, 0, "end\n"}},
     4,
     "0: 10%\r0: 20%\r0: 30%\r\n0: end\n"},
    {"a label stands once before a line that ends with CR and LF",
     true,
     {{0, 0, "a\r\nb\r\n"}, {1, 0, "c\r\n"}},
     2,
     "0: a\r\n0: b\r\n1: c\r\n"},
    {"progress and another rank's line do not mix",
     false,
     {{0, 0, "10%\r"}, {1, 0, "x\n"}, {0, 0, "20%\r"}},
     3,
     "10%\r\nx\n20%\r"},
    {"with labels it is ended when another follows",
     true,
     {{0, 0, "a"}, {0, 1, "b\n"}},
     2,
     "0: a\n0: b\n"},
    {"an empty write does not end it", false, {{0, 0, "a"}, {1, 0, ""}}, 2, "a"},
    {"each line has a label",
     true,
     {{0, 0, "a\n\nb\n"}, {3, 1, "c\n"}},
     2,
     "0: a\n0: \n0: b\n3: c\n"},
    {"a line in pieces has one label",
     true,
     {{2, 0, "a", true}, {2, 0, "b", true}, {2, 0, "c\nd\n"}},
     3,
     "2: abc\n2: d\n"},
    {"a label goes before the line that ends another's",
     true,
     {{0, 0, "a"}, {1, 0, "b"}},
     2,
     "0: a\n1: b"},
    {"others wait for the end of a line",
     false,
     {{0, 0, "a", true}, {1, 0, "x\n"}, {0, 0, "b\n"}, {1, 0, "y\n"}},
     4,
     "ab\nx\ny\n"},
    {"of two unfinished lines one waits",
     true,
     {{0, 0, "a", true}, {1, 0, "x", true}, {0, 0, "b\n"}, {2, 0, "z\n"}, {1, 0, "y\n"}},
     5,
     "0: ab\n1: xy\n2: z\n"},
    {"who waits keeps the order of all that it said",
     false,
     {{0, 0, "a", true}, {1, 0, "1\n"}, {2, 0, "2\n"}, {1, 0, "3\n"}, {0, 0, "\n"}},
     5,
     "a\n1\n3\n2\n"},
    {"a task's stderr waits for its stdout",
     false,
     {{0, 0, "a", true}, {0, 1, "e\n"}, {0, 0, "b\n"}},
     3,
     "ab\ne\n"},
    {"the end of a stream gives the floor away",
     true,
     {{0, 0, "a", true}, {1, 0, "x\n"}, {0, 0, NULL}, {2, 0, "z\n"}},
     4,
     "0: a\n1: x\n2: z\n"},
    {"the end of one that waits does so too",
     true,
     {{0, 0, "a", true}, {1, 0, "x", true}, {1, 0, NULL}, {2, 0, "z\n"}, {0, 0, "b\n"}},
     5,
     "0: ab\n1: x\n2: z\n"},
    {"streams that said nothing may end", false, {{0, 0, NULL}, {3, 1, NULL}}, 2, ""},
    {"whole lines before an unfinished one",
     true,
     {{0, 0, "a\nb", true}, {1, 0, "x\n"}, {0, 0, "c\nd\n"}},
     3,
     "0: a\n0: bc\n0: d\n1: x\n"},
};

static void run_story(struct world *world, const struct story *story)
{
    size_t said = 0;
    world->drained = 0;
    world->config.label = story->label;
    world_start_file(world);
    for (size_t i = 0; i < story->count; i++) {
        const struct step *step = &story->steps[i];
        if (!step->text) {
            output_end(world->output, step->rank, step->stream);
            continue;
        }
        said += strlen(step->text);
        assert_int_equal(world_say(world, step->rank, step->stream, step->text, step->unfinished),
                         0);
    }
    char *text = text_of(world->sink);
    if (strcmp(text, story->expected) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", story->name, text, story->expected);
    free(text);
    assert_int_equal(world->drained, said);
    assert_int_equal(output_pending(world->output), 0);
    output_free(world->output);
    world->output = NULL;
    close(world->sink);
}

static void test_stories_end_as_told(void **state)
{
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
        run_story(*state, &stories[i]);
    ((struct world *)*state)->sink = -1;
}

/* A terminal that changes no bytes; returns the master. */
static int open_terminal(int *slave)
{
    struct termios mode;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    *slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(*slave >= 0);
    assert_int_equal(tcgetattr(*slave, &mode), 0);
    cfmakeraw(&mode);
    assert_int_equal(tcsetattr(*slave, TCSANOW, &mode), 0);
    return master;
}

static void test_what_tprun_says_shares_no_line_with_tasks(void **state)
{
    struct world *world = *state;
    world_start_file(world);
    output_say(world->output, OUTPUT_STDERR, "tprun: a\n", 9);
    world_say(world, 0, OUTPUT_STDOUT, "name? ", false);
    output_say(world->output, OUTPUT_STDERR, "tprun: b\n", 9);
    world_say(world, 0, OUTPUT_STDERR, "c", true);
    output_say(world->output, OUTPUT_STDOUT, "tprun: d\n", 9);
    output_end_all(world->output);
    char *text = text_of(world->sink);
    assert_string_equal(text, "tprun: a\nname? \ntprun: b\nc\ntprun: d\n");
    free(text);
    assert_int_equal(output_pending(world->output), 0);
}

static void test_raw_output_is_not_added_to(void **state)
{
    struct world *world = *state;
    world->config.raw = true;
    world_start_file(world);
    world_say(world, 0, OUTPUT_STDOUT, "a", false);
    world_say(world, 1, OUTPUT_STDOUT, "b", false);
    output_say(world->output, OUTPUT_STDERR, "tprun: c\n", 9);
    char *text = text_of(world->sink);
    assert_string_equal(text, "ab\ntprun: c\n");
    free(text);
}

/* From the master. */
static void assert_shown(int master, const char *expected)
{
    char text[256] = "";
    for (size_t len = 0; len < strlen(expected);) { /* a terminal may give it in pieces */
        struct pollfd some = {.fd = master, .events = POLLIN};
        ssize_t n = poll(&some, 1, 5000) > 0 ? read(master, text + len, sizeof(text) - 1 - len) : 0;
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    assert_string_equal(text, expected);
}

static void test_what_the_terminal_of_rank_0_shows_is_passed_on_as_it_comes(void **state)
{
    struct world *world = *state;
    int slave, master = open_terminal(&slave);
    world->config.pty = world->config.label = true;
    world_start_end(world, master, slave);
    output_set_raw_terminal(world->output, true);
    world_say(world, 1, OUTPUT_STDOUT, "long", true); /* who has the floor */
    world_say(world, 0, OUTPUT_STDOUT, "a\nb\r\n$ ", true);
    world_say(world, 1, OUTPUT_STDOUT, "er\n", false);
    output_say(world->output, OUTPUT_STDOUT, "tprun: c\n", 9);
    world_say(world, 2, OUTPUT_STDOUT, "d\n", false);
    output_set_raw_terminal(world->output, false);
    output_say(world->output, OUTPUT_STDOUT, "e\n", 2);
    assert_shown(master, "1: longa\nb\r\n$ \r\n1: er\r\ntprun: c\r\n2: d\r\ne\n");
}

static void test_with_a_terminal_on_rank_0_files_are_for_others(void **state)
{
    struct world *world = *state;
    char *template = mem_format("%s/out", world->dir);
    for (int tee = 0; tee < 2; tee++) {
        world->config.pty = true;
        world->config.tee = tee;
        world->config.templates[0] = template;
        world_start_file(world);
        world_say(world, 0, OUTPUT_STDOUT, "$ ", true);
        world_say(world, 1, OUTPUT_STDOUT, "x\n", false);
        output_flush(world->output);
        char *shown = text_of(world->sink);
        assert_string_equal(shown, tee ? "$ \nx\n" : "$ ");
        struct buf bytes = BUF_INIT;
        assert_int_equal(file_read(template, &bytes), 0);
        assert_string_equal(buf_text(&bytes), tee ? "$ \nx\n" : "x\n");
        buf_free(&bytes);
        output_free(world->output);
        world->output = NULL;
        close(world->sink);
        world->sink = -1;
        free(shown);
    }
    free(template);
}

static void test_an_answer_that_was_typed_ends_the_line(void **state)
{
    struct world *world = *state;
    char text[64] = "";
    int slave, master = open_terminal(&slave);
    world->config.label = true;
    world_start_end(world, master, slave);
    world_say(world, 0, OUTPUT_STDOUT, "name? ", false);
    output_typed(world->output);
    world_say(world, 1, OUTPUT_STDOUT, "x\n", false);
    for (ssize_t n, len = 0; len < 14; len += n) { /* a terminal may give it in pieces */
        n = read(master, text + len, sizeof(text) - 1 - (size_t)len);
        assert_true(n > 0);
    }
    assert_string_equal(text, "0: name? 1: x\n");
}

static void test_how_long_a_line_waits_is_said_by_what_it_goes_to(void **state)
{
    int ends[2], slave, master = open_terminal(&slave);
    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    int file = memfd_create("file", MFD_CLOEXEC);
    assert_true(output_idle(slave, NULL) == 0.05);
    assert_true(output_idle(ends[1], NULL) == 0.1);
    assert_true(isinf(output_idle(file, NULL)));
    assert_true(isinf(output_idle(slave, "/tmp/out.%r")));
    assert_true(output_idle(file, "/dev/null") == 0.1);
    close(file);
    close(slave);
    close(master);
    close(ends[0]);
    close(ends[1]);
}

static void test_a_rank_that_does_not_exist_is_refused(void **state)
{
    struct world *world = *state;
    world_start_file(world);
    assert_int_equal(world_say(world, 4, OUTPUT_STDOUT, "x\n", false), -1);
    assert_string_equal(error_text(&world->err), "output of rank 4: there are 4 tasks");
    output_end(world->output, 4, OUTPUT_STDOUT);
    assert_int_equal(output_pending(world->output), 0);
}

static void test_silence_inside_a_line_costs_the_floor(void **state)
{
    struct world *world = *state;
    world->config.label = true;
    world_start_file(world);
    world_say(world, 0, OUTPUT_STDOUT, "name? ", true);
    world_say(world, 1, OUTPUT_STDOUT, "one ", true);
    world_say(world, 2, OUTPUT_STDOUT, "two\n", false);
    world_run(world->loop, OUTPUT_PATIENCE * 0.8);
    char *text = text_of(world->sink);
    assert_string_equal(text, "0: name? ");
    assert_int_equal(output_pending(world->output), 8);
    free(text);
    /* Rank 1 was as silent as rank 0: it does not get the same time once more. */
    world_run(world->loop, OUTPUT_PATIENCE * 0.3);
    text = text_of(world->sink);
    assert_string_equal(text, "0: name? \n1: one \n2: two\n");
    free(text);
    assert_int_equal(output_pending(world->output), 0);
    world_say(world, 0, OUTPUT_STDOUT, "late\n", false);
    text = text_of(world->sink);
    assert_non_null(strstr(text, "2: two\n0: late\n"));
    free(text);
}

static void test_a_process_that_slept_does_not_call_others_silent(void **state)
{
    struct world *world = *state;
    world_start_file(world);
    world_say(world, 0, OUTPUT_STDOUT, "begin ", true);
    world_say(world, 1, OUTPUT_STDOUT, "other\n", false);
    usleep((useconds_t)((OUTPUT_PATIENCE + 0.6) * 1e6));
    world_run(world->loop, 0.05);
    world_say(world, 0, OUTPUT_STDOUT, "end\n", false);
    char *text = text_of(world->sink);
    assert_string_equal(text, "begin end\nother\n");
    free(text);
}

/* Read what the other end has; returns how much, and adds the letter's count. */
static size_t take(int fd, char letter, size_t *letters)
{
    char part[65536];
    ssize_t count = read(fd, part, sizeof(part));
    for (ssize_t i = 0; i < count; i++)
        *letters += part[i] == letter;
    return count > 0 ? (size_t)count : 0;
}

/* Until nothing comes any more: a terminal passes bytes on a little later. */
static void take_rest(int fd, size_t *got, size_t *letters)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    while (poll(&ready, 1, 200) > 0)
        *got += take(fd, 'x', letters);
}

/* Lines of 100 bytes, 655 of them, from ranks in turn, until at least `least` bytes are pending. */
static size_t fill(struct world *world, size_t least)
{
    char chunk[65500];
    size_t said = 0;
    memset(chunk, 'x', sizeof(chunk));
    for (size_t i = 99; i < sizeof(chunk); i += 100)
        chunk[i] = '\n';
    for (uint32_t rank = 0; output_pending(world->output) < least; rank = (rank + 1) % 4) {
        assert_true(said < 1 << 26);
        assert_int_equal(output_write(world->output, rank, OUTPUT_STDOUT, chunk, sizeof(chunk),
                                      false, &world->err),
                         0);
        said += sizeof(chunk);
    }
    return said;
}

/* The reader is slow: bytes wait, are counted, and all arrive; nobody's flags are changed. */
static void check_slow_reader(struct world *world, int theirs, bool label)
{
    size_t got = 0, letters = 0;
    int flags = fcntl(theirs, F_GETFL);
    world->config.label = label;
    fcntl(world->sink, F_SETFL, O_NONBLOCK);
    world_start(world, theirs, open("/dev/null", O_WRONLY));
    size_t said = fill(world, 1 << 20);
    assert_int_equal(world->drained + output_pending(world->output), said);
    assert_int_equal(fcntl(1, F_GETFL), flags);
    for (int turn = 0; turn < 100000 && output_pending(world->output); turn++) {
        ev_run(world->loop, EVRUN_NOWAIT);
        got += take(world->sink, 'x', &letters);
        assert_int_equal(world->drained + output_pending(world->output), said);
    }
    take_rest(world->sink, &got, &letters);
    assert_int_equal(world->drained, said);
    assert_int_equal(letters, said / 100 * 99);
    assert_int_equal(got, said + (label ? said / 100 * 3 : 0));
    assert_int_equal(fcntl(1, F_GETFL), flags);
}

static void test_a_slow_pipe_holds_bytes_back(void **state)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    ((struct world *)*state)->sink = ends[0];
    check_slow_reader(*state, ends[1], false);
}

static void test_a_slow_pipe_holds_labelled_bytes_back(void **state)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    ((struct world *)*state)->sink = ends[0];
    check_slow_reader(*state, ends[1], true);
}

static void test_a_slow_socket_holds_bytes_back(void **state)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ((struct world *)*state)->sink = ends[0];
    check_slow_reader(*state, ends[1], false);
}

static void test_a_slow_terminal_holds_bytes_back(void **state)
{
    int slave;
    ((struct world *)*state)->sink = open_terminal(&slave);
    check_slow_reader(*state, slave, true);
}

static void test_a_stopped_terminal_goes_on_when_it_is_let(void **state)
{
    struct world *world = *state;
    size_t got = 0, letters = 0;
    int slave, master = open_terminal(&slave);
    fcntl(master, F_SETFL, O_NONBLOCK);
    world_start_end(world, master, slave);
    assert_int_equal(tcflow(1, TCOOFF), 0);
    world_say(world, 0, OUTPUT_STDOUT, "xxx\n", false);
    world_run(world->loop, 0.05);
    assert_int_equal(output_pending(world->output), 4);
    assert_int_equal(tcflow(1, TCOON), 0);
    world_run(world->loop, 0.05);
    assert_int_equal(output_pending(world->output), 0);
    take_rest(master, &got, &letters);
    assert_int_equal(letters, 3);
}

static void check_without_reopening(struct world *world, int theirs)
{
    struct rlimit old, none = {.rlim_cur = 0};
    size_t got = 0, letters = 0;
    fcntl(world->sink, F_SETFL, O_NONBLOCK);
    getrlimit(RLIMIT_NOFILE, &old);
    none.rlim_max = old.rlim_max;
    fflush(NULL);
    dup2(theirs, 1);
    setrlimit(RLIMIT_NOFILE, &none);
    static const struct output_ops ops = {world_drained, world_closed, world_failed};
    world->output = output_new(world->loop, &world->config, &ops, world, &world->err);
    setrlimit(RLIMIT_NOFILE, &old);
    close(theirs);
    alarm(20); /* what blocks here would do so forever */
    size_t said = fill(world, 1 << 18);
    assert_int_equal(fcntl(1, F_GETFL) & O_NONBLOCK, 0);
    while (output_pending(world->output)) {
        ev_run(world->loop, EVRUN_NOWAIT);
        got += take(world->sink, 'x', &letters);
    }
    take_rest(world->sink, &got, &letters);
    alarm(0);
    assert_int_equal(got, said);
    assert_int_equal(letters, said / 100 * 99);
}

static void test_a_pipe_that_cannot_be_reopened_does_not_block_either(void **state)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    ((struct world *)*state)->sink = ends[0];
    check_without_reopening(*state, ends[1]);
}

static void test_a_terminal_that_cannot_be_reopened_does_not_block_either(void **state)
{
    int slave;
    ((struct world *)*state)->sink = open_terminal(&slave);
    check_without_reopening(*state, slave);
}

static void test_a_slow_reader_does_not_make_a_writer_silent(void **state)
{
    struct world *world = *state;
    int ends[2], held;
    size_t letters = 0;
    char *line = mem_alloc(1 << 20);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    world_start_end(world, ends[0], ends[1]);
    memset(line, 'x', 1 << 20);
    output_write(world->output, 0, OUTPUT_STDOUT, line, 1 << 20, true, &world->err);
    assert_int_equal(ioctl(world->sink, FIONREAD, &held), 0);
    assert_int_equal(world->drained, held);
    world_say(world, 1, OUTPUT_STDOUT, "other\n", false);
    world_run(world->loop, OUTPUT_PATIENCE * 1.2);
    assert_int_equal(fcntl(world->sink, F_SETFL, O_NONBLOCK), 0);
    while (output_pending(world->output) > 6) {
        ev_run(world->loop, EVRUN_NOWAIT);
        take(world->sink, '\n', &letters);
    }
    take(world->sink, '\n', &letters);
    assert_int_equal(letters, 0);
    world_say(world, 0, OUTPUT_STDOUT, "end\n", false);
    char text[64] = "";
    assert_int_equal(read(world->sink, text, sizeof(text)), 10);
    assert_string_equal(text, "end\nother\n");
    free(line);
}

static void test_a_reader_that_leaves_is_told_once_and_credit_comes_back(void **state)
{
    struct world *world = *state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    world_start_end(world, ends[0], ends[1]);
    size_t said = fill(world, 1 << 18);
    close(world->sink);
    world->sink = -1;
    ev_run(world->loop, EVRUN_ONCE);
    assert_int_equal(world->closed[OUTPUT_STDOUT], 1);
    assert_int_equal(world->drained, said);
    assert_int_equal(world_say(world, 0, OUTPUT_STDOUT, "more\n", false), 0);
    assert_int_equal(world->drained, said + 5);
    assert_int_equal(world->closed[OUTPUT_STDOUT], 1);
    assert_int_equal(world->closed[OUTPUT_STDERR] + world->failed, 0);
}

static void test_a_terminal_that_is_hung_up_has_no_reader(void **state)
{
    struct world *world = *state;
    int slave, master = open_terminal(&slave);
    world_start_end(world, -1, slave);
    close(master);
    assert_int_equal(world_say(world, 0, OUTPUT_STDOUT, "a\n", false), 0);
    assert_int_equal(world->closed[OUTPUT_STDOUT], 1);
    assert_int_equal(world->drained, 2);
}

static void test_a_full_device_is_told_once_with_its_name(void **state)
{
    struct world *world = *state;
    world_start(world, open("/dev/full", O_WRONLY), open("/dev/full", O_WRONLY));
    world_say(world, 0, OUTPUT_STDOUT, "a\n", false);
    world_say(world, 1, OUTPUT_STDERR, "b\n", false);
    assert_int_equal(world->failed, 1);
    assert_string_equal(error_text(&world->failure),
                        "stdout: cannot write: No space left on device");
    assert_int_equal(world->drained, 4);
    assert_int_equal(output_pending(world->output), 0);
}

static void test_a_closed_stdout_is_told(void **state)
{
    struct world *world = *state;
    static const struct output_ops ops = {world_drained, world_closed, world_failed};
    world->sink = memfd_create("output", MFD_CLOEXEC);
    fflush(NULL);
    dup2(world->sink, 2);
    close(1);
    world->output = output_new(world->loop, &world->config, &ops, world, &world->err);
    world_say(world, 0, OUTPUT_STDOUT, "a\n", false);
    assert_int_equal(world->failed, 1);
    assert_string_equal(error_text(&world->failure), "stdout: cannot write: Bad file descriptor");
}

static void test_a_flush_writes_all_that_waits(void **state)
{
    struct world *world = *state;
    world->config.label = true;
    world_start_file(world);
    world_say(world, 0, OUTPUT_STDOUT, "a", true);
    world_say(world, 1, OUTPUT_STDOUT, "b", true);
    world_say(world, 2, OUTPUT_STDERR, "c\n", false);
    output_flush(world->output);
    char *text = text_of(world->sink);
    assert_string_equal(text, "0: a\n1: b\n2: c\n");
    free(text);
    assert_int_equal(world->drained, 4);
    assert_int_equal(output_pending(world->output), 0);
}

/* The others wait with more than is held for them: the line is torn, and goes on after theirs. */
static void test_the_end_of_a_torn_long_line_gets_no_newline(void **state)
{
    struct world *world = *state;
    static char piece[65536];
    memset(piece, 'x', sizeof(piece));
    world_start_file(world);
    output_write(world->output, 0, OUTPUT_STDOUT, piece, sizeof(piece), true, NULL);
    for (int i = 0; i < 65; i++)
        output_write(world->output, 1, OUTPUT_STDOUT, piece, sizeof(piece), true, NULL);
    output_write(world->output, 0, OUTPUT_STDOUT, "end", 3, false, NULL);
    output_end(world->output, 1, OUTPUT_STDOUT);
    output_write(world->output, 2, OUTPUT_STDOUT, "z", 1, false, NULL);
    output_end_all(world->output);
    char *text = text_of(world->sink);
    assert_int_equal(strlen(text), 66 * sizeof(piece) + 4);
    assert_string_equal(text + 66 * sizeof(piece), "endz");
    free(text);
}

#define WORLD_TEST(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(test_stories_end_as_told),
        WORLD_TEST(test_what_tprun_says_shares_no_line_with_tasks),
        WORLD_TEST(test_raw_output_is_not_added_to),
        WORLD_TEST(test_what_the_terminal_of_rank_0_shows_is_passed_on_as_it_comes),
        WORLD_TEST(test_with_a_terminal_on_rank_0_files_are_for_others),
        WORLD_TEST(test_an_answer_that_was_typed_ends_the_line),
        cmocka_unit_test(test_how_long_a_line_waits_is_said_by_what_it_goes_to),
        WORLD_TEST(test_a_rank_that_does_not_exist_is_refused),
        WORLD_TEST(test_silence_inside_a_line_costs_the_floor),
        WORLD_TEST(test_a_process_that_slept_does_not_call_others_silent),
        WORLD_TEST(test_a_slow_pipe_holds_bytes_back),
        WORLD_TEST(test_a_slow_pipe_holds_labelled_bytes_back),
        WORLD_TEST(test_a_slow_socket_holds_bytes_back),
        WORLD_TEST(test_a_slow_terminal_holds_bytes_back),
        WORLD_TEST(test_a_stopped_terminal_goes_on_when_it_is_let),
        WORLD_TEST(test_a_pipe_that_cannot_be_reopened_does_not_block_either),
        WORLD_TEST(test_a_terminal_that_cannot_be_reopened_does_not_block_either),
        WORLD_TEST(test_a_slow_reader_does_not_make_a_writer_silent),
        WORLD_TEST(test_a_reader_that_leaves_is_told_once_and_credit_comes_back),
        WORLD_TEST(test_a_terminal_that_is_hung_up_has_no_reader),
        WORLD_TEST(test_a_full_device_is_told_once_with_its_name),
        WORLD_TEST(test_a_closed_stdout_is_told),
        WORLD_TEST(test_a_flush_writes_all_that_waits),
        WORLD_TEST(test_the_end_of_a_torn_long_line_gets_no_newline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
