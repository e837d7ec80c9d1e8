/* connection_frame - PMI-2 over a connection: a request built field by field, and one frame in
 * reply. */
#ifndef PMI_SERVER_CLIENT_CONNECTION_FRAME_H
#define PMI_SERVER_CLIENT_CONNECTION_FRAME_H

#include "pmi-server/client/connection.h"
#include "pmi-server/wire/pmi2_frame.h"

#define CONNECTION_FRAME_MAX 65536 /* a longer request is not sent */

void connection_frame_begin(struct connection *conn, const char *command);
void connection_frame_text(struct connection *conn, const char *name, const char *value);
void connection_frame_int(struct connection *conn, const char *name, int value);
/* The same with a number behind the name: argv0, argv1, ... */
void connection_frame_text_at(struct connection *conn, const char *name, int number,
                              const char *value);
/* Send what was begun; false when it is too long (it is dropped), or the connection broken. */
bool connection_frame_send(struct connection *conn);
/* The same, and wait for the frame in reply, whose cmd= is to be COMMAND-response. 0, or -1. The
 * reply points into the connection. */
int connection_frame_ask(struct connection *conn, struct pmi2_frame *reply);

#endif
