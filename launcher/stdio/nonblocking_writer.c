/* Writes what a descriptor takes now, and queues the rest for the loop. */
#include "launcher/stdio/nonblocking_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A terminal polls as writable when there is room for about this much. */
#define SINK_TTY_CHUNK 256
/* An empty queue that grew beyond this is given back. */
#define SINK_KEEP (256 * 1024)

static ssize_t way_careful(int fd, const void *bytes, size_t len)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    int count = poll(&ready, 1, 0);
    if (count == 0)
        errno = EAGAIN;
    return count > 0 ? write(fd, bytes, len) : -1;
}

static ssize_t way_socket(int fd, const void *bytes, size_t len)
{
    return send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static ssize_t (*const sink_ways[])(int fd, const void *bytes, size_t len) = {
    [NONBLOCKING_WRITER_PLAIN] = write,
    [NONBLOCKING_WRITER_CAREFUL] = way_careful,
    [NONBLOCKING_WRITER_SOCKET] = way_socket,
};

static void sink_fail(struct nonblocking_writer *sink, int error)
{
    sink->error = error;
    sink->left += sink->queued;
    sink->queued = 0;
    buf_free(&sink->queue);
    ev_io_stop(sink->loop, &sink->writable);
}

/* How many bytes the descriptor takes now. */
static size_t sink_try(struct nonblocking_writer *sink, const char *bytes, size_t len)
{
    size_t done = 0;
    while (done < len) {
        size_t count = len - done < sink->chunk ? len - done : sink->chunk;
        ssize_t wrote = sink_ways[sink->way](sink->fd, bytes + done, count);
        if (wrote >= 0) {
            done += (size_t)wrote;
        } else if (errno != EINTR) {
            if (errno != EAGAIN)
                sink_fail(sink, errno);
            break;
        }
    }
    return done;
}

/* Write of the queue what the descriptor takes now. */
static void sink_push(struct nonblocking_writer *sink)
{
    size_t len = sink->queue.len;
    size_t done = sink_try(sink, buf_bytes(&sink->queue), len);
    if (sink->error)
        return;
    size_t gone = done == len ? sink->queued : sink->queued * done / len;
    sink->left += gone;
    sink->queued -= gone;
    buf_consume(&sink->queue, done);
    if (sink->queue.len)
        return;
    ev_io_stop(sink->loop, &sink->writable);
    if (sink->queue.room > SINK_KEEP)
        buf_free(&sink->queue);
}

static void sink_ready(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct nonblocking_writer *sink = watcher->data;
    (void)loop;
    (void)events;
    sink_push(sink);
    sink->progress(sink->arg);
}

void nonblocking_writer_init(struct nonblocking_writer *sink, struct ev_loop *loop,
                             void (*progress)(void *arg), void *arg)
{
    *sink = (struct nonblocking_writer){.loop = loop, .fd = -1, .progress = progress, .arg = arg};
    ev_io_init(&sink->writable, sink_ready, -1, EV_WRITE);
    sink->writable.data = sink;
}

static void sink_use(struct nonblocking_writer *sink, int fd, bool owned,
                     enum nonblocking_writer_way way, size_t chunk)
{
    sink->fd = fd;
    sink->owned = owned;
    sink->way = way;
    sink->chunk = chunk;
    ev_io_set(&sink->writable, fd, EV_WRITE);
}

void nonblocking_writer_borrow(struct nonblocking_writer *sink, int fd)
{
    struct stat st;
    bool known = fstat(fd, &st) == 0;
    sink->tty = isatty(fd);
    if (known && S_ISSOCK(st.st_mode)) {
        sink_use(sink, fd, false, NONBLOCKING_WRITER_SOCKET, SSIZE_MAX);
        return;
    }
    if (!known || !(sink->tty || S_ISFIFO(st.st_mode))) {
        sink_use(sink, fd, false, NONBLOCKING_WRITER_PLAIN, SSIZE_MAX);
        return;
    }
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int mine = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (mine >= 0)
        sink_use(sink, mine, true, NONBLOCKING_WRITER_PLAIN, SSIZE_MAX);
    else
        sink_use(sink, fd, false, NONBLOCKING_WRITER_CAREFUL,
                 sink->tty ? SINK_TTY_CHUNK : PIPE_BUF);
}

void nonblocking_writer_take(struct nonblocking_writer *sink, int fd)
{
    sink->tty = isatty(fd);
    sink_use(sink, fd, true, NONBLOCKING_WRITER_PLAIN, SSIZE_MAX);
}

void nonblocking_writer_close(struct nonblocking_writer *sink)
{
    ev_io_stop(sink->loop, &sink->writable);
    /* Linux closes the descriptor even where close() is interrupted. */
    if (sink->owned && sink->fd >= 0 && close(sink->fd) < 0 && errno != EINTR && !sink->error)
        sink_fail(sink, errno);
    sink->fd = -1;
}

void nonblocking_writer_put_raw(struct nonblocking_writer *sink, const char *bytes, size_t len,
                                size_t taken)
{
    size_t done = sink->error || sink->queue.len ? 0 : sink_try(sink, bytes, len);
    if (sink->error || done == len) {
        sink->left += taken;
        return;
    }
    size_t gone = taken * done / len;
    sink->left += gone;
    sink->queued += taken - gone;
    buf_add(&sink->queue, bytes + done, len - done);
    ev_io_start(sink->loop, &sink->writable);
}

static void put_returns(struct nonblocking_writer *sink, const char *bytes, size_t len,
                        size_t taken)
{
    struct buf lines = BUF_INIT;
    for (const char *at = bytes, *end = bytes + len; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        buf_add(&lines, at, (size_t)((newline ? newline : end) - at));
        if (newline)
            buf_add(&lines, "\r\n", 2);
        at = newline ? newline + 1 : end;
    }
    nonblocking_writer_put_raw(sink, buf_bytes(&lines), lines.len, taken);
    buf_free(&lines);
}

void nonblocking_writer_put(struct nonblocking_writer *sink, const char *bytes, size_t len,
                            size_t taken)
{
    if (sink->returns)
        put_returns(sink, bytes, len, taken);
    else
        nonblocking_writer_put_raw(sink, bytes, len, taken);
}

void nonblocking_writer_flush(struct nonblocking_writer *sink)
{
    while (sink->queue.len) {
        struct pollfd ready = {.fd = sink->fd, .events = POLLOUT};
        if (poll(&ready, 1, -1) > 0)
            sink_push(sink);
    }
}

void nonblocking_writer_drop(struct nonblocking_writer *sink)
{
    nonblocking_writer_close(sink);
    sink_fail(sink, EPIPE);
}

void nonblocking_writer_free(struct nonblocking_writer *sink)
{
    nonblocking_writer_close(sink);
    buf_free(&sink->queue);
}
