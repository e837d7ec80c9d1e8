#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/tree/link.h"

#define PIECE 65536
#define FIT (LINK_WINDOW / (PIECE + FRAME_HEADER)) /* pieces that a whole window covers */

/* One end, and what it has seen. */
struct end {
    struct link *link;
    char seen[64]; /* a letter a frame: b for bulk, c for control */
    size_t nseen;
    unsigned nroom, ngreeted, nclosed;
    struct buf noise;
    char *why;
};

struct pair {
    struct ev_loop *loop;
    int fds[2];
    struct end a, b;
};

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct end *end = arg;
    (void)link;
    assert_true(end->nseen + 1 < sizeof(end->seen));
    end->seen[end->nseen++] = frame_is_bulk(frame->type) ? 'b' : 'c';
}

static void on_room(struct link *link, void *arg)
{
    assert_true(link_room(link) > 0);
    ((struct end *)arg)->nroom++;
}

static void on_closed(struct link *link, void *arg, const struct error *why)
{
    struct end *end = arg;
    (void)link;
    end->nclosed++;
    free(end->why);
    end->why = mem_copy_text(error_text(why));
}

static void on_noise(struct link *link, void *arg, const char *bytes, size_t len)
{
    (void)link;
    buf_add(&((struct end *)arg)->noise, bytes, len);
}

static void on_greeted(struct link *link, void *arg)
{
    (void)link;
    ((struct end *)arg)->ngreeted++;
}

static const struct link_ops ops = {on_frame, on_room, on_closed, on_noise, on_greeted};

static int setup(void **state)
{
    struct pair *pair = mem_alloc(sizeof(*pair));
    pair->loop = ev_loop_new(EVFLAG_AUTO);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair->fds), 0);
    pair->a.link = link_new(pair->loop, pair->fds[0], pair->fds[0], &ops, &pair->a);
    *state = pair;
    return 0;
}

static void end_free(struct end *end)
{
    link_free(end->link);
    buf_free(&end->noise);
    free(end->why);
}

static int teardown(void **state)
{
    struct pair *pair = *state;
    if (!pair->b.link && pair->fds[1] >= 0)
        close(pair->fds[1]);
    end_free(&pair->a);
    end_free(&pair->b);
    ev_loop_destroy(pair->loop);
    free(pair);
    return 0;
}

static void join(struct pair *pair)
{
    pair->b.link = link_new(pair->loop, pair->fds[1], pair->fds[1], &ops, &pair->b);
}

static void stop_loop(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void run_for(struct pair *pair, double seconds)
{
    ev_timer timer;
    ev_now_update(pair->loop);
    ev_timer_init(&timer, stop_loop, seconds, 0);
    ev_timer_start(pair->loop, &timer);
    ev_run(pair->loop, 0);
    ev_timer_stop(pair->loop, &timer);
}

/* Until `count` has reached `most`; ten seconds are a failure. */
static void run_until(struct pair *pair, const size_t *count, size_t most)
{
    for (int i = 0; i < 1000 && *count < most; i++)
        run_for(pair, 0.01);
    assert_true(*count >= most);
}

static void send_bulk(struct link *link, size_t len)
{
    char *bytes = mem_alloc(len);
    struct frame frame = {.type = FRAME_OUTPUT, .bytes = bytes, .len = len};
    link_send(link, &frame);
    free(bytes);
}

static void send_note(struct link *link)
{
    struct frame frame = {.type = FRAME_NOTE, .bytes = "n", .len = 1};
    link_send(link, &frame);
}

static void test_control_overtakes_bulk_that_waits_for_credit(void **state)
{
    struct pair *pair = *state;
    join(pair);
    for (size_t i = 0; i < FIT + 2; i++)
        send_bulk(pair->a.link, PIECE);
    assert_int_equal(link_room(pair->a.link), 0);
    send_note(pair->a.link);
    run_until(pair, &pair->b.nseen, FIT + 1);
    run_for(pair, 0.05);
    assert_string_equal(pair->b.seen, "bbbbbbbc");
    assert_int_equal(pair->a.nroom, 0);
    link_consumed(pair->b.link, FIT * (PIECE + FRAME_HEADER));
    run_until(pair, &pair->b.nseen, FIT + 3);
    assert_string_equal(pair->b.seen, "bbbbbbbcbb");
    assert_int_equal(pair->a.nroom, 1);
    assert_true(link_room(pair->a.link) > 0);
}

static void test_credit_comes_back_to_a_whole_window_and_no_further(void **state)
{
    struct pair *pair = *state;
    join(pair);
    assert_int_equal(link_room(pair->a.link), LINK_WINDOW);
    send_bulk(pair->a.link, LINK_WINDOW / 2 - FRAME_HEADER);
    assert_int_equal(link_room(pair->a.link), LINK_WINDOW / 2);
    run_until(pair, &pair->b.nseen, 1);
    assert_int_equal(link_room(pair->a.link), LINK_WINDOW / 2);
    link_consumed(pair->b.link, LINK_WINDOW / 2);
    run_for(pair, 0.05);
    assert_int_equal(link_room(pair->a.link), LINK_WINDOW);
    link_consumed(pair->b.link, LINK_WINDOW);
    run_for(pair, 0.05);
    assert_int_equal(link_room(pair->a.link), LINK_WINDOW);
}

static void test_a_frame_larger_than_the_window_goes_when_the_window_is_whole(void **state)
{
    struct pair *pair = *state;
    join(pair);
    send_bulk(pair->a.link, 2 * LINK_WINDOW);
    run_until(pair, &pair->b.nseen, 1);
    assert_int_equal(link_room(pair->a.link), 0);
}

/* Byte by byte, so that every split of the greeting is seen. */
static void test_noise_before_the_greeting_is_told_apart(void **state)
{
    struct pair *pair = *state;
    struct buf all = BUF_INIT;
    char said[256];
    buf_add_text(&all, "Welcome\n\ntprun-agent\n\n");
    link_greet(pair->a.link);
    send_note(pair->a.link);
    link_flush(pair->a.link, 1);
    ssize_t n = read(pair->fds[1], said, sizeof(said));
    assert_true(n > FRAME_HEADER);
    buf_add(&all, said, (size_t)n);
    link_expect_greeting(pair->a.link);
    for (size_t i = 0; i < all.len; i++) {
        assert_int_equal(write(pair->fds[1], buf_bytes(&all) + i, 1), 1);
        ev_run(pair->loop, EVRUN_ONCE);
    }
    assert_string_equal(buf_text(&pair->a.noise), "Welcome\n\ntprun-agent\n\n");
    assert_int_equal(pair->a.ngreeted, 1);
    assert_string_equal(pair->a.seen, "c");
    buf_free(&all);
}

static void test_a_silent_neighbour_is_found(void **state)
{
    struct pair *pair = *state;
    link_watch(pair->a.link, 0.1);
    run_for(pair, 0.05);
    assert_int_equal(pair->a.nclosed, 0);
    run_for(pair, 0.5);
    assert_int_equal(pair->a.nclosed, 1);
    assert_non_null(strstr(pair->a.why, "no sign of life"));
}

static void test_a_neighbour_that_answers_is_left_alone(void **state)
{
    struct pair *pair = *state;
    join(pair);
    link_watch(pair->a.link, 0.2);
    run_for(pair, 0.7);
    assert_int_equal(pair->a.nclosed, 0);
    assert_int_equal(pair->b.nclosed, 0);
    /* both ends have one clock */
    assert_true(llabs((long long)link_clock_offset(pair->a.link)) < 500000000);
}

static void test_an_end_of_file_is_told_once(void **state)
{
    struct pair *pair = *state;
    link_watch(pair->a.link, INFINITY);
    close(pair->fds[1]);
    pair->fds[1] = -1;
    run_for(pair, 0.05);
    assert_int_equal(pair->a.nclosed, 1);
    assert_string_equal(pair->a.why, "connection closed");
}

static void test_bytes_that_are_no_frames_close_the_link(void **state)
{
    struct pair *pair = *state;
    assert_int_equal(write(pair->fds[1], "SSH-2.0-OpenSSH_9.2p1 Debian", 28), 28);
    run_for(pair, 0.05);
    assert_int_equal(pair->a.nclosed, 1);
    assert_int_equal(pair->a.nseen, 0);
    assert_non_null(strstr(pair->a.why, "unknown type"));
}

#define LINK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LINK_TEST(test_control_overtakes_bulk_that_waits_for_credit),
        LINK_TEST(test_credit_comes_back_to_a_whole_window_and_no_further),
        LINK_TEST(test_a_frame_larger_than_the_window_goes_when_the_window_is_whole),
        LINK_TEST(test_noise_before_the_greeting_is_told_apart),
        LINK_TEST(test_a_silent_neighbour_is_found),
        LINK_TEST(test_a_neighbour_that_answers_is_left_alone),
        LINK_TEST(test_an_end_of_file_is_told_once),
        LINK_TEST(test_bytes_that_are_no_frames_close_the_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
