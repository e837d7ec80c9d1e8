/* Prints the lines of several writers in one place, and keeps what has to wait. */
#include "launcher/stdio/line_writer.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "launcher/stdio/line_buffer.h"
#include "launcher/stdio/line_label.h"

/* Less than anybody's credit: a writer of so little was silent by its own choice. */
#define DEST_SMALL 4096
/* No line is worth keeping more than this of others waiting: a longer one is torn. */
#define DEST_HELD_MAX (4u << 20)
/* A timer that is later than this was held up together with the whole process. */
#define DEST_LATE 0.5

struct dest_waiter {
    uint64_t writer;
    struct buf bytes;
    bool unfinished;
    double heard;
    TAILQ_ENTRY(dest_waiter) next;
};

/* Both trees are by writer, which what is in them begins with. */
static int writer_order(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Whether it was there. */
static bool long_remove(struct line_writer *dest, uint64_t writer)
{
    uint64_t **node = tfind(&writer, &dest->in_long, writer_order);
    if (!node)
        return false;
    uint64_t *removed = *node;
    tdelete(removed, &dest->in_long, writer_order);
    free(removed);
    return true;
}

static struct dest_waiter *waiter_find(const struct line_writer *dest, uint64_t writer)
{
    struct dest_waiter **node = tfind(&writer, &dest->by_writer, writer_order);
    return node ? *node : NULL;
}

static void waiter_free(struct line_writer *dest, struct dest_waiter *waiter)
{
    tdelete(waiter, &dest->by_writer, writer_order);
    TAILQ_REMOVE(&dest->waiting, waiter, next);
    dest->held -= waiter->bytes.len;
    buf_free(&waiter->bytes);
    free(waiter);
}

/* Whether what this one writes must not be in the line of the last one. A line too long to be sent
 * in one piece is data rather than text: its bytes stay as they are. */
static bool dest_parts(const struct line_writer *dest, uint64_t writer)
{
    if (dest->labels || writer == LINE_WRITER_TPRUN || dest->last == LINE_WRITER_TPRUN)
        return dest->last != writer;
    return !dest->raw && !dest->is_long && dest->last >> 1 != writer >> 1;
}

static bool is_of_terminal(const struct line_writer *dest, uint64_t writer)
{
    return dest->pty && writer == LINE_WRITER_PTY;
}

static void dest_print(struct line_writer *dest, uint64_t writer, const char *bytes, size_t len,
                       bool unfinished)
{
    if (!len || dest->sink.error) {
        dest->sink.left += len;
        return;
    }
    bool as_it_is = is_of_terminal(dest, writer);
    if (dest->open && !as_it_is && dest_parts(dest, writer)) {
        nonblocking_writer_put(&dest->sink, "\n", 1, 0);
        dest->open = false;
    }
    bool inside = dest->open && (!dest->returned || bytes[0] == '\n');
    if (as_it_is)
        nonblocking_writer_put_raw(&dest->sink, bytes, len, len);
    else if (dest->labels && writer != LINE_WRITER_TPRUN)
        line_label_put(&dest->sink, dest->labels, (uint32_t)(writer >> 1), bytes, len, inside);
    else
        nonblocking_writer_put(&dest->sink, bytes, len, len);
    bool in_long = long_remove(dest, writer);
    dest->open = bytes[len - 1] != '\n';
    /* More bytes than any line that is sent whole has, here or in what came before. */
    dest->is_long =
        dest->open && (unfinished || (in_long && !memchr(bytes, '\n', len)) ||
                       (len > LINE_BUFFER_MAX &&
                        !memrchr(bytes + len - LINE_BUFFER_MAX - 1, '\n', LINE_BUFFER_MAX + 1)));
    if (dest->is_long) {
        uint64_t *added = mem_alloc(sizeof(*added));
        *added = writer;
        tsearch(added, &dest->in_long, writer_order);
    }
    dest->returned = bytes[len - 1] == '\r';
    dest->last = writer;
}

/* Let the timer run exactly while somebody waits. */
static void dest_set_timer(struct line_writer *dest)
{
    struct ev_loop *loop = dest->sink.loop;
    ev_timer_stop(loop, &dest->timer);
    if (TAILQ_EMPTY(&dest->waiting))
        return;
    double now = clock_monotonic_seconds(), rest = dest->heard + dest->patience - now;
    rest = rest > 0 ? rest : 0;
    dest->due = now + rest;
    ev_timer_set(&dest->timer, rest, 0);
    ev_timer_start(loop, &dest->timer);
}

/* The floor is free: print what waits, until one of them is inside a line. */
static void dest_go_on(struct line_writer *dest)
{
    struct dest_waiter *waiter;
    dest->floor = LINE_WRITER_NOBODY;
    while (dest->floor == LINE_WRITER_NOBODY && (waiter = TAILQ_FIRST(&dest->waiting))) {
        dest_print(dest, waiter->writer, buf_bytes(&waiter->bytes), waiter->bytes.len,
                   waiter->unfinished);
        if (waiter->unfinished) {
            bool small = waiter->bytes.len <= DEST_SMALL;
            dest->floor = waiter->writer;
            dest->heard = small ? waiter->heard : clock_monotonic_seconds();
        }
        waiter_free(dest, waiter);
    }
    dest_set_timer(dest);
}

static void dest_impatient(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct line_writer *dest = timer->data;
    (void)loop, (void)events;
    if (dest->sink.queue.len || clock_monotonic_seconds() > dest->due + DEST_LATE)
        dest->heard = clock_monotonic_seconds();
    if (dest->heard + dest->patience > clock_monotonic_seconds()) {
        dest_set_timer(dest);
        return;
    }
    dest_go_on(dest);
    dest->changed(dest->arg, dest);
}

static void dest_progress(void *arg)
{
    struct line_writer *dest = arg;
    if (!dest->sink.queue.len)
        dest->heard = clock_monotonic_seconds();
    dest->changed(dest->arg, dest);
}

void line_writer_init(struct line_writer *dest, struct ev_loop *loop, unsigned labels, bool raw,
                      double patience, void (*changed)(void *arg, struct line_writer *dest),
                      void *arg)
{
    *dest = (struct line_writer){
        .labels = labels, .raw = raw, .last = LINE_WRITER_NOBODY, .floor = LINE_WRITER_NOBODY};
    dest->changed = changed;
    dest->arg = arg;
    nonblocking_writer_init(&dest->sink, loop, dest_progress, dest);
    ev_timer_init(&dest->timer, dest_impatient, 0, 0);
    dest->timer.data = dest;
    dest->patience = patience;
    TAILQ_INIT(&dest->waiting);
}

static void dest_wait(struct line_writer *dest, uint64_t writer, const char *bytes, size_t len,
                      bool unfinished)
{
    bool first = TAILQ_EMPTY(&dest->waiting);
    struct dest_waiter *waiter = waiter_find(dest, writer);
    if (!waiter) {
        waiter = mem_alloc(sizeof(*waiter));
        waiter->writer = writer;
        tsearch(waiter, &dest->by_writer, writer_order);
        TAILQ_INSERT_TAIL(&dest->waiting, waiter, next);
    }
    buf_add(&waiter->bytes, bytes, len);
    dest->held += len;
    waiter->unfinished = unfinished;
    waiter->heard = clock_monotonic_seconds();
    if (dest->held > DEST_HELD_MAX)
        dest_go_on(dest);
    else if (first)
        dest_set_timer(dest);
}

void line_writer_put(struct line_writer *dest, uint64_t writer, const char *bytes, size_t len,
                     bool unfinished)
{
    if (is_of_terminal(dest, writer)) {
        dest_print(dest, writer, bytes, len, false);
        return;
    }
    if (dest->floor != LINE_WRITER_NOBODY && dest->floor != writer) {
        dest_wait(dest, writer, bytes, len, unfinished);
        return;
    }
    dest_print(dest, writer, bytes, len, unfinished);
    dest->heard = clock_monotonic_seconds();
    if (unfinished)
        dest->floor = writer;
    else if (dest->floor == writer)
        dest_go_on(dest);
}

void line_writer_end(struct line_writer *dest, uint64_t writer)
{
    if (dest->floor == writer) {
        dest_go_on(dest);
        return;
    }
    struct dest_waiter *waiter = waiter_find(dest, writer);
    if (waiter)
        waiter->unfinished = false;
    else
        long_remove(dest, writer);
}

void line_writer_end_all(struct line_writer *dest)
{
    while (!TAILQ_EMPTY(&dest->waiting))
        dest_go_on(dest);
    dest->floor = LINE_WRITER_NOBODY;
}

void line_writer_typed(struct line_writer *dest)
{
    dest->open = dest->open && (!dest->sink.tty || dest->sink.queue.len);
}

bool line_writer_busy(const struct line_writer *dest)
{
    return dest->sink.queue.len || !TAILQ_EMPTY(&dest->waiting);
}

void line_writer_flush(struct line_writer *dest)
{
    line_writer_end_all(dest);
    nonblocking_writer_flush(&dest->sink);
}

void line_writer_drop(struct line_writer *dest)
{
    nonblocking_writer_drop(&dest->sink);
    line_writer_end_all(dest);
}

void line_writer_free(struct line_writer *dest)
{
    struct dest_waiter *waiter;
    while ((waiter = TAILQ_FIRST(&dest->waiting)))
        waiter_free(dest, waiter);
    tdestroy(dest->in_long, free);
    ev_timer_stop(dest->sink.loop, &dest->timer);
    nonblocking_writer_free(&dest->sink);
}
