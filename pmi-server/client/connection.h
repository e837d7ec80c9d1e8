/*
 * conn - one connection to a PMI server, seen from the client: bytes out, and bytes in.
 *
 * A request is built with conn_add() and sent by conn_send(). After an I/O error or an early end
 * requests and replies are out of step: the connection is broken, and every later request fails.
 * Memory that can't be had breaks it as well.
 */
#ifndef PMI_SERVER_CLIENT_CONNECTION_H
#define PMI_SERVER_CLIENT_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

struct conn_bytes {
    char *data;
    size_t len, room;
};

struct conn {
    int fd;
    bool broken;
    struct conn_bytes out, in;
    size_t used; /* of in: the last reply */
};

void conn_open(struct conn *conn, int fd); /* takes the fd */
void conn_close(struct conn *conn);

void conn_add(struct conn *conn, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void conn_add_bytes(struct conn *conn, const char *bytes, size_t len);

/* Send what was added. These two give false, and a broken connection, where they fail. */
bool conn_send(struct conn *conn);
/* More bytes into conn->in; they may move. */
bool conn_receive(struct conn *conn);
/* Forget the last reply: conn->in begins with what is behind it. */
void conn_next(struct conn *conn);

/* Send without waiting, for a process that is about to exit; keeps what others have built. */
void conn_shout(struct conn *conn, const char *bytes, size_t len);
/* Wait until the server has said something or closed, or the time is over. */
void conn_wait(struct conn *conn, int milliseconds);

#endif
