/* A link: its queues and credit, its greeting, its pings. */
#include "launcher/tree/link.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#define LINK_REPORT (LINK_WINDOW / 4) /* bytes consumed before the neighbour is told */
#define LINK_PULSES 5                 /* unanswered pings that make a link silent */
#define LINK_SETTLED 0.1              /* s after which a new link is at rest */
#define LINK_READ 16384               /* bytes a read asks for, */
#define LINK_READ_MORE 131072         /* and where the read before was full */
#define LINK_DIRECT 4096              /* payloads from here on are written without being copied */
#define LINK_WAIT 0.01 /* s that a frame waits for others at most, see frame_may_wait() */
#define LINK_GREETING "\ntprun-agent-greeting-1\n"

struct link {
    struct ev_loop *loop;
    const struct link_ops *ops;
    void *arg;
    int in, out;
    ev_io reader;
    ev_prepare sender; /* never started, but fed: it runs once no other event is pending */
    ev_io writer;      /* until the neighbour has room again */
    ev_timer pulse;
    ev_timer late;   /* what may wait is sent */
    ev_timer report; /* tells the owner of an error found while sending */
    struct buf received;
    struct buf sending; /* bytes of whole frames, in order */
    struct buf waiting; /* bulk frames without credit */
    size_t credit;      /* bulk bytes that may be sent */
    size_t owed;        /* consumed bytes not yet told to the neighbour */
    bool full;          /* the owner was told that there is no room */
    bool flows;         /* there was as much to read as was asked for */
    bool greeting;      /* still looking for it */
    bool closing;       /* nothing more to the owner */
    bool shutting;      /* nothing more is taken to be sent */
    bool *freed;        /* set when the owner frees the link inside a callback */
    struct error why;
    size_t bound; /* bytes of a frame that is not whole, and of answers that are not read */
    double timeout;
    unsigned unheard; /* pulses since the last byte: time in which this process was stopped
                         itself does not count */
    int64_t offset;
    uint64_t best_trip;
};

/* ---- closing ---- */

static void link_stop(struct link *link)
{
    ev_io_stop(link->loop, &link->reader);
    ev_clear_pending(link->loop, &link->sender);
    ev_io_stop(link->loop, &link->writer);
    ev_timer_stop(link->loop, &link->pulse);
    ev_timer_stop(link->loop, &link->late);
    ev_timer_stop(link->loop, &link->report);
}

static void link_report(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct link *link = timer->data;
    (void)loop;
    (void)events;
    link_stop(link);
    link->ops->closed(link, link->arg, &link->why);
}

/* The first reason counts; the owner hears it from the loop. */
static void link_fail(struct link *link)
{
    if (link->closing)
        return;
    link->closing = true;
    link_stop(link);
    ev_timer_set(&link->report, 0, 0);
    ev_timer_start(link->loop, &link->report);
}

/* ---- sending ---- */

static void link_write(struct link *link)
{
    ev_clear_pending(link->loop, &link->sender);
    while (link->sending.len && !link->closing) {
        ssize_t n = write(link->out, buf_bytes(&link->sending), link->sending.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            /* What the neighbour said before it went is still to be read: the reader reports. */
            buf_clear(&link->sending);
            buf_clear(&link->waiting);
            ev_io_stop(link->loop, &link->writer);
            return;
        }
        buf_consume(&link->sending, (size_t)n);
    }
    if (link->sending.len && !link->closing)
        ev_io_start(link->loop, &link->writer);
    else
        ev_io_stop(link->loop, &link->writer);
    ev_timer_stop(link->loop, &link->late);
    if (!link->shutting || link->sending.len || link->closing)
        return;
    /* The neighbour sees an end of file. */
    if (link->out != link->in) {
        close(link->out);
        link->out = open("/dev/null", O_WRONLY | O_CLOEXEC);
        ev_io_set(&link->writer, link->out, EV_WRITE);
    } else {
        shutdown(link->out, SHUT_WR);
    }
}

static void link_writable(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    (void)events;
    link_write(io->data);
}

static void link_send_all(struct ev_loop *loop, ev_prepare *sender, int events)
{
    (void)loop;
    (void)events;
    link_write(sender->data);
}

static void link_late(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    link_write(timer->data);
}

static void link_write_soon(struct link *link, bool may_wait)
{
    if (ev_is_active(&link->writer))
        return;
    if (!may_wait) {
        ev_feed_event(link->loop, &link->sender, EV_CUSTOM);
    } else if (!ev_is_active(&link->late)) {
        ev_timer_set(&link->late, LINK_WAIT, 0);
        ev_timer_start(link->loop, &link->late);
    }
}

/* Header and payload in one call where nothing waits before them; the rest is queued. */
static void link_put(struct link *link, const struct frame *frame)
{
    if (link->shutting)
        return;
    unsigned char header[FRAME_HEADER];
    frame_encode_header(frame, header);
    size_t done = 0;
    if (frame->len >= LINK_DIRECT) {
        struct iovec parts[3] = {{(void *)(uintptr_t)buf_bytes(&link->sending), link->sending.len},
                                 {header, FRAME_HEADER},
                                 {(void *)(uintptr_t)frame->bytes, frame->len}};
        ssize_t n = writev(link->out, parts, 3);
        done = n > 0 ? (size_t)n : 0;
        size_t before = done < link->sending.len ? done : link->sending.len;
        buf_consume(&link->sending, before);
        done -= before;
    }
    if (done < FRAME_HEADER) {
        buf_add(&link->sending, header + done, FRAME_HEADER - done);
        done = FRAME_HEADER;
    }
    done -= FRAME_HEADER;
    if (done < frame->len)
        buf_add(&link->sending, (const char *)frame->bytes + done, frame->len - done);
    if (link->sending.len)
        link_write_soon(link, frame_may_wait(frame));
}

/* Bulk that waits goes as far as the credit does. A frame larger than what is left goes when all
 * credit has come back but what the neighbour may keep to itself, so that none waits for ever. */
static bool link_may(const struct link *link, size_t weight)
{
    return link->credit >= weight || link->credit > LINK_WINDOW - LINK_REPORT;
}

static void link_spend(struct link *link, size_t weight)
{
    link->credit -= weight < link->credit ? weight : link->credit;
}

void link_send(struct link *link, const struct frame *frame)
{
    if (link->closing)
        return;
    if (!frame_is_bulk(frame->type)) {
        link_put(link, frame);
        return;
    }
    size_t weight = link_weight(frame);
    if (!link->waiting.len && link_may(link, weight)) {
        link_spend(link, weight);
        link_put(link, frame);
    } else {
        unsigned char header[FRAME_HEADER];
        frame_encode_header(frame, header);
        buf_add(&link->waiting, header, FRAME_HEADER);
        buf_add(&link->waiting, frame->bytes, frame->len);
    }
    if (!link_room(link))
        link->full = true;
}

void link_send_json(struct link *link, enum frame_type type, uint32_t node, uint32_t rank,
                    const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {
        .type = type, .node = node, .rank = rank, .bytes = text, .len = text ? strlen(text) : 0};
    link_send(link, &frame);
    free(text);
}

size_t link_room(const struct link *link)
{
    if (link->waiting.len || link->closing || link->credit <= FRAME_HEADER)
        return 0;
    return link->credit;
}

void link_consumed(struct link *link, size_t bytes)
{
    link->owed += bytes;
    if (link->owed < LINK_REPORT || link->closing)
        return;
    struct frame credit = {.type = FRAME_CREDIT, .rank = (uint32_t)link->owed};
    link->owed = 0;
    link_put(link, &credit);
}

/* ---- receiving ---- */

static void link_fail_bound(struct link *link)
{
    error_set(&link->why, "more than %zu bytes are waiting", link->bound);
    link_fail(link);
}

static void link_answer_ping(struct link *link, const struct frame *frame)
{
    unsigned char bytes[16];
    if (frame->len != 8)
        return;
    if (link->sending.len > link->bound) {
        link_fail_bound(link);
        return;
    }
    memcpy(bytes, frame->bytes, 8);
    frame_put_u64(bytes + 8, clock_monotonic_ns());
    struct frame pong = {.type = FRAME_PONG, .bytes = bytes, .len = 16};
    link_put(link, &pong);
}

/* Of all answers the one with the shortest trip says best what the other clock showed. */
static void link_take_pong(struct link *link, const struct frame *frame)
{
    if (frame->len != 16)
        return;
    uint64_t now = clock_monotonic_ns(), sent = frame_get_u64(frame->bytes);
    uint64_t there = frame_get_u64((const unsigned char *)frame->bytes + 8);
    if (sent > now || now - sent >= link->best_trip)
        return;
    link->best_trip = now - sent;
    link->offset = (int64_t)(there - (sent + link->best_trip / 2));
}

static void link_take_credit(struct link *link, const struct frame *frame)
{
    link->credit += frame->rank;
    if (link->credit > LINK_WINDOW)
        link->credit = LINK_WINDOW;
    struct frame bulk;
    while (frame_decode(&link->waiting, &bulk, NULL) == 1 && link_may(link, link_weight(&bulk))) {
        link_spend(link, link_weight(&bulk));
        link_put(link, &bulk);
        buf_consume(&link->waiting, FRAME_HEADER + bulk.len);
    }
    if (link->full && link_room(link)) {
        link->full = false;
        if (link->ops->room)
            link->ops->room(link, link->arg);
    }
}

static void link_dispatch(struct link *link, const struct frame *frame)
{
    switch (frame->type) {
    case FRAME_PING:
        link_answer_ping(link, frame);
        break;
    case FRAME_PONG:
        link_take_pong(link, frame);
        break;
    case FRAME_CREDIT:
        link_take_credit(link, frame);
        break;
    default:
        link->ops->frame(link, link->arg, frame);
    }
}

/* Returns false while the greeting has not been seen. What cannot be its beginning is noise. */
static bool link_find_greeting(struct link *link)
{
    static const char text[] = LINK_GREETING;
    const size_t len = sizeof(text) - 1;
    const char *bytes = buf_bytes(&link->received);
    const char *at = memmem(bytes, link->received.len, text, len);
    size_t noise = at ? (size_t)(at - bytes) : link->received.len;
    if (!at) {
        /* The end of these bytes may be the beginning of the greeting. */
        size_t most = noise < len ? noise : len - 1;
        while (most && memcmp(bytes + noise - most, text, most) != 0)
            most--;
        noise -= most;
    }
    if (noise && link->ops->noise)
        link->ops->noise(link, link->arg, bytes, noise);
    buf_consume(&link->received, noise + (at ? len : 0));
    if (!at)
        return false;
    link->greeting = false;
    if (link->ops->greeted)
        link->ops->greeted(link, link->arg);
    return true;
}

/* Hand out every whole frame. Returns false when the owner freed or closed the link. */
static bool link_parse(struct link *link)
{
    bool freed = false;
    struct frame frame;
    int more;
    if (link->greeting && !link_find_greeting(link))
        return true;
    while ((more = frame_decode(&link->received, &frame, &link->why)) == 1) {
        link->freed = &freed;
        link_dispatch(link, &frame);
        if (freed)
            return false;
        link->freed = NULL;
        buf_consume(&link->received, FRAME_HEADER + frame.len);
        if (link->closing)
            return false;
    }
    if (more < 0)
        link_fail(link);
    return more == 0;
}

static void link_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct link *link = io->data;
    (void)loop;
    (void)events;
    size_t most = link->flows ? LINK_READ_MORE : LINK_READ;
    ssize_t n = read(link->in, buf_reserve(&link->received, most), most);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        error_set(&link->why, n ? "connection lost: %s" : "connection closed", strerror(errno));
        link_fail(link);
        return;
    }
    link->unheard = 0;
    link->flows = (size_t)n == most;
    buf_added(&link->received, (size_t)n);
    if (!link_parse(link))
        return;
    if (link->received.len > link->bound)
        link_fail_bound(link);
    else if (link->sending.len)
        link_write(link);
}

/* ---- watching ---- */

void link_ping(struct link *link)
{
    unsigned char now[8];
    frame_put_u64(now, clock_monotonic_ns());
    struct frame ping = {.type = FRAME_PING, .bytes = now, .len = 8};
    link_put(link, &ping);
}

static void link_pulse(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct link *link = timer->data;
    (void)loop;
    (void)events;
    if (link->unheard >= LINK_PULSES) {
        /* What came may only not have been read yet: look before judging. */
        struct pollfd look = {.fd = link->in, .events = POLLIN};
        if (poll(&look, 1, 0) != 1) {
            error_set(&link->why, "no sign of life for %.3g s", link->timeout);
            link_fail(link);
            return;
        }
        link->unheard = 0;
    }
    link->unheard++;
    link_ping(link);
}

/* The first ping goes with what is sent next, and its answer with what the neighbour sends next:
 * that says well enough how far the clocks are apart, until the next ping finds both at rest. It is
 * not one of those whose answers are missed. */
void link_watch(struct link *link, double timeout)
{
    link->timeout = timeout;
    link->unheard = 0;
    ev_timer_stop(link->loop, &link->pulse);
    if (isinf(timeout) || link->closing)
        return;
    double pulse = timeout / LINK_PULSES;
    link_ping(link);
    ev_now_update(link->loop);
    ev_timer_set(&link->pulse, fmin(LINK_SETTLED, pulse), pulse);
    ev_timer_start(link->loop, &link->pulse);
}

bool link_is_silent(const struct link *link)
{
    return link->unheard >= LINK_PULSES;
}

/* ---- life ---- */

static void set_nonblocking(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void init_timers(struct link *link)
{
    ev_timer_init(&link->pulse, link_pulse, 0, 0);
    ev_timer_init(&link->late, link_late, 0, 0);
    ev_timer_init(&link->report, link_report, 0, 0);
    link->pulse.data = link->late.data = link->report.data = link;
}

static void init_events(struct link *link)
{
    ev_io_init(&link->reader, link_readable, link->in, EV_READ);
    ev_prepare_init(&link->sender, link_send_all);
    ev_set_priority(&link->sender, EV_MINPRI);
    ev_io_init(&link->writer, link_writable, link->out, EV_WRITE);
    ev_set_priority(&link->writer, EV_MINPRI); /* what is read first may be answered with it */
    link->reader.data = link->sender.data = link->writer.data = link;
}

struct link *link_new(struct ev_loop *loop, int in, int out, const struct link_ops *ops, void *arg)
{
    struct link *link = mem_alloc(sizeof(*link));
    *link = (struct link){.loop = loop,
                          .ops = ops,
                          .arg = arg,
                          .in = in,
                          .out = out,
                          .credit = LINK_WINDOW,
                          .timeout = INFINITY,
                          .best_trip = UINT64_MAX,
                          .bound = SIZE_MAX};
    set_nonblocking(in);
    if (out != in)
        set_nonblocking(out);
    init_events(link);
    init_timers(link);
    ev_io_start(loop, &link->reader);
    return link;
}

void link_free(struct link *link)
{
    if (!link)
        return;
    link_stop(link);
    if (link->freed)
        *link->freed = true;
    close(link->in);
    if (link->out != link->in && link->out >= 0)
        close(link->out);
    buf_free(&link->received);
    buf_free(&link->sending);
    buf_free(&link->waiting);
    error_clear(&link->why);
    free(link);
}

void link_bound(struct link *link, size_t bytes)
{
    link->bound = bytes;
}

void link_expect_greeting(struct link *link)
{
    link->greeting = true;
}

void link_greet(struct link *link)
{
    buf_add_text(&link->sending, LINK_GREETING);
    ev_io_start(link->loop, &link->writer);
}

void link_flush(struct link *link, double timeout)
{
    uint64_t end = clock_monotonic_ns() + (uint64_t)(timeout * 1e9);
    link_write(link);
    while (link->sending.len && !link->closing && clock_monotonic_ns() < end) {
        struct pollfd look = {.fd = link->out, .events = POLLOUT};
        poll(&look, 1, (int)((end - clock_monotonic_ns()) / 1000000) + 1);
        link_write(link);
    }
}

int link_duplicate(const struct link *link)
{
    return fcntl(link->out, F_DUPFD_CLOEXEC, 0);
}

bool link_is_ended(const struct link *link)
{
    struct pollfd look = {.fd = link->in, .events = POLLRDHUP};
    return link->closing || poll(&look, 1, 0) == 1;
}

void link_shutdown(struct link *link)
{
    if (link->shutting)
        return;
    link->shutting = true;
    link_write(link);
}

void link_disown(struct link *link)
{
    if (!link)
        return;
    close(link->in);
    if (link->out != link->in)
        close(link->out);
}

int64_t link_clock_offset(const struct link *link)
{
    return link->offset;
}
