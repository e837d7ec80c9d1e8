/*
 * server - the PMI server of one node's tasks of one group (a program, or what it spawned at once).
 *
 * A group has a key-value space, ranks and barriers of its own, so it has a server of its own. A
 * client's first line decides what it speaks: it is text as RFC 13 has it for all dialects, and
 * after `cmd=init pmi_version=2` the same descriptor goes on in PMI-2. The owner says which dialects
 * are served. Programs may mix them: a PMI-2 fence and a PMI-1 barrier are one thing.
 *
 * Bytes in, bytes out: whoever owns the sockets feeds what tasks wrote and sends what stands in
 * each client's output. A client that breaks the protocol is an error of that client, told to the
 * owner, never a crash nor a hang of others.
 *
 * Requests are answered in the order they came in, but for those a dialect marks as a thread's
 * own. What a client sends while its request waits is kept and answered after it; only an abort is
 * heard at once. While PMI_OUTPUT_MAX bytes of answers have not been taken no further request is
 * answered; an owner that reads from a client only while pmi_connection_wants_input(), and says
 * pmi_connection_go_on() when it has taken output, bounds the memory of both.
 *
 * What one client can make grow has a limit: see PMI_..._MAX. At most of them it is told an error,
 * and the owner is told once (ops->limited).
 *
 * A barrier can complete only while every member may still enter it. One that has left (finalized,
 * or gone: even one that never spoke) is missing from every barrier that it has not entered. When
 * others wait in such a barrier the server is stuck, and the owner hears of it in one of three
 * ways: pmi_server_connection_gone() returns true, ops->stuck is called (a later barrier, or a
 * finalize beside an open one), or pmi_server_missing() returns true. A program that never uses PMI
 * is never stuck.
 */
#ifndef PMI_SERVER_PMI_SERVER_H
#define PMI_SERVER_PMI_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pmi-server/exchange/exchange.h"
#include "pmi-server/pmi/connection.h"
#include "pmi-server/pmi/kvs.h"
#include "pmi-server/pmi/pmi_request.h"
#include "pmi-server/protocol/spawn_request.h"

/* What clients are told, and what is enforced (PMI-1 clients clamp; these are everybody's). */
#define PMI_KVSNAME_MAX 256
#define PMI_KEYLEN_MAX 64
#define PMI_VALLEN_MAX 1024
/* The id of a round of the exchange among some ranks: this bit, and a hash of the ranks. */
#define PMI_GROUP_ROUNDS EXCHANGE_AGAIN
#define PMI_GROUP_HASH ((1ull << 61) - 1)
struct pmi_server;
struct dialect;

struct pmi_config {
    uint32_t size;       /* tasks of the group, all nodes */
    int universe_size;   /* or -1: unknown */
    uint32_t nlocal;     /* clients that take part in a barrier here */
    struct kvs *kvs;     /* borrowed; name and presets (PMI_process_mapping) made by the owner */
    const char *spawner; /* job id (a kvs name) of who spawned the group; NULL: nobody. Borrowed */
    const struct dialect *const *dialects; /* see dialects.h */
};

struct pmi_ops {
    /* Every local member is in a barrier: these bytes are what the exchange has to carry between
     * the group's nodes. The owner answers
     * later (or from inside) with pmi_server_exchanged(). */
    void (*exchange)(void *arg, uint64_t id, uint32_t nnodes, const void *bytes, size_t len);
    /* A task asked for the end of the program; once, as nothing that it says later counts. */
    void (*abort)(void *arg, struct pmi_client *client, int exitcode, const char *message);
    /* There is something in this client's output. */
    void (*output)(void *arg, struct pmi_client *client);
    /* What this client had sent ahead of a wait's end is a protocol error. */
    void (*broken)(void *arg, struct pmi_client *client, const struct error *err);
    /* This client has reached a limit, which is that sentence's: what is more is refused. May be
     * NULL; called once for a client. */
    void (*limited)(void *arg, struct pmi_client *client, const char *what);
    /* The program hangs: `waiting` waits for `missing`, who has left. May be NULL; called from
     * pmi_connection_input() and pmi_server_exchanged(), once in a server's life. */
    void (*stuck)(void *arg, uint32_t missing, uint32_t waiting);
    /* A service is published with a port, or taken back, or looked up (port is NULL for these);
     * pmi_request_named() answers. NULL: the server refuses. */
    void (*name)(void *arg, struct pmi_request *request, enum pmi_name name, const char *service,
                 const char *port);
    /* Start this; pmi_request_spawned() answers. What is asked for goes with the call. NULL: the
     * server refuses. */
    void (*spawn)(void *arg, struct pmi_request *request, const struct spawn_request *spawn);
    /* A client asks for a key that begins with PMI_ and that nobody has put: launchers answer some
     * of these. pmi_request_value() answers. NULL: there are none. */
    void (*value)(void *arg, struct pmi_request *request, const char *key);
    /* The node of a rank, of which groups' barriers are made (NULL: all are here), and a node's
     * host name, for clients that ask where all others are (NULL: they are not told). */
    uint32_t (*node_of)(void *arg, uint32_t rank);
    const char *(*host_of)(void *arg, uint32_t node);
};

/* Whether a client can hold this PMI_process_mapping: MPICH's reads values into a buffer of what
 * its 1024-byte line leaves beside the longest name and key, and crashes on a longer one; an empty
 * one makes its MPI_Init fail. The owner presets only a mapping that fits: clients to whom the key
 * is absent find out by other means. */
bool pmi_mapping_fits(const char *mapping);

/* config is copied, ops is borrowed. From inside an op, pmi_server_exchanged(), answers and the
 * queries may be called, and pmi_server_connection_gone() from output alone; pmi_connection_input()
 * and freeing the server have to wait. */
struct pmi_server *pmi_server_new(const struct pmi_config *config, const struct pmi_ops *ops,
                                  void *arg);
void pmi_server_free(struct pmi_server *server); /* clients too */

/* The exchange is done, this node's or one of other nodes: merge, and let everybody out. -1 with a
 * sentence when no such barrier is being exchanged, or when the bytes are malformed; nobody is let
 * out then. */
int pmi_server_exchanged(struct pmi_server *server, uint64_t id, const void *bytes, size_t len,
                         struct error *err);

/* True while some client waits in a barrier; *waiting is one that does. */
bool pmi_server_in_barrier(const struct pmi_server *server, uint32_t *waiting);

/* True when the server is stuck: `waiting` waits in a barrier that `missing` will never enter. */
bool pmi_server_stuck(const struct pmi_server *server, uint32_t *missing, uint32_t *waiting);
/* The client is gone (its process ended, and what it had written has been fed: its last words may
 * be a finalize). Returns true when others wait for ever in a barrier that it never entered: it has
 * not finalized and a barrier is open. Its output is dropped. */
bool pmi_server_connection_gone(struct pmi_client *client);
/* True when some rank has left: the first barrier that can't complete any more. This is what other
 * nodes have to know; an agent sends it to them when it becomes true or the number falls. */
bool pmi_server_left(const struct pmi_server *server, uint32_t *rank, uint64_t *sequence);
/* A rank of another node will never enter barrier `sequence`, nor a later one. Returns true when
 * a client here waits in such a barrier; ops->stuck tells when one begins to later. Numbers make
 * this safe against the order of messages: who finalizes after barrier n is missing from n + 1
 * on, and no trouble to a node that has yet to hear that n is done. */
bool pmi_server_missing(struct pmi_server *server, uint32_t rank, uint64_t sequence);

#endif
