/*
 * client - one task as its PMI-1 server sees it, and its part in the barrier.
 *
 * Not for owners of a server: these see server.h.
 */
#ifndef PMI_SERVER_PMI1_CLIENT_H
#define PMI_SERVER_PMI1_CLIENT_H

#include "pmi-server/pmi1/barrier.h"
#include "pmi-server/pmi1/server.h"
#include "pmi-server/pmi1/spawn.h"

struct pmi1_server {
    struct pmi1_config config;
    const struct pmi1_ops *ops;
    void *arg;
    struct pmi1_client **clients;
    size_t nclients;
    struct pmi1_barrier barrier;
    struct buf fresh; /* what the exchange of this barrier carries */
    bool told_stuck;
};

struct pmi1_client {
    struct pmi1_server *server;
    void *data;
    uint32_t rank, appnum;
    enum pmi1_state state;
    struct buf input, output;
    size_t searched; /* input bytes known to hold no newline before here */
    size_t index;    /* of the next pair for getbyidx_next */
    struct pmi1_spawn spawn;
    bool waiting;  /* in a barrier */
    bool running;  /* its input is being answered, further up the stack */
    bool has_news; /* output that the owner has not been told of */
    bool broken;   /* it broke the protocol */
    bool gone;
};

void pmi1_client_reply_bytes(struct pmi1_client *client, const char *bytes, size_t len);
void pmi1_client_reply(struct pmi1_client *client, const char *text); /* whole lines, in pieces */
void pmi1_client_enter(struct pmi1_client *client);                   /* the barrier */
/* For good: it will enter no barrier more. */
void pmi1_client_leave(struct pmi1_client *client);
void pmi1_server_tell_stuck(struct pmi1_server *server); /* if it is, and nobody was told */

#endif
