/*
 * inside - what the rooms of the hub know of each other; owners see hub.h.
 */
#ifndef PMI_SERVER_HUB_INSIDE_H
#define PMI_SERVER_HUB_INSIDE_H

#include "pmi-server/hub/hub.h"
#include "pmi-server/hub/talk.h"

struct job { /* a struct hub_job that is kept */
    struct job *next;
    char *name;
    struct taskmap *map;
    uint32_t *node; /* [map->nnodes] */
};

struct hub {
    const struct hub_ops *ops;
    void *arg;
    struct job *jobs;
};

/* A question that was asked; the room that cannot answer it at once keeps a copy. */
struct asked {
    uint32_t node;  /* whose host asked */
    uint64_t token; /* its number for it; 0: no answer is wanted */
};

struct job *hub_job(const struct hub *hub, const char *name); /* NULL: there is none */
/* Where a rank is, as tell() calls it; UINT32_MAX: there is no such rank. */
uint32_t hub_node(const struct job *job, uint32_t rank);

/* `rest` may be NULL. */
void hub_answer(struct hub *hub, const struct asked *asked, enum hub_status status,
                const struct buf *rest);
void hub_order(struct hub *hub, uint32_t node, enum hub_order kind, const struct buf *rest);

#endif
