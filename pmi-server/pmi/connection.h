/*
 * connection - one task as its server sees it: what dialects are made of.
 *
 * Not for owners of a server: these see server.h.
 */
#ifndef PMI_SERVER_PMI_CONNECTION_H
#define PMI_SERVER_PMI_CONNECTION_H

#include "pmi-server/pmi/barrier.h"
#include "pmi-server/pmi/dialect.h"
#include "pmi-server/pmi/server.h"

struct group_barrier;

struct groups { /* see group_barrier.h */
    struct group_barrier *first, **buckets;
    size_t nbuckets; /* a power of two, or 0 */
    size_t count, bytes;
};

struct pmi_server {
    struct pmi_config config;
    const struct pmi_ops *ops;
    void *arg;
    struct pmi_client **clients;
    size_t nclients;
    struct barrier world;
    struct barrier ring;
    struct groups groups; /* whose barriers are open */
    unsigned char *left;  /* by rank, a bit: it has left, here or elsewhere; NULL: nobody */
    uint32_t last_left;   /* one of them */
    struct pmi_client *resumed, **resumed_end; /* that may go on: what they waited for is over */
    struct kvs *attributes;                    /* of this node; NULL: none yet */
    struct pmi_request *requests, *last;       /* that wait, oldest first */
    struct buf fresh;                          /* what the exchange of a barrier carries */
    bool told_stuck;
    bool let_go; /* somebody may go on who is not being answered now */
};

struct pmi_client {
    struct pmi_server *server;
    void *data;
    size_t index; /* in its server */
    uint32_t rank, appnum;
    enum pmi_state state;
    int subversion; /* that it asked for and got; of PMI-1 */
    const struct dialect *dialect;
    void *memory; /* the dialect's, with malloc */
    struct buf input, output;
    size_t searched; /* input bytes known to hold no end of a request before here */
    uint32_t open;   /* requests that wait for an answer */
    uint32_t asks;   /* those of them that the owner answers */
    int64_t put;     /* bytes that the spaces have grown by what it put */
    bool limited;    /* the owner was told that it has reached a limit */
    uint32_t waits;  /* those of them that what it sends now has to wait for */
    struct pmi_client *resumed_next;
    bool resumed;  /* it is in its server's list */
    bool running;  /* its input is being answered, further up the stack */
    bool has_news; /* output that the owner has not been told of */
    bool broken;   /* it broke the protocol, or has aborted: what it says does not count */
    bool gone;
};

enum waits { WAITS_BARRIER, WAITS_ATTRIBUTE, WAITS_NAME, WAITS_SPAWN, WAITS_VALUE };

/* A request that waits for its answer. */
struct pmi_request {
    struct pmi_request *before, *next;
    struct pmi_client *client;
    enum waits waits;
    bool blocks; /* the client's next requests wait for it */
    char *tag;   /* what the dialect wants in the reply; or NULL */
    struct barrier *barrier;
    struct pmi_request *next_in; /* the barrier */
    uint64_t round;              /* of it */
    enum pmi_name name;
    char *texts[2]; /* the attribute's key; the value's, and the command that asks for it; left and
                     * right of a ring */
};

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
/* What has to wait: `blocks` makes what the client sends next wait for the answer. The tag is copied
 * and comes back with the reply; it may be NULL. */
/* Into the barrier of all; barrier_out answers. */
void connection_enter(struct pmi_client *client, const char *tag, bool blocks);
/* Into the barrier of a group, and the client goes on; NULL, or a few words on why not. The reply's
 * tag is the group's. */
const char *connection_enter_group(struct pmi_client *client, const char *name);
/* Into the ring of all; ring_out answers. */
void connection_enter_ring(struct pmi_client *client, const char *left, const char *right,
                           const char *tag, bool blocks);
/* Attributes of this node, of this group's tasks. */
void connection_put_attribute(struct pmi_client *client, const char *key, const char *value);
const char *connection_get_attribute(struct pmi_client *client, const char *key); /* or NULL */
void connection_await_attribute(struct pmi_client *client, const char *key, const char *tag,
                                bool blocks);
void connection_finalize(struct pmi_client *client); /* it will enter no barrier more */
void connection_abort(struct pmi_client *client, int exitcode, const char *message);

/* What the owner answers; where it can't, the dialect refuses. */
bool connection_can_name(const struct pmi_client *client);
void connection_name(struct pmi_client *client, enum pmi_name name, const char *service,
                     const char *port, const char *tag, bool blocks);
bool connection_can_spawn(const struct pmi_client *client);
void connection_spawn(struct pmi_client *client, const struct spawn_request *spawn, const char *tag,
                      bool blocks);
/* Whether the owner is to be asked for the value of that key, which nobody has put. `command` comes
 * back with the request; copied, like the key. */
bool connection_can_value(const struct pmi_client *client, const char *key);
void connection_value(struct pmi_client *client, const char *key, const char *command,
                      const char *tag, bool blocks);

/* Append "LENGTH HOST RANK,RANK,... " for each node of the group; returns how many that is, 0 when
 * it is not known. */
size_t connection_hosts(const struct pmi_client *client, struct buf *text);

/* ---- for the server ---- */

/* Put it there, in the client's name. */
void connection_keep(struct pmi_client *client, struct kvs *kvs, const char *key, const char *value,
                     void (*put)(struct kvs *, const char *, const char *));
void connection_limited(struct pmi_client *client, const char *what); /* tell the owner, once */

/* Answer what is there and may be answered now. */
int connection_run(struct pmi_client *client, struct error *err);
/* The same for what a client sent ahead, once its server has let it out of a wait, and tell the
 * owner of the replies. One that is running goes on by itself. */
void connection_resume(struct pmi_client *client);
void connection_leave(struct pmi_client *client);
/* All barriers of a server: *at begins as NULL, and is NULL after the last. */
struct barrier *server_next_barrier(const struct pmi_server *server, const struct barrier *at);
void connection_free(struct pmi_client *client);
void server_tell_stuck(struct pmi_server *server); /* if it is, and nobody was told */
void server_resume(struct pmi_server *server);     /* whoever was let out of a wait */
bool server_has_left(const struct pmi_server *server, uint32_t rank);
void server_note_left(struct pmi_server *server, uint32_t rank);
/* A client's index in a barrier, whose member it is. */
size_t barrier_index(const struct barrier *barrier, const struct pmi_client *client);

#endif
