#include "base/buf.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/tree/channels.h"

#define NODE 3

/* A frame that is under way. */
struct packet {
    struct packet *next;
    struct frame frame;
    char bytes[];
};

struct side {
    struct world *world;
    struct channels *channels;
    struct packet *first, **last; /* that it has sent */
    unsigned nends, nclosed;      /* of those that were delivered from here */
};

struct world {
    struct ev_loop *loop;
    struct side a, b;
    size_t under_way
        [2];     /* bytes that a and b have sent on channel 1, and for which there was no credit */
    size_t most; /* of them, ever */
};

static size_t *under_way(struct side *side)
{
    return &side->world->under_way[side == &side->world->b];
}

static void keep_packet(void *owner, const struct frame *frame)
{
    struct side *side = owner, *other = side == &side->world->a ? &side->world->b : &side->world->a;
    struct packet *packet = mem_alloc(sizeof(*packet) + frame->len);
    *packet = (struct packet){.frame = *frame};
    if (frame->len)
        memcpy(packet->bytes, frame->bytes, frame->len);
    packet->frame.bytes = packet->bytes;
    *side->last = packet;
    side->last = &packet->next;
    if (frame->rank == 1 && frame->type == FRAME_CHANNEL)
        *under_way(side) += frame->len;
    else if (frame->rank == 1 && frame->len)
        *under_way(other) -= (size_t)frame_get_u64(frame->bytes);
    if (*under_way(side) > side->world->most)
        side->world->most = *under_way(side);
}

static const struct channels_ops ops = {keep_packet};

static void side_open(struct side *side, struct world *world)
{
    side->world = world;
    side->last = &side->first;
    side->channels = channels_new(world->loop, &ops, side);
}

static int setup(void **state)
{
    struct world *world = mem_alloc(sizeof(*world));
    *world = (struct world){.loop = ev_loop_new(EVFLAG_AUTO)};
    side_open(&world->a, world);
    side_open(&world->b, world);
    *state = world;
    return 0;
}

static struct packet *packet_take(struct side *side)
{
    struct packet *packet = side->first;
    if (!packet)
        return NULL;
    side->first = packet->next;
    if (!side->first)
        side->last = &side->first;
    return packet;
}

static void side_close(struct side *side)
{
    channels_free(side->channels);
    for (struct packet *packet; (packet = packet_take(side));)
        free(packet);
}

static int teardown(void **state)
{
    struct world *world = *state;
    side_close(&world->a);
    side_close(&world->b);
    ev_loop_destroy(world->loop);
    free(world);
    return 0;
}

/* All that is under way from this side arrives. */
static bool deliver(struct side *from, struct side *to)
{
    bool any = false;
    for (struct packet *packet; (packet = packet_take(from)); any = true) {
        from->nends +=
            packet->frame.type == FRAME_CHANNEL && packet->frame.flags & FRAME_CHANNEL_END;
        from->nclosed += packet->frame.flags & FRAME_CHANNEL_CLOSED ? 1 : 0;
        channels_take(to->channels, &packet->frame);
        free(packet);
    }
    return any;
}

/* Until nothing moves any more. */
static void settle(struct world *world)
{
    for (int quiet = 0; quiet < 3; quiet++) {
        ev_run(world->loop, EVRUN_NOWAIT);
        bool there = deliver(&world->a, &world->b), back = deliver(&world->b, &world->a);
        if (there || back)
            quiet = 0;
    }
}

/* A channel between two processes: their descriptors. */
static void open_channel(struct world *world, uint32_t number, int ends[2])
{
    int a[2], b[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, b), 0);
    channels_add(world->a.channels, NODE, number, a[1]);
    channels_add(world->b.channels, NODE, number, b[1]);
    ends[0] = a[0];
    ends[1] = b[0];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
}

/* The loop is not asked whether there is something to read. */
static void what_is_there_goes_with_what_opens_it(void **state)
{
    struct world *world = *state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(write(ends[0], "hello", 5), 5);
    channels_add(world->a.channels, NODE, 7, ends[1]);
    ev_invoke_pending(world->loop);
    assert_non_null(world->a.first);
    assert_int_equal(world->a.first->frame.len, 5);
    assert_memory_equal(world->a.first->frame.bytes, "hello", 5);
    assert_null(world->a.first->next);
    close(ends[0]);
}

static unsigned char byte_at(size_t at)
{
    return (unsigned char)(at * 31 + at / 251);
}

/* As much as goes in; `most` bytes of a stream that begins at *at. */
static void put(int fd, size_t *at, size_t most)
{
    unsigned char bytes[8192];
    while (*at < most) {
        size_t len = most - *at < sizeof(bytes) ? most - *at : sizeof(bytes);
        for (size_t i = 0; i < len; i++)
            bytes[i] = byte_at(*at + i);
        ssize_t done = send(fd, bytes, len, MSG_NOSIGNAL);
        if (done < 0)
            return;
        *at += (size_t)done;
    }
}

/* All that is there: the bytes are right. True at the end of file. */
static bool get(int fd, size_t *at, size_t most)
{
    unsigned char bytes[8192];
    while (*at < most) {
        size_t len = most - *at < sizeof(bytes) ? most - *at : sizeof(bytes);
        ssize_t got = read(fd, bytes, len);
        if (got <= 0)
            return got == 0;
        for (ssize_t i = 0; i < got; i++)
            if (bytes[i] != byte_at(*at + (size_t)i))
                fail_msg("byte %zu is wrong", *at + (size_t)i);
        *at += (size_t)got;
    }
    return false;
}

/* As much as goes in where nobody reads at the other end, at most so many bytes. How many that were. */
static size_t put_all(struct world *world, int fd, size_t most)
{
    size_t sent = 0;
    for (int turn = 0; turn < 100 && sent < most; turn++) {
        put(fd, &sent, most);
        settle(world);
    }
    return sent;
}

/* To the end of file, of which there has to be one. How many bytes came, at most so many. */
static size_t get_all(struct world *world, int fd, size_t most)
{
    size_t got = 0;
    bool end = false;
    for (int turn = 0; turn < 1000 && !end; turn++) {
        end = get(fd, &got, most);
        settle(world);
    }
    assert_true(end);
    return got;
}

static bool at_end(int fd)
{
    char byte;
    return read(fd, &byte, 1) == 0;
}

static void count_turn(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    (void)loop, (void)events;
    ++*(unsigned *)watcher->data;
}

static void end_rest(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer, (void)events;
    ev_break(loop, EVBREAK_ALL);
}

/* No descriptor is watched that is ready while there is nothing to do with it: the loop would turn without end. */
static void assert_rests(struct world *world)
{
    unsigned turns = 0;
    ev_prepare prepare;
    ev_timer timer;
    ev_prepare_init(&prepare, count_turn);
    prepare.data = &turns;
    ev_prepare_start(world->loop, &prepare);
    ev_timer_init(&timer, end_rest, 0.02, 0);
    ev_timer_start(world->loop, &timer);
    ev_run(world->loop, 0);
    ev_prepare_stop(world->loop, &prepare);
    ev_timer_stop(world->loop, &timer);
    assert_true(turns < 5);
}

static size_t count(const struct side *side)
{
    return channels_count(side->channels);
}

static void assert_none_open(const struct world *world)
{
    assert_int_equal(count(&world->a) + count(&world->b), 0);
}

/* ---- data ---- */

static void moves_data_both_ways(void **state)
{
    struct world *world = *state;
    size_t total = 8 * CHANNEL_WINDOW + 17, sent[2] = {0}, got[2] = {0};
    int ends[2];
    open_channel(world, 1, ends);
    for (int turn = 0; turn < 10000 && (got[0] < total || got[1] < total); turn++) {
        put(ends[0], &sent[0], total);
        put(ends[1], &sent[1], total);
        settle(world);
        get(ends[1], &got[0], total);
        get(ends[0], &got[1], total);
    }
    assert_int_equal(got[0], total);
    assert_int_equal(got[1], total);
    close(ends[0]);
    close(ends[1]);
    settle(world);
    assert_none_open(world);
}

static void keeps_to_the_window_where_nobody_reads(void **state)
{
    struct world *world = *state;
    size_t total = 16 * CHANNEL_WINDOW, got = 0;
    int ends[2];
    open_channel(world, 1, ends);
    size_t sent = put_all(world, ends[0], total);
    assert_true(sent < total);
    assert_true(world->most <= CHANNEL_WINDOW);
    assert_true(world->most > CHANNEL_WINDOW / 2);
    for (int turn = 0; turn < 10000 && got < total; turn++) { /* it reads now, a little at a time */
        size_t piece = got + 30000 < total ? got + 30000 : total;
        get(ends[1], &got, piece);
        put(ends[0], &sent, total);
        settle(world);
    }
    assert_int_equal(got, total);
    assert_true(world->most <= CHANNEL_WINDOW);
    assert_rests(world);
    close(ends[0]);
    close(ends[1]);
}

static void a_stalled_channel_stops_no_other(void **state)
{
    struct world *world = *state;
    size_t total = 4 * CHANNEL_WINDOW, stalled = 0, sent = 0, got = 0;
    int still[2], ends[2];
    open_channel(world, 1, still);
    open_channel(world, 2, ends);
    for (int turn = 0; turn < 10000 && got < total; turn++) {
        put(still[0], &stalled, 64 * CHANNEL_WINDOW);
        put(ends[0], &sent, total);
        settle(world);
        get(ends[1], &got, total);
    }
    assert_int_equal(got, total);
    assert_true(stalled < total);
    for (int i = 0; i < 2; i++)
        close(still[i]), close(ends[i]);
}

static void tells_apart_channels_of_two_nodes(void **state)
{
    struct world *world = *state;
    int pair[2], ends[2];
    char text[8] = "";
    open_channel(world, 1, ends);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    channels_add(world->b.channels, NODE + 1, 1, pair[1]);
    assert_int_equal(write(ends[0], "to me", 5), 5);
    settle(world);
    assert_int_equal(read(pair[0], text, sizeof(text)), -1);
    assert_int_equal(read(ends[1], text, sizeof(text)), 5);
    close(pair[0]);
    close(ends[0]);
    close(ends[1]);
}

/* ---- ends ---- */

static void carries_the_end_of_each_direction(void **state)
{
    struct world *world = *state;
    size_t sent = 0, got = 0, answered = 0, answer = 0;
    int ends[2];
    open_channel(world, 1, ends);
    put(ends[0], &sent, 1000);
    shutdown(ends[0], SHUT_WR);
    settle(world);
    assert_true(get(ends[1], &got, 2000));
    assert_int_equal(got, 1000);
    assert_int_equal(count(&world->a) + count(&world->b), 2);
    put(ends[1], &answered, 5000); /* the other direction goes on */
    settle(world);
    close(ends[1]);
    settle(world);
    assert_true(get(ends[0], &answer, 9000));
    assert_int_equal(answer, 5000);
    assert_none_open(world);
    close(ends[0]);
}

static void an_end_comes_behind_all_that_waits(void **state)
{
    struct world *world = *state;
    size_t total = CHANNEL_WINDOW * 3 / 2;
    int ends[2];
    open_channel(world, 1, ends);
    assert_int_equal(put_all(world, ends[0], total), total); /* with what sockets hold */
    close(ends[0]);
    settle(world);
    assert_int_equal(get_all(world, ends[1], total + 1), total);
    close(ends[1]);
    settle(world);
    assert_none_open(world);
}

/* As a manager that says how all ended and is gone, while its front end sends more input. */
static void last_words_arrive_though_more_is_sent_to_who_is_gone(void **state)
{
    struct world *world = *state;
    char text[32] = "";
    int ends[2];
    open_channel(world, 1, ends);
    assert_int_equal(write(ends[0], "input", 5), 5);
    ev_run(world->loop, EVRUN_NOWAIT); /* it is under way */
    assert_int_equal(write(ends[1], "all have ended", 14), 14);
    close(ends[1]);
    deliver(&world->a, &world->b); /* before anything was read there */
    settle(world);
    assert_int_equal(read(ends[0], text, sizeof(text)), 14);
    assert_string_equal(text, "all have ended");
    assert_true(at_end(ends[0]));
    close(ends[0]);
    settle(world);
    assert_none_open(world);
}

static void what_waits_for_a_slow_reader_arrives_though_it_sends_to_who_is_gone(void **state)
{
    struct world *world = *state;
    size_t total = 3 * CHANNEL_WINDOW / 2, input = 0;
    int ends[2];
    open_channel(world, 1, ends);
    assert_int_equal(put_all(world, ends[1], total), total);
    close(ends[1]);
    settle(world);
    for (int turn = 0; turn < 5; turn++) { /* several frames to a channel that is over there */
        put(ends[0], &input, input + 3000);
        settle(world);
    }
    assert_int_equal(get_all(world, ends[0], total + 1), total);
    close(ends[0]);
    settle(world);
    assert_none_open(world);
}

static void who_sends_to_one_that_is_gone_sees_it_and_is_closed(void **state)
{
    struct world *world = *state;
    int ends[2];
    char byte;
    open_channel(world, 1, ends);
    put_all(world, ends[0], 64 * CHANNEL_WINDOW); /* its whole window waits there */
    close(ends[1]);
    settle(world);
    assert_int_equal(read(ends[0], &byte, 1), -1);
    assert_int_equal(errno, ECONNRESET); /* as a socket has it whose other end has not read all */
    assert_int_equal(world->b.nclosed, 1);
    assert_none_open(world);
    assert_int_equal(send(ends[0], "x", 1, MSG_NOSIGNAL), -1);
    assert_int_equal(errno, EPIPE);
    close(ends[0]);
}

/* The credit for what was sent before its end comes after that. */
static void credit_wakes_no_direction_that_has_ended(void **state)
{
    struct world *world = *state;
    size_t sent = 0, got = 0;
    int ends[2];
    open_channel(world, 1, ends);
    put(ends[0], &sent, CHANNEL_WINDOW / 2);
    shutdown(ends[0], SHUT_WR);
    for (int turn = 0; turn < 20; turn++)
        ev_run(world->loop, EVRUN_NOWAIT); /* all of it is under way */
    settle(world);
    assert_true(get(ends[1], &got, sent + 1));
    settle(world);
    assert_rests(world);
    close(ends[1]); /* what is closed after its end ends no second time */
    close(ends[0]);
    settle(world);
    assert_int_equal(world->a.nends, 1);
    assert_none_open(world);
}

static void one_that_is_closed_where_it_has_ended_tells_its_end_once(void **state)
{
    struct world *world = *state;
    size_t sent = 0;
    int ends[2];
    open_channel(world, 1, ends);
    put(ends[0], &sent, 1000);
    shutdown(ends[0], SHUT_WR);
    for (int turn = 0; turn < 3; turn++)
        ev_run(world->loop, EVRUN_NOWAIT); /* both are under way */
    close(ends[1]);
    deliver(&world->a, &world->b);
    deliver(&world->b, &world->a);
    settle(world);
    assert_int_equal(world->b.nclosed, 1);
    assert_int_equal(world->a.nends, 1);
    assert_none_open(world);
    close(ends[0]);
}

/* ---- what should not come ---- */

static void bytes_for_an_unknown_channel_are_answered_with_its_end(void **state)
{
    struct world *world = *state;
    struct frame frame = {
        .type = FRAME_CHANNEL, .node = NODE, .rank = 8, .bytes = "bytes", .len = 5};
    int ends[2];
    open_channel(world, 1, ends);
    channels_take(world->a.channels, &frame);
    assert_non_null(world->a.first);
    assert_int_equal(world->a.first->frame.rank, 8);
    settle(world);
    assert_int_equal(world->a.nends, 1);
    assert_int_equal(world->a.nclosed, 1);
    assert_int_equal(count(&world->a) + count(&world->b), 2);
    close(ends[0]);
    close(ends[1]);
}

/* An answer to an answer would never end. */
static void nothing_answers_an_end_or_credit_of_an_unknown_channel(void **state)
{
    struct world *world = *state;
    unsigned char credit[8] = {0};
    struct frame frames[] = {
        {.type = FRAME_CHANNEL, .flags = FRAME_CHANNEL_END, .node = NODE, .rank = 8},
        {.type = FRAME_CHANNEL_CREDIT, .node = NODE, .rank = 8, .bytes = credit, .len = 8},
        {.type = FRAME_CHANNEL_CREDIT, .flags = FRAME_CHANNEL_CLOSED, .node = NODE, .rank = 8},
    };
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
        channels_take(world->a.channels, &frames[i]);
    assert_null(world->a.first);
}

static void more_than_the_window_closes_the_channel(void **state)
{
    struct world *world = *state;
    char *bytes = mem_alloc(CHANNEL_WINDOW + 1);
    struct frame frame = {
        .type = FRAME_CHANNEL, .node = NODE, .rank = 1, .bytes = bytes, .len = CHANNEL_WINDOW + 1};
    int ends[2];
    open_channel(world, 1, ends);
    memset(bytes, 'x', CHANNEL_WINDOW + 1);
    channels_take(world->b.channels, &frame);
    assert_int_equal(count(&world->b), 0);
    settle(world);
    assert_int_equal(count(&world->a), 0);
    assert_true(at_end(ends[0]));
    assert_true(at_end(ends[1]));
    free(bytes);
    close(ends[0]);
    close(ends[1]);
}

/* Sends `len` bytes to b, whoever reads there. */
static void force(struct world *world, size_t len, uint16_t flags)
{
    char *bytes = mem_alloc(len + 1);
    struct frame frame = {.type = FRAME_CHANNEL,
                          .flags = flags,
                          .node = NODE,
                          .rank = 1,
                          .bytes = memset(bytes, 'x', len + 1),
                          .len = len};
    channels_take(world->b.channels, &frame);
    free(bytes);
}

/* What b has given credit for; its frames arrive nowhere. */
static size_t credited(struct world *world)
{
    size_t sum = 0;
    for (struct packet *packet; (packet = packet_take(&world->b)); free(packet))
        if (packet->frame.type == FRAME_CHANNEL_CREDIT && packet->frame.len)
            sum += (size_t)frame_get_u64((unsigned char *)packet->bytes);
    return sum;
}

/* Of what was sent, some is written and some waits; credit was given for less than was written. */
static void the_window_counts_what_waits_and_what_was_written_without_credit(void **state)
{
    struct world *world = *state;
    size_t sent = 0, paid = 0;
    int ends[2], size = 0;
    open_channel(world, 1, ends);
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    while (sent < CHANNEL_WINDOW * 5 / 4) { /* the socket is full long before */
        force(world, 1000, 0);
        sent += 1000;
        paid += credited(world);
        if (sent - paid > CHANNEL_WINDOW - 1000)
            break;
    }
    size_t left = CHANNEL_WINDOW - (sent - paid);
    assert_true(left < 1000);
    force(world, left, 0);
    assert_int_equal(count(&world->b), 1);
    force(world, 1, 0);
    assert_int_equal(count(&world->b), 0);
    close(ends[0]);
    close(ends[1]);
}

static void credit_is_given_for_a_part_while_the_rest_waits(void **state)
{
    struct world *world = *state;
    char bytes[4096];
    int ends[2];
    open_channel(world, 1, ends);
    force(world, CHANNEL_WINDOW, 0);
    size_t paid = credited(world), got = 0;
    assert_true(paid < CHANNEL_WINDOW);
    for (ssize_t n; got < CHANNEL_WINDOW / 2 && (n = read(ends[1], bytes, sizeof(bytes))) > 0;) {
        got += (size_t)n;
        ev_run(world->loop, EVRUN_NOWAIT);
    }
    paid += credited(world);
    assert_true(paid >= CHANNEL_WINDOW / 4);
    assert_true(paid < CHANNEL_WINDOW);
    close(ends[0]);
    close(ends[1]);
}

static void bytes_behind_an_end_are_dropped_and_the_other_direction_goes_on(void **state)
{
    struct world *world = *state;
    char text[8];
    int ends[2];
    open_channel(world, 1, ends);
    force(world, 0, FRAME_CHANNEL_END);
    assert_true(at_end(ends[1]));
    force(world, 10, 0);
    force(world, 0, FRAME_CHANNEL_END);
    assert_int_equal(write(ends[1], "back", 4), 4);
    settle(world);
    assert_int_equal(world->b.nclosed, 0);
    assert_int_equal(read(ends[0], text, sizeof(text)), 4);
    close(ends[0]);
    close(ends[1]);
}

static void credit_that_is_too_much_or_cut_counts_nothing(void **state)
{
    struct world *world = *state;
    unsigned char credit[8];
    struct frame frame = {
        .type = FRAME_CHANNEL_CREDIT, .node = NODE, .rank = 1, .bytes = credit, .len = 8};
    size_t sent = 0;
    int ends[2];
    open_channel(world, 1, ends);
    for (uint64_t more = 1; more; more = more < UINT64_MAX / 7 ? more * 7 : 0) {
        frame_put_u64(credit, more);
        channels_take(world->a.channels, &frame);
    }
    frame.len = 7;
    channels_take(world->a.channels, &frame);
    frame.len = 0;
    channels_take(world->a.channels, &frame);
    for (int turn = 0; turn < 100; turn++) {
        put(ends[0], &sent, 64 * CHANNEL_WINDOW);
        ev_run(world->loop, EVRUN_NOWAIT);
    }
    assert_int_equal(world->under_way[0], CHANNEL_WINDOW);
    close(ends[0]);
    close(ends[1]);
}

static void a_refused_channel_is_closed_at_the_other_side_which_reads_why(void **state)
{
    struct world *world = *state;
    char text[16];
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    channels_add(world->a.channels, NODE, 2, pair[1]);
    channels_refuse(world->b.channels, NODE, 2, "no room", 7);
    settle(world);
    assert_int_equal(read(pair[0], text, sizeof(text)), 7);
    assert_memory_equal(text, "no room", 7);
    assert_true(at_end(pair[0]));
    assert_int_equal(count(&world->a), 0);
    close(pair[0]);
}

static void a_second_channel_of_one_name_closes_the_first(void **state)
{
    struct world *world = *state;
    int first[2], second[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, first), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, second), 0);
    channels_add(world->a.channels, NODE, 2, first[1]);
    channels_add(world->a.channels, NODE, 2, second[1]);
    assert_true(at_end(first[0]));
    assert_false(at_end(second[0]));
    assert_int_equal(count(&world->a), 1);
    close(first[0]);
    close(second[0]);
}

/* Programs come and go while others stay. */
static void many_channels_are_told_apart_while_some_are_closed(void **state)
{
    enum { MANY = 200 };
    struct world *world = *state;
    int ends[MANY][2];
    char byte = 0;
    for (uint32_t i = 0; i < MANY; i++)
        open_channel(world, 2 * i, ends[i]);
    for (int i = 0; i < MANY; i += 3) {
        close(ends[i][0]);
        settle(world);
        assert_true(at_end(ends[i][1]));
        close(ends[i][1]);
        settle(world);
    }
    assert_int_equal(count(&world->a), MANY - (MANY + 2) / 3);
    assert_int_equal(count(&world->b), MANY - (MANY + 2) / 3);
    for (int i = 0; i < MANY; i++) {
        if (i % 3 == 0)
            continue;
        byte = (char)i;
        assert_int_equal(write(ends[i][0], &byte, 1), 1);
        settle(world);
        byte = 0;
        assert_int_equal(read(ends[i][1], &byte, 1), 1);
        assert_int_equal(byte, (char)i);
        close(ends[i][0]);
        close(ends[i][1]);
        settle(world);
    }
    assert_none_open(world);
}

static void channels_of_lost_nodes_are_closed_and_no_others(void **state)
{
    struct world *world = *state;
    struct idset *lost = idset_new();
    int ends[2], pair[2], more[5];
    char byte;
    open_channel(world, 1, ends);
    for (uint32_t i = 1; i < 5; i++) { /* one that is closed gives its place to another */
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
        channels_add(world->a.channels, NODE + 1, i, pair[1]);
        more[i] = pair[0];
    }
    idset_add(lost, NODE + 1);
    channels_drop(world->a.channels, lost);
    for (int i = 1; i < 5; i++) {
        assert_true(at_end(more[i]));
        close(more[i]);
    }
    assert_int_equal(read(ends[0], &byte, 1), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(count(&world->a), 1);
    idset_add(lost, NODE);
    channels_drop(world->a.channels, lost);
    assert_true(at_end(ends[0]));
    assert_int_equal(count(&world->a), 0);
    idset_free(lost);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_there_goes_with_what_opens_it, setup, teardown),
        cmocka_unit_test_setup_teardown(moves_data_both_ways, setup, teardown),
        cmocka_unit_test_setup_teardown(keeps_to_the_window_where_nobody_reads, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stalled_channel_stops_no_other, setup, teardown),
        cmocka_unit_test_setup_teardown(tells_apart_channels_of_two_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(carries_the_end_of_each_direction, setup, teardown),
        cmocka_unit_test_setup_teardown(an_end_comes_behind_all_that_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(last_words_arrive_though_more_is_sent_to_who_is_gone, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            what_waits_for_a_slow_reader_arrives_though_it_sends_to_who_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(who_sends_to_one_that_is_gone_sees_it_and_is_closed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(credit_wakes_no_direction_that_has_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_is_closed_where_it_has_ended_tells_its_end_once,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_for_an_unknown_channel_are_answered_with_its_end,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_answers_an_end_or_credit_of_an_unknown_channel,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(more_than_the_window_closes_the_channel, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_window_counts_what_waits_and_what_was_written_without_credit, setup, teardown),
        cmocka_unit_test_setup_teardown(credit_is_given_for_a_part_while_the_rest_waits, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            bytes_behind_an_end_are_dropped_and_the_other_direction_goes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(credit_that_is_too_much_or_cut_counts_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            a_refused_channel_is_closed_at_the_other_side_which_reads_why, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_channel_of_one_name_closes_the_first, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(many_channels_are_told_apart_while_some_are_closed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(channels_of_lost_nodes_are_closed_and_no_others, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
