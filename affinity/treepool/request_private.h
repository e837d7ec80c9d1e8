/* What the files of request share, and nobody else. */
#ifndef AFFINITY_TREEPOOL_REQUEST_PRIVATE_H
#define AFFINITY_TREEPOOL_REQUEST_PRIVATE_H

#include "affinity/treepool/request.h"

/* What a type of resource is to a pool. A type that is not here is a locality of a site. */
enum request_kind {
    REQUEST_CONTAINER, /* of nodes: cluster, rack ... */
    REQUEST_NODE,
    REQUEST_LOCALITY,
    REQUEST_CORE,
    REQUEST_GPU,
    REQUEST_MEMORY,
    REQUEST_STORAGE,
    REQUEST_SLOT,
    REQUEST_THREAD,
    REQUEST_OTHER
};

enum request_kind request_kind(const struct shape_vertex *vertex);
/* The known type that was perhaps meant, or NULL. */
const char *request_near(const char *type);

/* A walk through a shape, which fills a request. */
struct request_walk {
    const struct shape *shape;
    struct request *request;
    const struct shape_vertex *slot;
    uint64_t factor;    /* of the counts above the node, or above the slot where no node is */
    uint64_t multitude; /* how many of what is looked at a node has, at least */
    bool below_node;
    struct error *err;
};

/* Keys that no pool honours are refused; -1 then. */
int request_check_keys(const struct request_walk *walk, const struct shape_vertex *vertex);
/* Counts memory and storage in. */
int request_add_memory(struct request_walk *walk, const struct shape_vertex *vertex);
/* The sum of what is in a slot; `list` may be empty. */
int request_fill(struct request_walk *walk, struct request_need *need,
                 const struct shape_vertex *list, size_t count);
void request_need_clear(struct request_need *need);

/* Multiplies *product; refuses what nobody has so many of. */
int request_multiply(const struct request_walk *walk, const struct shape_vertex *vertex,
                     uint64_t *product, uint64_t by);

#endif
