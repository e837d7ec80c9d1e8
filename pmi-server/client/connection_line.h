/* connection_line - PMI-1 over a connection: a request that connection_add() built, and one line in reply. */
#ifndef PMI_SERVER_CLIENT_CONNECTION_LINE_H
#define PMI_SERVER_CLIENT_CONNECTION_LINE_H

#include "pmi-server/client/connection.h"
#include "pmi-server/wire/pmi1_line.h"

#define LINES_LINE_MAX 65536 /* a request with a longer line is not sent, */
#define LINES_MAX (1u << 20) /* nor a longer one of several lines */

/* Send what was added and wait for the reply to it, whose cmd= is to be `expect`. 0, or -1 when the
 * connection is broken, or the request too long: it is dropped, and the reply has no fields. The
 * reply points into the connection. */
int connection_line_ask(struct connection *conn, const char *expect, struct pmi1_line *reply);
/* The reply says success: rc= is 0, or absent (RFC 13, Error Handling). */
bool connection_line_succeeded(const struct pmi1_line *reply);

#endif
