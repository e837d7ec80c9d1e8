/*
 * node_class - a node as the engine sees it: of its topology, what was allocated.
 *
 * Nodes with the same topo and equal cores are of one class, so that work and memory grow with the
 * number of classes. A row here is a hardware thread of an allocated core, and allowed; rows[]
 * leads back to the topo's table. Every level has an object for every row: one that is absent
 * coincides with its neighbour (b, N, s with the node, a cache with the next smaller one, the core
 * with the thread). Numbers of objects are dense and never fall along the rows. Levels with the
 * same objects share one array.
 */
#ifndef AFFINITY_LAYOUT_NODE_CLASS_H
#define AFFINITY_LAYOUT_NODE_CLASS_H

#include "affinity/layout/layout.h"
#include "base/search.h"

struct rows { /* [first, end) */
    uint32_t first, end;
};

struct node_class_gpu {
    uint32_t id;
    struct rows rows[TOPO_NLEVELS]; /* of the object that holds all threads next to it; none where
                                       there is no such object, or nothing of it is allocated */
};

struct node_class {
    uint32_t example; /* the first node of this class: index into the request's nodes */
    const struct topo *topo;
    const struct idset *cores;
    uint32_t nrows;
    uint32_t *rows;
    uint32_t *object[TOPO_NLEVELS];
    uint32_t count[TOPO_NLEVELS];
    struct node_class_gpu *gpus; /* that may be given out; ascending by id */
    uint32_t ngpus;
    struct idset *busy; /* logical cores that earlier tasks occupy; may be NULL */
};

/* What of a node counts when GPUs are given out; nodes that differ in it are of two classes. NULL
 * is an empty set. */
struct node_class_gpus {
    const struct idset *gpus, *busy;
};

struct node_classes {
    struct node_class *classes;
    uint32_t nclasses;
    uint32_t *of; /* [nodes of the request] */
};

/* `gpus` is by node of the request, or NULL where they do not matter. 0, or -1 with a sentence that
 * names the first host whose cores or GPUs its topology lacks. */
int node_classes_make(struct node_classes *classes, const struct layout_request *request,
                      const struct node_class_gpus *gpus, struct error *err);
void node_classes_free(struct node_classes *classes); /* a zeroed one is fine */

uint32_t node_class_core(const struct node_class *class, uint32_t row); /* logical core of a row */

struct node_class_row_search {
    const uint32_t *rows;
    uint32_t topo_row;
};

static inline bool node_class_row_before(const void *arg, size_t row)
{
    const struct node_class_row_search *search = arg;
    return search->rows[row] < search->topo_row;
}

/* The first row at or after this row of the topo; nrows if all are before it. */
static inline uint32_t node_class_row(const struct node_class *class, uint32_t topo_row)
{
    if (class->nrows == class->topo->npus)
        return topo_row;
    return (uint32_t)search_first(class->nrows, node_class_row_before,
                                  &(struct node_class_row_search){class->rows, topo_row});
}

/* Sets of the rows [first, end); caller frees. */
struct idset *node_class_cpus(const struct node_class *class, uint32_t first, uint32_t end);
struct idset *node_class_cores(const struct node_class *class, uint32_t first, uint32_t end);

/* Number the objects of a level along n rows, a new one wherever tag[] changes: into object[level],
 * which is another level's array where that has the same objects. Returns how many. */
uint32_t node_class_number(uint32_t **object, enum topo_level level, const uint64_t *tag,
                           uint32_t n);
void node_class_free_levels(uint32_t **array); /* by level, some of them shared */

#endif
