/*
 * nonblocking_writer - a descriptor that takes bytes without blocking the loop.
 *
 * Bytes are written straight from the caller's memory while the descriptor takes them; only what
 * it did not take is copied and queued. How that is done depends on what the descriptor is:
 *
 *   regular file, other device   written at once: such a descriptor is always "ready"
 *   pipe, FIFO, terminal         reopened through /proc with O_NONBLOCK: that flag belongs to the
 *                                open file, which is shared with whoever gave it to us, and must
 *                                not change under them. Where it can't be reopened: poll, then
 *                                no more than what a pipe that polls as writable takes whole
 *   socket                       sent with MSG_DONTWAIT
 *
 * The bytes of a put may be more than what the sink's user was given by others (labels): `taken`
 * says how many count. What was written or dropped is counted in proportion in `left`.
 *
 * After an error (`error`, an errno; EPIPE when the reader is gone) everything is dropped, and
 * counts as having left. SIGPIPE must be ignored by the process.
 */
#ifndef LAUNCHER_STDIO_NONBLOCKING_WRITER_H
#define LAUNCHER_STDIO_NONBLOCKING_WRITER_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum nonblocking_writer_way {
    NONBLOCKING_WRITER_PLAIN,
    NONBLOCKING_WRITER_CAREFUL,
    NONBLOCKING_WRITER_SOCKET
};

struct nonblocking_writer {
    struct ev_loop *loop;
    int fd;     /* -1: none now */
    bool owned; /* closed with the sink */
    bool tty;
    bool returns; /* a terminal in raw mode, which wants a carriage return before each newline */
    enum nonblocking_writer_way way;
    size_t chunk; /* the most that is written in one call */
    int error;
    struct buf queue;
    size_t queued; /* how many of the queue's bytes count as taken */
    size_t left;   /* taken bytes that are gone, for the user to read and reset */
    ev_io writable;
    void (*progress)(void *arg); /* the loop wrote some of the queue, or failed to */
    void *arg;
};

void nonblocking_writer_init(struct nonblocking_writer *sink, struct ev_loop *loop,
                             void (*progress)(void *arg), void *arg);

/* Use somebody else's descriptor; it stays open and its flags stay as they are. */
void nonblocking_writer_borrow(struct nonblocking_writer *sink, int fd);
/* Use a descriptor that was opened with O_NONBLOCK; the sink closes it. */
void nonblocking_writer_take(struct nonblocking_writer *sink, int fd);
/* Close an owned descriptor of a sink that has nothing queued. A failed close is an error. */
void nonblocking_writer_close(struct nonblocking_writer *sink);

void nonblocking_writer_put(struct nonblocking_writer *sink, const char *bytes, size_t len,
                            size_t taken);
/* The same, with nothing put before newlines. */
void nonblocking_writer_put_raw(struct nonblocking_writer *sink, const char *bytes, size_t len,
                                size_t taken);
/* Write the queue, waiting as long as it takes. */
void nonblocking_writer_flush(struct nonblocking_writer *sink);
/* What is queued is dropped, and what comes: that is an error. */
void nonblocking_writer_drop(struct nonblocking_writer *sink);
void nonblocking_writer_free(struct nonblocking_writer *sink);

#endif
