/*
 * client - one task as its server sees it: what dialects are made of.
 *
 * Not for owners of a server: these see server.h.
 */
#ifndef PMI_SERVER_SERVER_CLIENT_H
#define PMI_SERVER_SERVER_CLIENT_H

#include "pmi-server/server/barrier.h"
#include "pmi-server/server/dialect.h"
#include "pmi-server/server/server.h"

struct pmi_server {
    struct pmi_config config;
    const struct pmi_ops *ops;
    void *arg;
    struct pmi_client **clients;
    size_t nclients;
    struct barrier world;
    struct barrier ring;
    struct group *groups;
    uint32_t *left; /* ranks of other nodes that are known to have left */
    size_t nleft;
    struct kvs *attributes;              /* of this node; NULL: none yet */
    struct pmi_request *requests, *last; /* that wait, oldest first */
    struct buf fresh;                    /* what the exchange of a barrier carries */
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
    uint32_t waits;  /* those of them that what it sends now has to wait for */
    bool running;    /* its input is being answered, further up the stack */
    bool has_news;   /* output that the owner has not been told of */
    bool broken;     /* it broke the protocol */
    bool gone;
};

enum waits { WAITS_BARRIER, WAITS_ATTRIBUTE, WAITS_NAME, WAITS_SPAWN };

/* A request that waits for its answer. */
struct pmi_request {
    struct pmi_request *before, *next;
    struct pmi_client *client;
    enum waits waits;
    bool blocks; /* the client's next requests wait for it */
    char *tag;   /* what the dialect wants in the reply; or NULL */
    struct barrier *barrier;
    uint64_t round; /* of the barrier */
    enum pmi_name name;
    char *texts[2]; /* the attribute's key; left and right of a ring */
};

/* ---- for dialects ---- */

void client_reply_bytes(struct pmi_client *client, const char *bytes, size_t len);
void client_reply(struct pmi_client *client, const char *text); /* whole replies, in pieces */
void client_printf(struct pmi_client *client, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct kvs *client_kvs(const struct pmi_client *client);

/* From the next byte on; false when that version is not served here. */
bool client_speak(struct pmi_client *client, int version);
/* What has to wait: `blocks` makes what the client sends next wait for the answer. The tag is copied
 * and comes back with the reply; it may be NULL. */
/* Into the barrier of all; barrier_out answers. */
void client_enter(struct pmi_client *client, const char *tag, bool blocks);
/* Into the barrier of a group, and the client goes on; NULL, or a few words on why not. The reply's
 * tag is the group's. */
const char *client_enter_group(struct pmi_client *client, const char *name);
/* Into the ring of all; ring_out answers. */
void client_enter_ring(struct pmi_client *client, const char *left, const char *right,
                       const char *tag, bool blocks);
/* Attributes of this node, of this group's tasks. */
void client_put_attribute(struct pmi_client *client, const char *key, const char *value);
const char *client_get_attribute(struct pmi_client *client, const char *key); /* or NULL */
void client_await_attribute(struct pmi_client *client, const char *key, const char *tag,
                            bool blocks);
void client_finalize(struct pmi_client *client); /* it will enter no barrier more */
void client_abort(struct pmi_client *client, int exitcode, const char *message);

/* What the owner answers; where it can't, the dialect refuses. */
bool client_can_name(const struct pmi_client *client);
void client_name(struct pmi_client *client, enum pmi_name name, const char *service,
                 const char *port, const char *tag, bool blocks);
bool client_can_spawn(const struct pmi_client *client);
void client_spawn(struct pmi_client *client, const struct pmi_spawn *spawn, const char *tag,
                  bool blocks);

/* Append "LENGTH HOST RANK,RANK,... " for each node of the group; returns how many that is, 0 when
 * it is not known. */
size_t client_hosts(const struct pmi_client *client, struct buf *text);

/* ---- for the server ---- */

/* Answer what is there and may be answered now. */
int client_run(struct pmi_client *client, struct error *err);
/* The same for what a client sent ahead, once its server has let it out of a wait, and tell the
 * owner of the replies. One that is running goes on by itself. */
void client_resume(struct pmi_client *client);
void client_leave(struct pmi_client *client);
/* All barriers of a server: *at begins as NULL, and is NULL after the last. */
struct barrier *server_next_barrier(const struct pmi_server *server, const struct barrier *at);
void client_free(struct pmi_client *client);
void server_tell_stuck(struct pmi_server *server); /* if it is, and nobody was told */
void server_resume(struct pmi_server *server);     /* whoever was let out of a wait */

#endif
