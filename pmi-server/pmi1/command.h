/*
 * command - the requests of PMI-1 as a table, and what server.c and it share.
 *
 * Not for owners of a server: these see server.h.
 */
#ifndef PMI_SERVER_PMI1_COMMAND_H
#define PMI_SERVER_PMI1_COMMAND_H

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

/* One line without its newline, to be written over. -1 with a sentence on a protocol error. */
int pmi1_command_line(struct pmi1_client *client, char *text, size_t len, struct error *err);

/* Of server.c */
void pmi1_client_reply(struct pmi1_client *client, const char *line);
void pmi1_client_enter(struct pmi1_client *client); /* the barrier */
void pmi1_client_leave(struct pmi1_client *client); /* for good: it will enter no barrier more */
void pmi1_server_tell_stuck(struct pmi1_server *server);

#endif
