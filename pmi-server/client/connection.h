/*
 * connection - one connection to a PMI server, seen from the client: bytes out, and bytes in.
 *
 * A request is built with connection_add() and sent by connection_send(). After an I/O error or an
 * early end requests and replies are out of step: the connection is broken, and every later request
 * fails. Memory that can't be had breaks it as well.
 */
#ifndef PMI_SERVER_CLIENT_CONNECTION_H
#define PMI_SERVER_CLIENT_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "pmi-server/wire/pmi1_line.h"

struct connection_bytes {
    char *data;
    size_t len, room;
};

struct connection {
    int fd;
    bool broken;
    struct connection_bytes out, in;
    size_t used; /* of in: the last reply */
};

void connection_open(struct connection *conn, int fd); /* takes the fd */
void connection_close(struct connection *conn);

void connection_add(struct connection *conn, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void connection_add_bytes(struct connection *conn, const char *bytes, size_t len);

/* Send what was added. These two give false, and a broken connection, where they fail. */
bool connection_send(struct connection *conn);
/* More bytes into conn->in; they may move. */
bool connection_receive(struct connection *conn);
/* Forget the last reply: conn->in begins with what is behind it. */
void connection_next(struct connection *conn);

/* Send without waiting, for a process that is about to exit; keeps what others have built. */
void connection_shout(struct connection *conn, const char *bytes, size_t len);
/* Wait until the server has said something or closed, or the time is over. */
void connection_wait(struct connection *conn, int milliseconds);

/* ---- PMI-1: a request that connection_add() built, and one line in reply ---- */

#define LINES_LINE_MAX 65536 /* a request with a longer line is not sent, */
#define LINES_MAX (1u << 20) /* nor a longer one of several lines */

/* Send what was added and wait for the reply to it, whose cmd= is to be `expect`. 0, or -1 when the
 * connection is broken, or the request too long: it is dropped, and the reply has no fields. The
 * reply points into the connection. */
int connection_line_ask(struct connection *conn, const char *expect, struct pmi1_line *reply);
/* The reply says success: rc= is 0, or absent (RFC 13, Error Handling). */
bool connection_line_succeeded(const struct pmi1_line *reply);

#endif
