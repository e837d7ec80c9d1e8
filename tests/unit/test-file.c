/* file: what a file holds, or why not. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

static void test_all_of_a_file_is_read(void **state)
{
    char path[] = "/tmp/test-file-XXXXXX", big[10000];
    struct buf text = BUF_INIT;
    int fd = mkstemp(path);
    (void)state;
    memset(big, 'x', sizeof(big));
    assert_int_equal(write(fd, big, sizeof(big)), sizeof(big));
    close(fd);
    buf_add_text(&text, "before ");
    assert_int_equal(file_read(path, &text), 0);
    assert_int_equal(text.len, 7 + sizeof(big));
    assert_memory_equal(buf_text(&text), "before xxx", 10);
    assert_int_equal(buf_text(&text)[text.len - 1], 'x');
    buf_free(&text);
    unlink(path);
}

static void test_a_file_without_a_size_is_read(void **state)
{
    struct buf text = BUF_INIT;
    (void)state;
    assert_int_equal(file_read("/proc/self/status", &text), 0);
    assert_memory_equal(buf_text(&text), "Name:\ttest-file\n", 16);
    buf_free(&text);
}

static void test_a_text_is_written_into_a_file_that_is_there(void **state)
{
    char path[] = "/tmp/test-file-XXXXXX";
    struct buf text = BUF_INIT;
    (void)state;
    close(mkstemp(path));
    assert_int_equal(file_write(path, "seven\n"), 0);
    assert_int_equal(file_read(path, &text), 0);
    assert_string_equal(buf_text(&text), "seven\n");
    buf_free(&text);
    unlink(path);
    assert_int_equal(file_write(path, "x"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_the_reason_of_a_failure_stays(void **state)
{
    static const struct {
        const char *path;
        int number;
    } cases[] = {{"/nosuch", ENOENT}, {"/etc/passwd/x", ENOTDIR}, {"/", EISDIR}};
    struct buf text = BUF_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        errno = 0;
        assert_int_equal(file_read(cases[i].path, &text), -1);
        assert_int_equal(errno, cases[i].number);
    }
    assert_int_equal(text.len, 0);
    buf_free(&text);
    assert_int_equal(file_write("/dev/full", "x"), -1);
    assert_int_equal(errno, ENOSPC);
}

static void ignore(int signal)
{
    (void)signal;
}

/* Into a pipe that is emptied slowly, and with a signal every now and then, which cuts a write short. */
static int write_interrupted(int fd, const char *text, size_t len)
{
    struct itimerval often = {{0, 500}, {0, 500}};
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = ignore}, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    return file_write_all(fd, text, len);
}

static void test_all_is_written_in_as_many_pieces_as_it_takes(void **state)
{
    static char text[1 << 20];
    int ends[2];
    struct buf got = BUF_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)('a' + i % 23);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(write_interrupted(ends[1], text, sizeof(text)) == 0 ? 0 : 1);
    }
    close(ends[1]);
    for (ssize_t n = 1; n > 0;) {
        usleep(50);
        n = read(ends[0], buf_reserve(&got, 3000), 3000);
        buf_added(&got, n > 0 ? (size_t)n : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(got.len, sizeof(text));
    assert_memory_equal(buf_bytes(&got), text, sizeof(text));
    close(ends[0]);
    buf_free(&got);
    assert_int_equal(file_write_all(ends[1], "x", 1), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(file_write_all(ends[1], "", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_of_a_file_is_read),
        cmocka_unit_test(test_a_file_without_a_size_is_read),
        cmocka_unit_test(test_a_text_is_written_into_a_file_that_is_there),
        cmocka_unit_test(test_all_is_written_in_as_many_pieces_as_it_takes),
        cmocka_unit_test(test_the_reason_of_a_failure_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
