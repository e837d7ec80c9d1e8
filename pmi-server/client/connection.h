/*
 * connection - one connection to a PMI server, seen from the client: bytes out, and bytes in.
 *
 * A request is built with connection_add() and sent by connection_send(). After an I/O error or an early end
 * requests and replies are out of step: the connection is broken, and every later request fails.
 * Memory that can't be had breaks it as well.
 */
#ifndef PMI_SERVER_CLIENT_CONNECTION_H
#define PMI_SERVER_CLIENT_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
