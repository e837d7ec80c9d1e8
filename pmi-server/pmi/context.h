/*
 * context - what the files of one PMI server share: the server, its clients, and what these wait
 * for.
 *
 * Not for owners of a server: these see server.h.
 */
#ifndef PMI_SERVER_PMI_CONTEXT_H
#define PMI_SERVER_PMI_CONTEXT_H

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
    struct left_ranks left;
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

#endif
