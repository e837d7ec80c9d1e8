#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "launcher/ledger/event_log.h"
#include "tests/unit/unit.h"

static char place[] = "/tmp/test-event-log-XXXXXX";
static int dir;

static int enter(void **state)
{
    (void)state;
    snprintf(place, sizeof(place), "/tmp/test-event-log-XXXXXX");
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

static struct event_log *open_log(void)
{
    struct error err = ERROR_INIT;
    struct event_log *log = event_log_open(dir, "events", place, &err);
    if (!log)
        fail_msg("%s", error_text(&err));
    return log;
}

static void put(const char *bytes, size_t len)
{
    int fd = openat(dir, "events", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

static void get(struct buf *out)
{
    char bytes[4096];
    ssize_t n;
    int fd = openat(dir, "events", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    buf_clear(out);
    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        buf_add(out, bytes, (size_t)n);
    close(fd);
}

/* The names of all events, each with a blank behind it; "!" for a line that is none. */
static char *names(const char *bytes, size_t len, bool *is_cut)
{
    struct event_reader reader;
    struct event event;
    struct buf out = BUF_INIT;
    int rc;
    event_reader_begin(&reader, bytes, len);
    while ((rc = event_reader_next(&reader, &event, NULL)) != 0)
        buf_printf(&out, "%s ", rc < 0 ? "!" : event.name);
    *is_cut = reader.is_cut;
    event_reader_end(&reader);
    return buf_take_text(&out);
}

static void expect_names(const char *want, bool cut)
{
    struct buf bytes = BUF_INIT;
    bool is_cut;
    get(&bytes);
    char *got = names(buf_bytes(&bytes), bytes.len, &is_cut);
    assert_string_equal(got, want);
    assert_int_equal(is_cut, cut);
    free(got);
    buf_free(&bytes);
}

/* As a program's life writes them. */
static void fill(struct event_log *log)
{
    event_log_add(log, "new", json_pack("{s:s}", "id", "17"));
    assert_int_equal(event_log_write(log, NULL), 0);
    event_log_add(log, "alloc", json_pack("{s:{s:i}}", "R", "version", 1));
    event_log_add(log, "start",
                  json_pack("{s:s, s:s}", "text", "line\nbreak \"q\" \x01", "u", "\xc3\xa4"));
    assert_int_equal(event_log_write(log, NULL), 0);
    event_log_add(log, "complete", NULL);
    assert_int_equal(event_log_write(log, NULL), 0);
}

static void test_what_is_appended_is_read(void **state)
{
    struct event_reader reader;
    struct event event;
    struct buf bytes = BUF_INIT;
    struct event_log *log = open_log();
    (void)state;
    fill(log);
    event_log_close(log);
    get(&bytes);
    event_reader_begin(&reader, buf_bytes(&bytes), bytes.len);
    assert_int_equal(event_reader_next(&reader, &event, NULL), 1);
    assert_string_equal(event.name, "new");
    assert_true(event.timestamp > 1e9);
    assert_string_equal(json_string_value(json_object_get(event.context, "id")), "17");
    assert_int_equal(event_reader_next(&reader, &event, NULL), 1);
    assert_int_equal(event_reader_next(&reader, &event, NULL), 1);
    assert_string_equal(json_string_value(json_object_get(event.context, "text")),
                        "line\nbreak \"q\" \x01");
    assert_int_equal(event_reader_next(&reader, &event, NULL), 1);
    assert_null(event.context);
    assert_int_equal(reader.line, 4);
    assert_int_equal(event_reader_next(&reader, &event, NULL), 0);
    assert_false(reader.is_cut);
    event_reader_end(&reader);
    buf_free(&bytes);
}

static void test_nothing_is_written_before_it_is_asked_for(void **state)
{
    struct event_log *log = open_log();
    (void)state;
    event_log_add(log, "new", NULL);
    expect_names("", false);
    assert_int_equal(event_log_write(log, NULL), 0);
    expect_names("new ", false);
    event_log_close(log);
}

static void
test_a_log_that_is_cut_anywhere_is_read_to_its_last_whole_line_and_written_on(void **state)
{
    static const char *const wants[] = {"", "new ", "new alloc ", "new alloc start ",
                                        "new alloc start complete "};
    struct buf bytes = BUF_INIT;
    struct event_log *log = open_log();
    size_t lines = 0;
    (void)state;
    fill(log);
    event_log_close(log);
    get(&bytes);
    for (size_t len = 0; len <= bytes.len; len++) {
        char want[64];
        lines += len && buf_bytes(&bytes)[len - 1] == '\n';
        put(buf_bytes(&bytes), len);
        expect_names(wants[lines], len && buf_bytes(&bytes)[len - 1] != '\n');
        log = open_log();
        event_log_add(log, "x", NULL);
        assert_int_equal(event_log_write(log, NULL), 0);
        event_log_close(log);
        snprintf(want, sizeof(want), "%sx ", wants[lines]);
        expect_names(want, false);
    }
    buf_free(&bytes);
}

static void test_lines_that_are_no_events_are_told_by_their_number(void **state)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"", "line 2: "},
        {"{", "line 2: "},
        {"17", "line 2: "},
        {"[]", "line 2: expected an object"},
        {"{}", "line 2: timestamp"},
        {"{\"timestamp\":0,\"name\":\"x\"}", "line 2: timestamp"},
        {"{\"timestamp\":-1,\"name\":\"x\"}", "line 2: timestamp"},
        {"{\"timestamp\":\"1\",\"name\":\"x\"}", "line 2: timestamp"},
        {"{\"timestamp\":1}", "line 2: name"},
        {"{\"timestamp\":1,\"name\":\"\"}", "line 2: name"},
        {"{\"timestamp\":1,\"name\":7}", "line 2: name"},
        {"{\"timestamp\":1,\"name\":\"x\",\"context\":[]}", "line 2: context"},
        {"{\"timestamp\":1,\"name\":\"x\",\"name\":\"y\"}", "line 2: "},
        {"{\"timestamp\":1,\"name\":\"x\"} {}", "line 2: "},
        {"{timestamp:1,\"name\":\"x\"}", "line 2: "},
        {"{\"timestamp\":1,\"name\":\"\xff\"}", "line 2: "},
        {"{\"timestamp\":1e999,\"name\":\"x\"}", "line 2: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct event_reader reader;
        struct event event;
        struct buf text = BUF_INIT;
        buf_printf(&text,
                   "{\"timestamp\":2,\"name\":\"a\"}\n%s\n{\"timestamp\":1,\"name\":\"b\"}\n",
                   cases[i].line);
        event_reader_begin(&reader, buf_bytes(&text), text.len);
        assert_int_equal(event_reader_next(&reader, &event, NULL), 1);
        assert_int_equal(event_reader_next(&reader, &event, &err), -1);
        if (strncmp(error_text(&err), cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", cases[i].line, cases[i].says,
                     error_text(&err));
        assert_int_equal(event_reader_next(&reader, &event, NULL), 1); /* the clock went back */
        assert_string_equal(event.name, "b");
        assert_int_equal(event_reader_next(&reader, &event, NULL), 0);
        event_reader_end(&reader);
        error_clear(&err);
        buf_free(&text);
    }
}

static void test_bytes_that_are_zero_or_very_many_are_no_event(void **state)
{
    static const char zeros[] =
        "\0\0\n{\"timestamp\":1,\"name\":\"x\0y\"}\n{\"timestamp\":1,\"name\":\"b\"}\n";
    size_t len = EVENT_LINE_MAX + 2u;
    char *huge = malloc(len);
    bool is_cut;
    (void)state;
    char *got = names(zeros, sizeof(zeros) - 1, &is_cut);
    assert_string_equal(got, "! ! b ");
    free(got);
    memset(huge, 'a', len);
    huge[len - 1] = '\n';
    got = names(huge, len, &is_cut);
    assert_string_equal(got, "! ");
    free(got);
    memset(huge, '[', 1 << 20); /* deeper than any reader goes */
    huge[1 << 20] = '\n';
    got = names(huge, (1 << 20) + 1, &is_cut);
    assert_string_equal(got, "! ");
    free(got);
    free(huge);
}

/* A file that may not grow does as a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void test_a_full_disk_is_told_once_and_what_was_missed_is_written_later(void **state)
{
    struct error err = ERROR_INIT;
    struct event_log *log = open_log();
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    event_log_add(log, "new", NULL);
    assert_int_equal(event_log_write(log, &err), 0);
    limit_files(60); /* in the second line */
    event_log_add(log, "alloc", NULL);
    assert_int_equal(event_log_write(log, &err), -1);
    assert_non_null(strstr(error_text(&err), "cannot write "));
    error_clear(&err);
    expect_names("new ", false);
    event_log_add(log, "start", NULL);
    assert_int_equal(event_log_write(log, &err), 0);
    assert_null(err.text);
    expect_names("new ", false);
    limit_files(RLIM_INFINITY);
    event_log_add(log, "complete", NULL);
    assert_int_equal(event_log_write(log, &err), 0);
    expect_names("new alloc start complete ", false);
    event_log_close(log);
}

static void test_what_waits_for_a_full_disk_is_bounded(void **state)
{
    struct event_log *log = open_log();
    char text[1024];
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    limit_files(0);
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    for (size_t i = 0; i <= EVENT_UNSAVED_MAX / sizeof(text); i++)
        event_log_add(log, "x", json_pack("{s:s}", "t", text));
    assert_int_equal(event_log_write(log, NULL), -1);
    limit_files(RLIM_INFINITY);
    event_log_add(log, "complete", NULL);
    assert_int_equal(event_log_write(log, NULL), 0);
    expect_names("", false); /* no log with a gap */
    event_log_close(log);
}

static void
test_a_new_log_takes_the_file_of_an_earlier_one_and_nothing_of_what_it_held(void **state)
{
    struct error err = ERROR_INIT;
    struct event_log *log = open_log();
    (void)state;
    for (int i = 0; i < 9; i++)
        event_log_add(log, "earlier", NULL);
    assert_int_equal(event_log_write(log, &err), 0);
    event_log_close(log);
    assert_int_equal(renameat(dir, "events", dir, "draft"), 0);
    log = event_log_new("events", place);
    event_log_add(log, "new", NULL);
    event_log_add(log, "pending", NULL);
    assert_int_equal(event_log_begin(log, dir, "events", "draft", &err), 0);
    expect_names("new pending ", false);
    event_log_add(log, "complete", NULL);
    assert_int_equal(event_log_write(log, &err), 0);
    expect_names("new pending complete ", false);
    event_log_close(log);
    /* another cannot be made beside it */
    log = event_log_new("events", place);
    event_log_add(log, "new", NULL);
    assert_int_equal(event_log_begin(log, dir, "events", "draft", &err), -1);
    assert_non_null(strstr(error_text(&err), "cannot make "));
    error_clear(&err);
    event_log_add(log, "pending", NULL);
    assert_int_equal(event_log_write(log, &err), 0);
    event_log_close(log);
    expect_names("new pending complete ", false);
}

static void test_a_new_log_on_a_full_disk_is_empty_and_is_written_later(void **state)
{
    struct error err = ERROR_INIT;
    struct event_log *log = open_log();
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    event_log_add(log, "earlier", NULL);
    assert_int_equal(event_log_write(log, &err), 0);
    event_log_close(log);
    assert_int_equal(renameat(dir, "events", dir, "draft"), 0);
    log = event_log_new("events", place);
    event_log_add(log, "new", NULL);
    limit_files(0);
    assert_int_equal(event_log_begin(log, dir, "events", "draft", &err), -1);
    assert_non_null(strstr(error_text(&err), "cannot write "));
    error_clear(&err);
    expect_names("", false);
    limit_files(RLIM_INFINITY);
    event_log_add(log, "pending", NULL);
    assert_int_equal(event_log_write(log, &err), 0);
    expect_names("new pending ", false);
    event_log_close(log);
}

static void test_what_is_no_file_cannot_be_opened(void **state)
{
    struct error err = ERROR_INIT;
    (void)state;
    assert_int_equal(mkdirat(dir, "events", 0700), 0);
    assert_null(event_log_open(dir, "events", place, &err));
    error_clear(&err);
    unlinkat(dir, "events", AT_REMOVEDIR);
    assert_int_equal(symlinkat("elsewhere", dir, "events"), 0);
    assert_null(event_log_open(dir, "events", place, &err));
    error_clear(&err);
    unlinkat(dir, "events", 0);
    assert_int_equal(mkfifoat(dir, "events", 0600), 0);
    assert_null(event_log_open(dir, "events", place, &err));
    error_clear(&err);
}

#define ON_A_LOG(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_LOG(test_what_is_appended_is_read),
        ON_A_LOG(test_nothing_is_written_before_it_is_asked_for),
        ON_A_LOG(test_a_log_that_is_cut_anywhere_is_read_to_its_last_whole_line_and_written_on),
        ON_A_LOG(test_a_full_disk_is_told_once_and_what_was_missed_is_written_later),
        ON_A_LOG(test_what_waits_for_a_full_disk_is_bounded),
        ON_A_LOG(test_a_new_log_takes_the_file_of_an_earlier_one_and_nothing_of_what_it_held),
        ON_A_LOG(test_a_new_log_on_a_full_disk_is_empty_and_is_written_later),
        ON_A_LOG(test_what_is_no_file_cannot_be_opened),
        cmocka_unit_test(test_lines_that_are_no_events_are_told_by_their_number),
        cmocka_unit_test(test_bytes_that_are_zero_or_very_many_are_no_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
