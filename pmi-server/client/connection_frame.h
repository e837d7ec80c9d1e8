/* frame - PMI-2 over a connection: a request built field by field, and one frame in reply. */
#ifndef PMI_SERVER_CLIENT_CONNECTION_FRAME_H
#define PMI_SERVER_CLIENT_CONNECTION_FRAME_H

#include "pmi-server/client/connection.h"
#include "pmi-server/wire/pmi2_frame.h"

#define FRAME_MAX 65536 /* a longer request is not sent */

void frame_begin(struct conn *conn, const char *command);
void frame_text(struct conn *conn, const char *name, const char *value);
void frame_int(struct conn *conn, const char *name, int value);
/* The same with a number behind the name: argv0, argv1, ... */
void frame_text_at(struct conn *conn, const char *name, int number, const char *value);
/* Send what was begun; false when it is too long (it is dropped), or the connection broken. */
bool frame_send(struct conn *conn);
/* The same, and wait for the frame in reply, whose cmd= is to be COMMAND-response. 0, or -1. The
 * reply points into the connection. */
int frame_ask(struct conn *conn, struct pmi2_frame *reply);

#endif
