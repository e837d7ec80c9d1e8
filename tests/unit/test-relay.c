#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/mpiexec/relay.h"
#include "tests/unit/unit.h"

/* Two pipes with a relay from the first to the second: writer -> relay -> reader. */
struct line {
    int writer;
    int reader;
    struct relay relay;
};

static struct line line_new(void)
{
    int first[2], second[2];
    assert_int_equal(pipe2(first, O_CLOEXEC), 0);
    assert_int_equal(pipe2(second, O_CLOEXEC), 0);
    return (struct line){.writer = first[1],
                         .reader = second[0],
                         .relay = {.from = first[0], .to = second[1], .alone = true}};
}

static void pass_all(struct relay *relays, size_t count)
{
    while (relay_turn(relays, count, 0))
        ;
}

static void expect_bytes(int fd, const char *expected)
{
    char bytes[64] = "";
    assert_int_equal(read(fd, bytes, sizeof(bytes) - 1), strlen(expected));
    assert_string_equal(bytes, expected);
}

static void test_bytes_pass_behind_those_that_were_held(void **state)
{
    struct line line = line_new();
    (void)state;
    buf_add_text(&line.relay.held, "first ");
    assert_int_equal(write(line.writer, "second", 6), 6);
    assert_true(relay_turn(&line.relay, 1, 0));
    pass_all(&line.relay, 1);
    expect_bytes(line.reader, "first second");
    assert_int_equal(line.relay.state, RELAY_OPEN);
    assert_false(relay_turn(&line.relay, 1, 1));
    close(line.writer);
    close(line.reader);
    pass_all(&line.relay, 1);
}

static void test_the_end_is_passed_on_behind_the_last_byte(void **state)
{
    struct line line = line_new();
    (void)state;
    assert_int_equal(write(line.writer, "last", 4), 4);
    close(line.writer);
    for (int i = 0; i < 8 && line.relay.state == RELAY_OPEN; i++)
        relay_turn(&line.relay, 1, 0);
    assert_int_equal(line.relay.state, RELAY_DRY);
    expect_bytes(line.reader, "last");
    expect_bytes(line.reader, "");
    close(line.reader);
}

static void test_the_writer_learns_that_the_reader_has_gone(void **state)
{
    struct line line = line_new();
    (void)state;
    close(line.reader);
    assert_true(relay_turn(&line.relay, 1, 0));
    assert_int_equal(line.relay.state, RELAY_DEAF);
    assert_int_equal(write(line.writer, "x", 1), -1);
    close(line.writer);
}

static void test_one_that_nobody_reads_holds_so_much_and_hinders_no_other(void **state)
{
    struct line lines[2] = {line_new(), line_new()};
    struct relay relays[2] = {lines[0].relay, lines[1].relay};
    static const char block[4096];
    size_t taken = 0;
    (void)state;
    fcntl(lines[0].writer, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 1000; i++) {
        ssize_t sent = write(lines[0].writer, block, sizeof(block));
        taken += sent > 0 ? (size_t)sent : 0;
        relay_turn(relays, 2, 0);
    }
    assert_int_equal(relays[0].held.len, RELAY_HELD_MAX);
    assert_true(taken < 1000 * sizeof(block));
    assert_int_equal(write(lines[1].writer, "other", 5), 5);
    pass_all(relays, 2);
    expect_bytes(lines[1].reader, "other");
    for (int i = 0; i < 2; i++) {
        close(lines[i].writer);
        close(lines[i].reader);
    }
    for (int i = 0; i < 8; i++)
        relay_turn(relays, 2, 0);
    assert_int_equal(relays[0].state, RELAY_DEAF);
}

/* The two directions of one connection: what one closed the other would have lost. */
static void test_descriptors_that_others_use_stay_open(void **state)
{
    int left[2], right[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, left), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, right), 0);
    struct relay relays[2] = {{.from = left[1], .to = right[0]}, {.from = right[0], .to = left[1]}};
    shutdown(left[0], SHUT_WR);
    assert_true(relay_turn(relays, 2, 0));
    assert_int_equal(relays[0].state, RELAY_DRY);
    assert_int_equal(write(right[1], "still", 5), 5);
    relay_turn(relays, 2, 0);
    relay_turn(relays, 2, 0);
    expect_bytes(left[0], "still");
    assert_int_equal(relays[1].state, RELAY_OPEN);
    for (int i = 0; i < 2; i++) {
        close(left[i]);
        close(right[i]);
        buf_free(&relays[i].held);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_pass_behind_those_that_were_held),
        cmocka_unit_test(test_the_end_is_passed_on_behind_the_last_byte),
        cmocka_unit_test(test_the_writer_learns_that_the_reader_has_gone),
        cmocka_unit_test(test_one_that_nobody_reads_holds_so_much_and_hinders_no_other),
        cmocka_unit_test(test_descriptors_that_others_use_stay_open),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
