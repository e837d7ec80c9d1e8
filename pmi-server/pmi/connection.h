/*
 * connection - one task's connection to a PMI server: what it sends, what is said to it, and what
 * it may send.
 */
#ifndef PMI_SERVER_PMI_CONNECTION_H
#define PMI_SERVER_PMI_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pmi-server/protocol/task_states.h"

#define PMI_MAX_REQUEST 65536 /* a longer line or frame is a protocol error */
/* Of one client: */
#define PMI_OUTPUT_MAX (256u << 10) /* bytes of answers, beside the one that exceeds them */
#define PMI_PUTS_MAX (16u << 20)    /* bytes of what it has put, with what keeps each pair */
#define PMI_ASKS_MAX 64             /* names, spawns and values that wait for the owner's answer */
#define PMI_OPEN_MAX 4096 /* requests that wait for anything; one more is a protocol error */

struct kvs;
struct pmi_client;
struct pmi_server;

/* ---- for owners of a server ---- */

struct pmi_client *pmi_connection_new(struct pmi_server *server, uint32_t rank, uint32_t appnum,
                                      void *owner_data);
uint32_t pmi_connection_rank(const struct pmi_client *client);
void *pmi_connection_data(const struct pmi_client *client);
enum pmi_state pmi_connection_state(const struct pmi_client *client);
struct buf *pmi_connection_output(struct pmi_client *client); /* the owner consumes it */

/* Bytes from the client, cut anywhere. -1 with a sentence ("unknown PMI-1 command: \"cmd=x\"", ...)
 * on a protocol error; the owner then ends the program and names rank and host. What comes after
 * a protocol error is dropped. */
int pmi_connection_input(struct pmi_client *client, const void *bytes, size_t len,
                         struct error *err);
/* False while too much of its output has not been taken: nothing should be read from it then. */
bool pmi_connection_wants_input(const struct pmi_client *client);
/* Its output was taken: what it has sent is answered. True when there is output now, of which
 * ops->output does not tell. Not from inside an op but output. */
bool pmi_connection_go_on(struct pmi_client *client);

/* This one may be in barriers of its own with ranks of other nodes, which have to know of it when
 * it has left, whatever others did: number and rank, to pmi_server_missing() everywhere. */
bool pmi_connection_in_groups(const struct pmi_client *client);
uint64_t pmi_connection_barriers(const struct pmi_client *client); /* of all, that it entered */

/* ---- for dialects ---- */

void connection_reply_bytes(struct pmi_client *client, const char *bytes, size_t len);
void connection_reply(struct pmi_client *client, const char *text); /* whole replies, in pieces */
void connection_printf(struct pmi_client *client, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct kvs *connection_kvs(const struct pmi_client *client);
/* Into that space. */
void connection_put(struct pmi_client *client, const char *key, const char *value);
/* False, and the owner was told: it has put too much; too many of its names and spawns wait. */
bool connection_may_put(struct pmi_client *client);
bool connection_may_ask(struct pmi_client *client);

/* From the next byte on; false when that version is not served here. */
bool connection_speak(struct pmi_client *client, int version);
void connection_abort(struct pmi_client *client, int exitcode, const char *message);

/* ---- for the server ---- */

/* Put it there, in the client's name. */
void connection_keep(struct pmi_client *client, struct kvs *kvs, const char *key, const char *value,
                     void (*put)(struct kvs *, const char *, const char *));

/* Answer what is there and may be answered now, and tell the owner of the replies. One that is
 * running goes on by itself. */
void connection_resume(struct pmi_client *client);
/* The same for all of a server's that were let out of a wait. */
void connections_resume(struct pmi_server *server);
void connection_free(struct pmi_client *client);

#endif
