#include "pmi-server/client/conn.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_REPLY (1u << 20) /* no server's reply is near this */

void conn_open(struct conn *conn, int fd)
{
    *conn = (struct conn){.fd = fd};
}

void conn_close(struct conn *conn)
{
    if (conn->fd >= 0)
        close(conn->fd);
    free(conn->out.data);
    free(conn->in.data);
    *conn = (struct conn){.fd = -1, .broken = true};
}

static bool bytes_room(struct conn_bytes *bytes, size_t len)
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

void conn_add(struct conn *conn, const char *fmt, ...)
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

/* A launcher that has gone must not raise SIGPIPE in somebody's program. PMI_FD is a socket with
 * every launcher known; write() serves the rest. */
static ssize_t fd_send(int fd, const char *bytes, size_t len)
{
    ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
    return sent < 0 && errno == ENOTSOCK ? write(fd, bytes, len) : sent;
}

static void fd_wait(int fd, short events)
{
    struct pollfd poller = {.fd = fd, .events = events};
    poll(&poller, 1, -1);
}

static bool fd_send_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t sent = fd_send(fd, bytes, len);
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

static bool conn_read(struct conn *conn)
{
    struct conn_bytes *in = &conn->in;
    if (in->len > MAX_REPLY || !bytes_room(in, 2048))
        return false;
    for (;;) {
        ssize_t got = read(conn->fd, in->data + in->len, in->room - in->len);
        if (got > 0) {
            in->len += (size_t)got;
            return true;
        }
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            fd_wait(conn->fd, POLLIN);
        else if (got == 0 || errno != EINTR)
            return false;
    }
}

/* The next line into conn->reply. */
static bool conn_read_line(struct conn *conn)
{
    struct conn_bytes *in = &conn->in;
    if (conn->used) {
        memmove(in->data, in->data + conn->used, in->len - conn->used);
        in->len -= conn->used;
        conn->used = 0;
    }
    size_t searched = 0;
    for (;;) {
        char *end = NULL;
        if (in->len > searched)
            end = memchr(in->data + searched, '\n', in->len - searched);
        if (end) {
            conn->used = (size_t)(end - in->data) + 1;
            return pmi1_line_parse(&conn->reply, in->data, conn->used - 1);
        }
        searched = in->len;
        if (!conn_read(conn))
            return false;
    }
}

static bool conn_is_reply(const struct conn *conn, const char *expect)
{
    const char *name = pmi1_line_value(&conn->reply, "cmd");
    return name && !strcmp(name, expect);
}

int conn_ask(struct conn *conn, const char *expect)
{
    bool ok = !conn->broken && fd_send_all(conn->fd, conn->out.data, conn->out.len) &&
              conn_read_line(conn) && conn_is_reply(conn, expect);
    conn->out.len = 0;
    conn->broken = !ok;
    return ok ? 0 : -1;
}

bool conn_succeeded(const struct conn *conn)
{
    int rc;
    if (!pmi1_line_field(&conn->reply, "rc"))
        return true;
    return pmi1_line_int(&conn->reply, "rc", &rc) && rc == 0;
}

void conn_shout(struct conn *conn, const char *line)
{
    if (!conn->broken)
        fd_send_all(conn->fd, line, strlen(line));
}

void conn_wait(struct conn *conn, int milliseconds)
{
    struct pollfd poller = {.fd = conn->fd, .events = POLLIN};
    if (!conn->broken)
        poll(&poller, 1, milliseconds);
}
