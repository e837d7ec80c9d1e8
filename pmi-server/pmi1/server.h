/*
 * server - the PMI-1 server of one node's tasks (RFC 13, wire protocol).
 *
 * Bytes in, bytes out: whoever owns the sockets feeds what tasks wrote and sends what stands in
 * each client's output. The commands are a table of name and handler. A client that breaks the
 * protocol is an error of that client, told to the owner, never a crash nor a hang of others.
 *
 * Requests are answered in the order they came in. What a client sends while it waits in a barrier
 * is kept and answered once it is out; only cmd=abort is heard at once. An owner that stops
 * reading from a client while that client's output is long bounds the memory of both.
 *
 * A barrier can complete only while every local client may still enter it. One that has left
 * (finalized, or gone: even one that never spoke) is missing from every barrier that it has not
 * entered. When others wait in such a barrier the server is stuck, and the owner hears of it in
 * one of three ways: pmi1_client_gone() returns true, ops->stuck is called (a later barrier_in, or
 * a finalize beside an open barrier), or pmi1_server_missing() returns true. A program that never
 * uses PMI is never stuck.
 *
 * Only PMI 1.1 is spoken. An init for another version is answered with rc=-1 and leaves the client
 * PMI1_SILENT, so that it may try again.
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
    uint32_t size;     /* tasks of the group, all nodes */
    int universe_size; /* or -1: unknown */
    uint32_t nlocal;   /* clients that take part in a barrier here */
    struct kvs *kvs;   /* borrowed; name and presets (PMI_process_mapping) made by the owner */
};

struct pmi1_ops {
    /* Every local client is in the barrier: `bytes` is what the exchange has to carry. The owner
     * answers later (or from inside) with pmi1_server_barrier_out(). Barriers count from 0. */
    void (*barrier)(void *arg, uint64_t sequence, const void *bytes, size_t len);
    /* A task asked for the end of the program. */
    void (*abort)(void *arg, struct pmi1_client *client, int exitcode, const char *message);
    /* There is something in this client's output. */
    void (*output)(void *arg, struct pmi1_client *client);
    /* The program hangs: `waiting` waits for `missing`, who has left. May be NULL; called from
     * pmi1_client_input() and pmi1_server_barrier_out(), once in a server's life. */
    void (*stuck)(void *arg, uint32_t missing, uint32_t waiting);
};

/* Whether a client can hold this PMI_process_mapping: MPICH's reads values into a buffer of what
 * its 1024-byte line leaves beside the longest name and key, and crashes on a longer one; an empty
 * one makes its MPI_Init fail. The owner presets only a mapping that fits: an absent key is
 * answered with rc=-1, and clients then find out by other means. */
bool pmi1_mapping_fits(const char *mapping);

/* config is copied, ops is borrowed. From inside an op, pmi1_server_barrier_out() and the queries
 * may be called, and pmi1_client_gone() from output alone; pmi1_client_input() and freeing the
 * server have to wait. */
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

/* Bytes from the client, cut anywhere. -1 with a sentence ("unknown PMI-1 command: \"cmd=x\"", ...)
 * on a protocol error; the owner then ends the program and names rank and host. What comes after
 * a protocol error is dropped. */
int pmi1_client_input(struct pmi1_client *client, const void *bytes, size_t len, struct error *err);

/* The exchange is done: merge, and let everybody out. -1 with a sentence when no barrier is being
 * exchanged, when the bytes are malformed (nobody is let out then), or when what a client had sent
 * ahead is a protocol error (the sentence names the rank). */
int pmi1_server_barrier_out(struct pmi1_server *server, const void *bytes, size_t len,
                            struct error *err);

/* The client is gone (its process ended, and what it had written has been fed: its last words may
 * be a finalize). Returns true when others wait for ever in a barrier that it never entered: it has
 * not finalized and a barrier is open. Its output is dropped. */
bool pmi1_client_gone(struct pmi1_client *client);
/* True while some client waits in a barrier; *waiting is one that does. */
bool pmi1_server_in_barrier(const struct pmi1_server *server, uint32_t *waiting);

/* True when the server is stuck: `waiting` waits in a barrier that `missing` will never enter. */
bool pmi1_server_stuck(const struct pmi1_server *server, uint32_t *missing, uint32_t *waiting);
/* True when some rank has left: the first barrier that can't complete any more. This is what other
 * nodes have to know; an agent sends it to them when it becomes true or the number falls. */
bool pmi1_server_left(const struct pmi1_server *server, uint32_t *rank, uint64_t *sequence);
/* A rank of another node will never enter barrier `sequence`, nor a later one. Returns true when
 * a client here waits in such a barrier; ops->stuck tells when one begins to later. Numbers make
 * this safe against the order of messages: who finalizes after barrier n is missing from n + 1
 * on, and no trouble to a node that has yet to hear that n is done. */
bool pmi1_server_missing(struct pmi1_server *server, uint32_t rank, uint64_t sequence);

#endif
