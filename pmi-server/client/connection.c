/* Bytes to and from a PMI server, for the client libraries: no memory of the launcher's is used, and no exit. */
#include "pmi-server/client/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_REPLY (1u << 20) /* no server's reply is near this */

void connection_open(struct connection *conn, int fd)
{
    *conn = (struct connection){.fd = fd};
}

void connection_close(struct connection *conn)
{
    if (conn->fd >= 0)
        close(conn->fd);
    free(conn->out.data);
    free(conn->in.data);
    *conn = (struct connection){.fd = -1, .broken = true};
}

static bool bytes_room(struct connection_bytes *bytes, size_t len)
{
    if (bytes->room - bytes->len >= len)
        return true;
    size_t room = bytes->room ? bytes->room : 2048;
    while (room - bytes->len < len)
        room *= 2;
    char *data = realloc(bytes->data, room);
    if (!data)
        return false;
    bytes->data = data;
    bytes->room = room;
    return true;
}

void connection_add(struct connection *conn, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0 || !bytes_room(&conn->out, (size_t)len + 1)) {
        conn->broken = true;
        return;
    }
    va_start(args, fmt);
    vsnprintf(conn->out.data + conn->out.len, (size_t)len + 1, fmt, args);
    va_end(args);
    conn->out.len += (size_t)len;
}

void connection_add_bytes(struct connection *conn, const char *bytes, size_t len)
{
    if (!len)
        return;
    if (!bytes_room(&conn->out, len)) {
        conn->broken = true;
        return;
    }
    memcpy(conn->out.data + conn->out.len, bytes, len);
    conn->out.len += len;
}

static void fd_wait(int fd, short events)
{
    struct pollfd poller = {.fd = fd, .events = events};
    poll(&poller, 1, -1);
}

/* A launcher that has gone must not raise SIGPIPE in somebody's program. PMI_FD is a socket with
 * every launcher known; write() serves the rest. */
static bool fd_send_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
        if (sent < 0 && errno == ENOTSOCK)
            sent = write(fd, bytes, len);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            fd_wait(fd, POLLOUT);
        else if (sent < 0 && errno != EINTR)
            return false;
        if (sent > 0) {
            bytes += sent;
            len -= (size_t)sent;
        }
    }
    return true;
}

bool connection_send(struct connection *conn)
{
    if (!conn->broken && !fd_send_all(conn->fd, conn->out.data, conn->out.len))
        conn->broken = true;
    conn->out.len = 0;
    return !conn->broken;
}

bool connection_receive(struct connection *conn)
{
    struct connection_bytes *in = &conn->in;
    bool good = !conn->broken && in->len <= MAX_REPLY && bytes_room(in, 2048);
    while (good) {
        ssize_t got = read(conn->fd, in->data + in->len, in->room - in->len);
        if (got > 0) {
            in->len += (size_t)got;
            return true;
        }
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            fd_wait(conn->fd, POLLIN);
        else
            good = got < 0 && errno == EINTR;
    }
    conn->broken = true;
    return false;
}

void connection_next(struct connection *conn)
{
    struct connection_bytes *in = &conn->in;
    if (conn->used)
        memmove(in->data, in->data + conn->used, in->len - conn->used);
    in->len -= conn->used;
    conn->used = 0;
}

void connection_shout(struct connection *conn, const char *bytes, size_t len)
{
    if (!conn->broken)
        fd_send_all(conn->fd, bytes, len);
}

void connection_wait(struct connection *conn, int milliseconds)
{
    struct pollfd poller = {.fd = conn->fd, .events = POLLIN};
    if (!conn->broken)
        poll(&poller, 1, milliseconds);
}

/* ---- PMI-1: lines ---- */

/* The next line, taken apart. */
static bool line_read(struct connection *conn, struct pmi1_line *reply)
{
    struct connection_bytes *in = &conn->in;
    connection_next(conn);
    for (size_t searched = 0;;) {
        char *end = NULL;
        if (in->len > searched)
            end = memchr(in->data + searched, '\n', in->len - searched);
        if (end) {
            conn->used = (size_t)(end - in->data) + 1;
            return pmi1_line_parse(reply, in->data, conn->used - 1);
        }
        searched = in->len;
        if (!connection_receive(conn))
            return false;
    }
}

/* A request of one or several lines that no server takes for an error by its length alone. */
static bool lines_fit(const struct connection_bytes *out)
{
    if (out->len > LINES_MAX)
        return false;
    for (size_t at = 0; at < out->len;) {
        const char *line = out->data + at, *end = memchr(line, '\n', out->len - at);
        size_t len = end ? (size_t)(end - line) + 1 : out->len - at;
        if (len > LINES_LINE_MAX)
            return false;
        at += len;
    }
    return true;
}

int connection_line_ask(struct connection *conn, const char *expect, struct pmi1_line *reply)
{
    const char *name = NULL;
    if (!lines_fit(&conn->out)) {
        conn->out.len = 0;
        reply->count = 0;
        return -1;
    }
    if (connection_send(conn) && line_read(conn, reply))
        name = pmi1_line_value(reply, "cmd");
    conn->broken = !name || strcmp(name, expect) != 0;
    return conn->broken ? -1 : 0;
}

bool connection_line_succeeded(const struct pmi1_line *reply)
{
    int rc;
    if (!pmi1_line_field(reply, "rc"))
        return true;
    return pmi1_line_int(reply, "rc", &rc) && rc == 0;
}
