/*
 * conn - one connection to a PMI-1 server, seen from the client: ask, and get one reply.
 *
 * A request is built with conn_add() and sent by conn_ask(). After an I/O error, an early end or a
 * reply that does not fit its request, requests and replies are out of step: the connection is
 * broken and every later conn_ask() fails. Memory that can't be had breaks it as well.
 */
#ifndef PMI_SERVER_CLIENT_CONN_H
#define PMI_SERVER_CLIENT_CONN_H

#include <stdbool.h>
#include <stddef.h>

#include "pmi-server/pmi1/wire.h"

struct conn_bytes {
    char *data;
    size_t len, room;
};

struct conn {
    int fd;
    bool broken;
    struct conn_bytes out, in;
    size_t used;            /* of in: the last reply */
    struct pmi1_line reply; /* the last reply; points into in */
};

void conn_open(struct conn *conn, int fd); /* takes the fd */
void conn_close(struct conn *conn);

void conn_add(struct conn *conn, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Send what was added and wait for the reply to it, whose cmd= is to be `expect`. 0, or -1 when the
 * connection is broken. */
int conn_ask(struct conn *conn, const char *expect);
/* The last reply says success: rc= is 0, or absent (RFC 13, Error Handling). */
bool conn_succeeded(const struct conn *conn);

/* Send without waiting, for a process that is about to exit; keeps what others have built. */
void conn_shout(struct conn *conn, const char *line);
/* Wait until the server has said something or closed, or the time is over. */
void conn_wait(struct conn *conn, int milliseconds);

#endif
