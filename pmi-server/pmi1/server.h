/*
 * server - the PMI-1 server of one node's tasks (RFC 13, wire protocol).
 *
 * Bytes in, bytes out: whoever owns the sockets feeds what tasks wrote and sends what stands in
 * each client's output. The commands are a table of name and handler. A client that breaks the
 * protocol is an error of that client, told to the owner, never a crash nor a hang of others.
 */
#ifndef PMI_SERVER_PMI1_SERVER_H
#define PMI_SERVER_PMI1_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pmi-server/kvs/kvs.h"

/* What get_maxes answers, and what is enforced (PMI clients clamp; these are everybody's). */
#define PMI1_KVSNAME_MAX 256
#define PMI1_KEYLEN_MAX 64
#define PMI1_VALLEN_MAX 1024
#define PMI1_MAX_LINE 65536 /* a longer line is a protocol error */

struct pmi1_client;
struct pmi1_server;

struct pmi1_config {
    uint32_t size;          /* tasks of the group, all nodes */
    int universe_size;      /* or -1: unknown */
    uint32_t nlocal;        /* clients that take part in a barrier here */
    struct kvs *kvs;        /* borrowed; name and presets (PMI_process_mapping) made by the owner */
};

struct pmi1_ops {
    /* Every local client is in the barrier: `bytes` is what the exchange has to carry. The owner
     * answers later (or from inside) with pmi1_server_barrier_out(). Barriers count from 0. */
    void (*barrier)(void *arg, uint64_t sequence, const void *bytes, size_t len);
    /* A task asked for the end of the program. */
    void (*abort)(void *arg, struct pmi1_client *client, int exitcode, const char *message);
    /* There is something in this client's output. */
    void (*output)(void *arg, struct pmi1_client *client);
};

struct pmi1_server *pmi1_server_new(const struct pmi1_config *config, const struct pmi1_ops *ops,
                                    void *arg);
void pmi1_server_free(struct pmi1_server *server); /* clients too */

enum pmi1_state { PMI1_SILENT, PMI1_RUNNING, PMI1_FINALIZED };

struct pmi1_client *pmi1_client_new(struct pmi1_server *server, uint32_t rank, uint32_t appnum,
                                    void *owner_data);
uint32_t pmi1_client_rank(const struct pmi1_client *client);
void *pmi1_client_data(const struct pmi1_client *client);
enum pmi1_state pmi1_client_state(const struct pmi1_client *client);
struct buf *pmi1_client_output(struct pmi1_client *client); /* the owner consumes it */

/* Bytes from the client. -1 with a sentence ("unknown command \"cmd=x\"", ...) on a protocol
 * error; the owner then ends the program and names rank and host. */
int pmi1_client_input(struct pmi1_client *client, const void *bytes, size_t len,
                      struct error *err);

/* The exchange is done: merge, and let everybody out. */
int pmi1_server_barrier_out(struct pmi1_server *server, const void *bytes, size_t len,
                            struct error *err);

/* The client is gone (its process ended). Returns true when others wait, or will have to wait for
 * ever, in a barrier that it never entered: it has not finalized and a barrier is open. */
bool pmi1_client_gone(struct pmi1_client *client);
/* True while some client waits in a barrier; *waiting is one that does. */
bool pmi1_server_in_barrier(const struct pmi1_server *server, uint32_t *waiting);

#endif
