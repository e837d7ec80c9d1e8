#include "base/clock.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
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
    struct buf bytes; /* of control frames, one after the other */
    enum { FREE_NEVER, FREE_IN_FRAME, FREE_IN_ROOM, FREE_IN_CLOSED } freeing;
    bool answers; /* every control frame with another */
};

struct pair {
    struct ev_loop *loop;
    int fds[2];
    bool joined; /* fds[1] is a link's */
    struct end a, b;
};

static void end_close(struct end *end)
{
    link_free(end->link);
    end->link = NULL;
}

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct end *end = arg;
    assert_true(end->nseen + 1 < sizeof(end->seen));
    end->seen[end->nseen++] = frame_is_bulk(frame->type) ? 'b' : 'c';
    if (!frame_is_bulk(frame->type) && frame->len)
        buf_add(&end->bytes, frame->bytes, frame->len);
    if (end->answers)
        link_send(link, &(struct frame){.type = FRAME_NOTE, .bytes = "answer", .len = 6});
    if (end->freeing == FREE_IN_FRAME)
        end_close(end);
}

static void on_room(struct link *link, void *arg)
{
    struct end *end = arg;
    assert_true(link_room(link) > 0);
    end->nroom++;
    if (end->freeing == FREE_IN_ROOM)
        end_close(end);
}

static void on_closed(struct link *link, void *arg, const struct error *why)
{
    struct end *end = arg;
    (void)link;
    end->nclosed++;
    free(end->why);
    end->why = mem_copy_text(error_text(why));
    if (end->freeing == FREE_IN_CLOSED)
        end_close(end);
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
    buf_free(&end->bytes);
    free(end->why);
}

static int teardown(void **state)
{
    struct pair *pair = *state;
    if (!pair->b.link && pair->fds[1] >= 0 && !pair->joined)
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
    pair->joined = true;
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

static void test_a_rest_of_credit_that_no_frame_fits_into_is_no_room(void **state)
{
    struct pair *pair = *state;
    join(pair);
    send_bulk(pair->a.link, LINK_WINDOW - 2 * FRAME_HEADER - 1);
    assert_int_equal(link_room(pair->a.link), FRAME_HEADER + 1);
    send_bulk(pair->a.link, 0);
    assert_int_equal(link_room(pair->a.link), 0);
    run_until(pair, &pair->b.nseen, 2);
    assert_int_equal(pair->a.nroom, 0);
    link_consumed(pair->b.link, LINK_WINDOW - 1);
    run_for(pair, 0.05);
    assert_int_equal(pair->a.nroom, 1);
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

/* What the neighbour has consumed and not yet told of is less than a quarter of the window: a frame
 * that needs nearly all of the window must not wait for that. */
static void test_a_large_frame_does_not_wait_for_credit_that_nobody_tells_of(void **state)
{
    static const size_t sizes[] = {LINK_WINDOW - FRAME_HEADER, LINK_WINDOW - 2 * FRAME_HEADER,
                                   LINK_WINDOW, 3 * LINK_WINDOW};
    struct pair *pair = *state;
    size_t sent = 0;
    join(pair);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        send_bulk(pair->a.link, 100);
        run_until(pair, &pair->b.nseen, ++sent);
        link_consumed(pair->b.link, 100 + FRAME_HEADER);
        send_bulk(pair->a.link, sizes[i]);
        run_until(pair, &pair->b.nseen, ++sent);
        link_consumed(pair->b.link, sizes[i] + FRAME_HEADER);
        run_for(pair, 0.05);
    }
    assert_true(link_room(pair->a.link) > 0);
}

static void test_bulk_without_credit_stays_where_it_is(void **state)
{
    struct pair *pair = *state;
    join(pair);
    for (size_t i = 0; i < 30; i++)
        send_bulk(pair->a.link, PIECE);
    run_for(pair, 0.2);
    assert_int_equal(pair->b.nseen, FIT);
    assert_int_equal(pair->a.nroom, 0);
    while (pair->b.nseen < 30) { /* and comes in steps as it is consumed */
        size_t before = pair->b.nseen;
        link_consumed(pair->b.link, 2 * (PIECE + FRAME_HEADER));
        run_until(pair, &pair->b.nseen, before + 1);
        assert_true(pair->b.nseen <= before + 2);
    }
    assert_int_equal(pair->b.nseen, 30);
}

static void test_a_large_control_frame_arrives_whole_and_in_order(void **state)
{
    struct pair *pair = *state;
    size_t len = 20u << 20;
    char *bytes = mem_alloc(len);
    join(pair);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    send_note(pair->a.link);
    link_send(pair->a.link, &(struct frame){.type = FRAME_LAUNCH, .bytes = bytes, .len = len});
    send_note(pair->a.link);
    run_until(pair, &pair->b.nseen, 3);
    assert_int_equal(pair->b.bytes.len, len + 2);
    assert_memory_equal(buf_bytes(&pair->b.bytes) + 1, bytes, len);
    free(bytes);
}

/* Sizes around the one from which payloads are not copied, behind a queue and before it. */
static void test_frames_of_all_sizes_keep_their_order(void **state)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 70000, 4096, 300000, 0, 500000, 3, 4096};
    struct pair *pair = *state;
    struct buf expect = BUF_INIT;
    join(pair);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *bytes = mem_alloc(sizes[i]);
        memset(bytes, (int)('a' + i), sizes[i]);
        buf_add(&expect, bytes, sizes[i]);
        link_send(pair->a.link,
                  &(struct frame){.type = FRAME_NOTE, .bytes = bytes, .len = sizes[i]});
        free(bytes);
    }
    run_until(pair, &pair->b.nseen, sizeof(sizes) / sizeof(sizes[0]));
    assert_int_equal(pair->b.bytes.len, expect.len);
    assert_memory_equal(buf_bytes(&pair->b.bytes), buf_bytes(&expect), expect.len);
    buf_free(&expect);
}

static void test_json_travels(void **state)
{
    struct pair *pair = *state;
    json_t *value = json_pack("{s:i}", "a", 1);
    join(pair);
    link_send_json(pair->a.link, FRAME_HELLO, 1, 2, value);
    json_decref(value);
    run_until(pair, &pair->b.nseen, 1);
    assert_string_equal(buf_text(&pair->b.bytes), "{\"a\":1}");
}

/* Nobody is called from inside link_send(), whatever it finds. */
static void test_an_error_is_told_from_the_loop(void **state)
{
    struct pair *pair = *state;
    close(pair->fds[1]);
    pair->fds[1] = -1;
    for (int i = 0; i < 3; i++) {
        send_note(pair->a.link);
        send_bulk(pair->a.link, PIECE);
        link_flush(pair->a.link, 0.01);
    }
    assert_int_equal(pair->a.nclosed, 0);
    run_for(pair, 0.1);
    assert_int_equal(pair->a.nclosed, 1);
    send_note(pair->a.link); /* nor afterwards */
    send_bulk(pair->a.link, PIECE);
    link_consumed(pair->a.link, LINK_WINDOW);
    assert_int_equal(link_room(pair->a.link), 0);
    run_for(pair, 0.1);
    assert_int_equal(pair->a.nclosed, 1);
}

/* What it said before it went is heard before its end. */
static void test_last_words_come_before_the_end_of_file(void **state)
{
    struct pair *pair = *state;
    join(pair);
    send_note(pair->b.link);
    send_bulk(pair->b.link, 2 * PIECE);
    send_note(pair->b.link);
    link_flush(pair->b.link, 0);
    run_until(pair, &pair->a.nseen, 3);
    send_note(pair->b.link);
    link_flush(pair->b.link, 1);
    end_close(&pair->b);
    send_note(pair->a.link); /* fails; what there is to read is read all the same */
    send_bulk(pair->a.link, PIECE);
    run_for(pair, 0.1);
    assert_string_equal(pair->a.seen, "cbcc");
    assert_int_equal(pair->a.nclosed, 1);
}

static void test_a_link_may_be_freed_in_its_callbacks(void **state)
{
    struct pair *pair = *state;
    join(pair);
    pair->b.freeing = FREE_IN_FRAME;
    send_note(pair->a.link);
    send_note(pair->a.link);
    pair->a.freeing = FREE_IN_CLOSED;
    run_for(pair, 0.1);
    assert_null(pair->b.link);
    assert_string_equal(pair->b.seen, "c");
    assert_int_equal(pair->b.nclosed, 0);
    assert_null(pair->a.link);
    assert_int_equal(pair->a.nclosed, 1);
}

static void test_a_link_may_be_freed_when_there_is_room(void **state)
{
    struct pair *pair = *state;
    join(pair);
    pair->a.freeing = FREE_IN_ROOM;
    for (size_t i = 0; i < FIT + 1; i++)
        send_bulk(pair->a.link, PIECE);
    run_until(pair, &pair->b.nseen, FIT);
    link_consumed(pair->b.link, FIT * (PIECE + FRAME_HEADER));
    run_for(pair, 0.1);
    assert_int_equal(pair->a.nroom, 1);
    assert_null(pair->a.link);
    assert_int_equal(pair->b.nclosed, 1);
}

static void test_answers_in_callbacks_are_sent(void **state)
{
    struct pair *pair = *state;
    join(pair);
    pair->b.answers = true;
    for (int i = 0; i < 20; i++)
        send_note(pair->a.link);
    run_until(pair, &pair->a.nseen, 20);
    assert_int_equal(pair->a.bytes.len, 20 * 6);
}

/* What has been written for the other end, a letter a frame: g for the greeting, p for a ping, w for
 * a word that may wait, n for any other. */
static const char *take_written(struct pair *pair)
{
    static char seen[16];
    static const char greeting[] = "\ntprun-agent-greeting-1\n";
    struct buf bytes = BUF_INIT;
    struct frame frame;
    size_t count = 0;
    ssize_t got = recv(pair->fds[1], buf_reserve(&bytes, 4096), 4096, MSG_DONTWAIT);
    buf_added(&bytes, got > 0 ? (size_t)got : 0);
    if (bytes.len && strncmp(buf_text(&bytes), greeting, sizeof(greeting) - 1) == 0) {
        seen[count++] = 'g';
        buf_consume(&bytes, sizeof(greeting) - 1);
    }
    while (frame_decode(&bytes, &frame, NULL) == 1) {
        seen[count++] = frame.type == FRAME_PING ? 'p' : frame_may_wait(&frame) ? 'w' : 'n';
        buf_consume(&bytes, FRAME_HEADER + frame.len);
    }
    assert_int_equal(bytes.len, 0);
    buf_free(&bytes);
    seen[count] = '\0';
    return seen;
}

static void test_the_greeting_goes_with_the_answer_to_what_was_there_before(void **state)
{
    struct pair *pair = *state;
    unsigned char header[FRAME_HEADER];
    pair->a.answers = true;
    frame_encode_header(&(struct frame){.type = FRAME_NOTE}, header);
    assert_int_equal(write(pair->fds[1], header, sizeof(header)), sizeof(header));
    link_greet(pair->a.link);
    assert_string_equal(take_written(pair), "");
    ev_run(pair->loop, EVRUN_ONCE);
    assert_string_equal(take_written(pair), "gn");
}

static void test_the_first_ping_goes_with_what_is_sent_next(void **state)
{
    struct pair *pair = *state;
    ev_now_update(pair->loop);
    link_watch(pair->a.link, 5);
    assert_string_equal(take_written(pair), "");
    send_note(pair->a.link);
    ev_run(pair->loop, EVRUN_ONCE);
    const char *seen = take_written(pair);
    assert_int_equal(strncmp(seen, "pn", 2), 0); /* and another ping, if that took so long */
    if (!seen[2]) {
        run_for(pair, 0.2); /* less than a pulse */
        assert_string_equal(take_written(pair), "p");
    }
}

static void test_a_word_that_may_wait_goes_with_the_next(void **state)
{
    struct pair *pair = *state;
    const struct frame word = {.type = FRAME_CHANNEL_CREDIT, .flags = FRAME_CHANNEL_CLOSED};
    double begun = clock_monotonic_seconds();
    ev_now_update(pair->loop);
    link_send(pair->a.link, &word);
    ev_run(pair->loop, EVRUN_NOWAIT);
    bool waits = !*take_written(pair);
    assert_true(waits || clock_monotonic_seconds() - begun > 0.005);
    link_send(pair->a.link, &word);
    send_note(pair->a.link);
    ev_run(pair->loop, EVRUN_ONCE);
    assert_string_equal(take_written(pair), waits ? "wwn" : "wn");
    link_send(pair->a.link, &word);
    run_for(pair, 0.05);
    assert_string_equal(take_written(pair), "w");
}

/* This process does not come to read for longer than the timeout, but there is something to read. */
static void test_a_neighbour_that_was_only_read_late_is_left_alone(void **state)
{
    struct pair *pair = *state;
    unsigned char note[FRAME_HEADER];
    frame_encode_header(&(struct frame){.type = FRAME_NOTE}, note);
    link_watch(pair->a.link, 0.2);
    run_for(pair, 0.1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(write(pair->fds[1], note, sizeof(note)), sizeof(note));
        usleep(500000);
        run_for(pair, 0.05);
        assert_int_equal(pair->a.nseen, i + 1);
    }
    assert_int_equal(pair->a.nclosed, 0);
}

/* Both were stopped, as when a program is suspended on all its nodes: nothing was sent meanwhile,
 * and so nothing says that either is dead. */
static void test_two_that_were_both_stopped_are_left_alone(void **state)
{
    struct pair *pair = *state;
    join(pair);
    link_watch(pair->a.link, 0.2);
    link_watch(pair->b.link, 0.2);
    run_for(pair, 0.1);
    for (int i = 0; i < 3; i++) {
        usleep(500000);
        run_for(pair, 0.1);
    }
    assert_int_equal(pair->a.nclosed, 0);
    assert_int_equal(pair->b.nclosed, 0);
}

/* Output that nobody reads is no silence: answers to pings overtake it. */
static void test_a_neighbour_whose_bulk_waits_is_left_alone(void **state)
{
    struct pair *pair = *state;
    join(pair);
    link_watch(pair->a.link, 0.2);
    link_watch(pair->b.link, 0.2);
    for (size_t i = 0; i < 4 * FIT; i++)
        send_bulk(pair->b.link, PIECE);
    run_for(pair, 0.7);
    assert_int_equal(pair->a.nclosed, 0);
    assert_int_equal(pair->b.nclosed, 0);
    assert_int_equal(pair->a.nseen, FIT);
}

static void test_a_watch_can_be_called_off(void **state)
{
    struct pair *pair = *state;
    link_watch(pair->a.link, 0.1);
    link_watch(pair->a.link, INFINITY);
    run_for(pair, 0.3);
    assert_int_equal(pair->a.nclosed, 0);
}

/* Another clock, an hour ahead: answered by hand. */
static void test_the_offset_of_a_clock_is_found(void **state)
{
    const int64_t hour = 3600ll * 1000000000;
    struct pair *pair = *state;
    unsigned char ping[FRAME_HEADER + 8], pong[FRAME_HEADER + 16];
    assert_int_equal(link_clock_offset(pair->a.link), 0);
    link_watch(pair->a.link, 5);
    run_for(pair, 0.05);
    assert_int_equal(read(pair->fds[1], ping, sizeof(ping)), sizeof(ping));
    frame_encode_header(&(struct frame){.type = FRAME_PONG, .len = 16}, pong);
    memcpy(pong + FRAME_HEADER, ping + FRAME_HEADER, 8);
    frame_put_u64(pong + FRAME_HEADER + 8, clock_monotonic_ns() + (uint64_t)hour);
    assert_int_equal(write(pair->fds[1], pong, sizeof(pong)), sizeof(pong));
    run_for(pair, 0.05);
    assert_true(llabs((long long)(link_clock_offset(pair->a.link) - hour)) < 500000000);
    /* an answer to what was never asked, and one of the wrong length, change nothing */
    int64_t before = link_clock_offset(pair->a.link);
    frame_put_u64(pong + FRAME_HEADER, UINT64_MAX);
    assert_int_equal(write(pair->fds[1], pong, sizeof(pong)), sizeof(pong));
    frame_encode_header(&(struct frame){.type = FRAME_PONG, .len = 3}, pong);
    assert_int_equal(write(pair->fds[1], pong, FRAME_HEADER + 3), FRAME_HEADER + 3);
    frame_encode_header(&(struct frame){.type = FRAME_PING, .len = 0}, pong);
    assert_int_equal(write(pair->fds[1], pong, FRAME_HEADER), FRAME_HEADER);
    run_for(pair, 0.05);
    assert_true(link_clock_offset(pair->a.link) == before);
    assert_int_equal(pair->a.nclosed, 0);
    assert_int_equal(pair->a.nseen, 0); /* none of that is the owner's */
}

static void test_a_greeting_and_frames_in_one_piece_are_told_apart(void **state)
{
    struct pair *pair = *state;
    join(pair);
    link_expect_greeting(pair->a.link);
    assert_int_equal(write(pair->fds[1], "motd\n", 5), 5);
    link_greet(pair->b.link);
    send_note(pair->b.link);
    send_note(pair->b.link);
    run_until(pair, &pair->a.nseen, 2);
    assert_string_equal(buf_text(&pair->a.noise), "motd\n");
    assert_int_equal(pair->a.ngreeted, 1);
}

static void test_noise_without_a_greeting_is_no_frame(void **state)
{
    struct pair *pair = *state;
    link_expect_greeting(pair->a.link);
    assert_int_equal(write(pair->fds[1], "Password expired.\n", 18), 18);
    close(pair->fds[1]);
    pair->fds[1] = -1;
    run_for(pair, 0.05);
    assert_int_equal(pair->a.nclosed, 1);
    assert_string_equal(pair->a.why, "connection closed");
    assert_int_equal(pair->a.ngreeted, 0);
    /* but for its end, which could have been the beginning of the greeting */
    assert_memory_equal(buf_text(&pair->a.noise), "Password expired.", 17);
}

static void test_a_shutdown_leaves_the_other_direction_open(void **state)
{
    struct pair *pair = *state;
    join(pair);
    send_note(pair->a.link);
    link_shutdown(pair->a.link);
    send_note(pair->b.link);
    run_until(pair, &pair->a.nseen, 1);
    run_for(pair, 0.05);
    assert_string_equal(pair->b.seen, "c");
    assert_int_equal(pair->b.nclosed, 1);
    assert_int_equal(pair->a.nclosed, 0);
}

static void test_an_end_is_known_before_all_is_read(void **state)
{
    struct pair *pair = *state;
    join(pair);
    send_note(pair->b.link);
    assert_false(link_is_ended(pair->a.link));
    link_shutdown(pair->a.link); /* the other direction is open */
    assert_false(link_is_ended(pair->a.link));
    assert_true(link_is_ended(pair->b.link));
    link_shutdown(pair->b.link);
    assert_true(link_is_ended(pair->a.link));
    assert_string_equal(pair->a.seen, "");
}

/* It is not ended while there is another descriptor of it. */
static void test_a_link_that_is_held_does_not_end_when_it_is_freed(void **state)
{
    struct pair *pair = *state;
    join(pair);
    int held = link_duplicate(pair->a.link);
    assert_true(held >= 0);
    assert_int_equal(fcntl(held, F_GETFD), FD_CLOEXEC);
    end_close(&pair->a);
    assert_false(link_is_ended(pair->b.link));
    close(held);
    assert_true(link_is_ended(pair->b.link));
}

/* However long that takes, and nothing is sent behind it. */
static void test_the_end_comes_behind_all_that_waits(void **state)
{
    struct pair *pair = *state;
    static char bytes[4u << 20];
    struct frame note = {.type = FRAME_NOTE, .bytes = bytes, .len = sizeof(bytes)};
    join(pair);
    link_send(pair->a.link, &note);
    link_shutdown(pair->a.link);
    send_note(pair->a.link);
    run_until(pair, &pair->b.nseen, 1);
    run_for(pair, 0.05);
    assert_string_equal(pair->b.seen, "c");
    assert_true(pair->b.bytes.len == sizeof(bytes));
    assert_int_equal(pair->b.nclosed, 1);
}

/* Over pipes, as an agent has them. */
static void test_two_descriptors_are_one_link(void **state)
{
    struct pair *pair = *state;
    struct end near = {0}, far = {0};
    int there[2], back[2];
    assert_int_equal(pipe(there) + pipe(back), 0);
    near.link = link_new(pair->loop, back[0], there[1], &ops, &near);
    far.link = link_new(pair->loop, there[0], back[1], &ops, &far);
    send_note(near.link);
    send_bulk(near.link, 4 * PIECE); /* more than a pipe holds */
    send_note(far.link);
    run_until(pair, &far.nseen, 2);
    run_until(pair, &near.nseen, 1);
    link_shutdown(near.link);
    assert_false(link_is_ended(near.link));
    assert_true(link_is_ended(far.link));
    send_note(near.link); /* nobody hears it, nobody minds */
    run_for(pair, 0.05);
    assert_string_equal(far.seen, "cb");
    assert_int_equal(far.nclosed, 1);
    assert_int_equal(near.nclosed, 0);
    end_free(&near);
    end_free(&far);
}

/* Of the forked child's copy nothing is sent, and the parent's end of file comes through. */
static void test_a_disowned_copy_does_not_hold_the_link_open(void **state)
{
    struct pair *pair = *state;
    int fd = dup(pair->fds[0]);
    struct end copy = {0};
    struct ev_loop *other = ev_loop_new(EVFLAG_AUTO); /* never run */
    join(pair);
    copy.link = link_new(other, fd, fd, &ops, &copy);
    link_disown(copy.link);
    link_disown(NULL);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
    end_close(&pair->a);
    run_for(pair, 0.05);
    assert_int_equal(pair->b.nclosed, 1);
    assert_int_equal(dup2(pair->fds[1], fd), fd); /* so that the free below closes something */
    end_free(&copy);
    ev_loop_destroy(other);
}

static void send_in_prepare(struct ev_loop *loop, ev_prepare *prepare, int events)
{
    (void)events;
    ev_prepare_stop(loop, prepare);
    send_note(prepare->data);
}

/* What is sent as the last before the loop waits does not wait with it. */
static void test_a_frame_is_sent_before_the_loop_waits(void **state)
{
    struct pair *pair = *state;
    ev_prepare prepare;
    ev_prepare_init(&prepare, send_in_prepare);
    prepare.data = pair->a.link;
    ev_prepare_start(pair->loop, &prepare);
    ev_run(pair->loop, EVRUN_NOWAIT);
    assert_string_equal(take_written(pair), "n");
    send_note(pair->a.link); /* from outside of it */
    assert_string_equal(take_written(pair), "");
    ev_run(pair->loop, EVRUN_NOWAIT);
    assert_string_equal(take_written(pair), "n");
}

static void send_in_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    send_note(timer->data);
}

/* A pipe that keeps writes apart. */
static void test_frames_of_one_round_go_in_one_write(void **state)
{
    struct pair *pair = *state;
    ev_timer timers[3];
    char bytes[256];
    int ends[2];
    assert_int_equal(pipe2(ends, O_DIRECT | O_NONBLOCK), 0);
    struct link *link = link_new(pair->loop, dup(pair->fds[1]), ends[1], &ops, &pair->b);
    for (size_t i = 0; i < 3; i++) {
        ev_timer_init(&timers[i], send_in_timer, 0, 0);
        timers[i].data = link;
        ev_timer_start(pair->loop, &timers[i]);
    }
    ev_run(pair->loop, EVRUN_ONCE);
    assert_int_equal(read(ends[0], bytes, sizeof(bytes)), 3 * (FRAME_HEADER + 1));
    assert_int_equal(read(ends[0], bytes, sizeof(bytes)), -1);
    link_free(link);
    close(ends[0]);
}

static void test_no_link_is_no_link(void **state)
{
    (void)state;
    link_free(NULL);
}

#define LINK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LINK_TEST(test_control_overtakes_bulk_that_waits_for_credit),
        LINK_TEST(test_credit_comes_back_to_a_whole_window_and_no_further),
        LINK_TEST(test_a_rest_of_credit_that_no_frame_fits_into_is_no_room),
        LINK_TEST(test_a_frame_larger_than_the_window_goes_when_the_window_is_whole),
        LINK_TEST(test_a_frame_is_sent_before_the_loop_waits),
        LINK_TEST(test_frames_of_one_round_go_in_one_write),
        LINK_TEST(test_noise_before_the_greeting_is_told_apart),
        LINK_TEST(test_a_silent_neighbour_is_found),
        LINK_TEST(test_a_neighbour_that_answers_is_left_alone),
        LINK_TEST(test_an_end_of_file_is_told_once),
        LINK_TEST(test_bytes_that_are_no_frames_close_the_link),
        LINK_TEST(test_a_large_frame_does_not_wait_for_credit_that_nobody_tells_of),
        LINK_TEST(test_bulk_without_credit_stays_where_it_is),
        LINK_TEST(test_a_large_control_frame_arrives_whole_and_in_order),
        LINK_TEST(test_frames_of_all_sizes_keep_their_order),
        LINK_TEST(test_json_travels),
        LINK_TEST(test_an_error_is_told_from_the_loop),
        LINK_TEST(test_last_words_come_before_the_end_of_file),
        LINK_TEST(test_a_link_may_be_freed_in_its_callbacks),
        LINK_TEST(test_a_link_may_be_freed_when_there_is_room),
        LINK_TEST(test_answers_in_callbacks_are_sent),
        LINK_TEST(test_the_greeting_goes_with_the_answer_to_what_was_there_before),
        LINK_TEST(test_the_first_ping_goes_with_what_is_sent_next),
        LINK_TEST(test_a_word_that_may_wait_goes_with_the_next),
        LINK_TEST(test_a_neighbour_that_was_only_read_late_is_left_alone),
        LINK_TEST(test_two_that_were_both_stopped_are_left_alone),
        LINK_TEST(test_a_neighbour_whose_bulk_waits_is_left_alone),
        LINK_TEST(test_a_watch_can_be_called_off),
        LINK_TEST(test_the_offset_of_a_clock_is_found),
        LINK_TEST(test_a_greeting_and_frames_in_one_piece_are_told_apart),
        LINK_TEST(test_noise_without_a_greeting_is_no_frame),
        LINK_TEST(test_a_shutdown_leaves_the_other_direction_open),
        LINK_TEST(test_an_end_is_known_before_all_is_read),
        LINK_TEST(test_a_link_that_is_held_does_not_end_when_it_is_freed),
        LINK_TEST(test_the_end_comes_behind_all_that_waits),
        LINK_TEST(test_two_descriptors_are_one_link),
        LINK_TEST(test_a_disowned_copy_does_not_hold_the_link_open),
        LINK_TEST(test_no_link_is_no_link),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
