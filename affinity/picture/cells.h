/*
 * cells - who is on which hardware thread of a node, and what a legend explains. Private to
 * picture/.
 */
#ifndef AFFINITY_PICTURE_CELLS_H
#define AFFINITY_PICTURE_CELLS_H

#include "affinity/picture/node_groups.h"

struct cell { /* a hardware thread of one node */
    bool allocated;
    uint32_t nbound;      /* bound ranks that may run here */
    uint32_t rank;        /* the first of them */
    struct idset *placed; /* ranks whose place it is, or NULL */
    bool unbound;         /* all that are placed here may run anywhere */
};

enum cell_kind {
    CELL_RANKS,
    CELL_SHARED, /* several ranks are bound to it, and none is placed on it */
    CELL_IDLE,
    CELL_ABSENT /* not allocated */
};

/* One for each row of the node's topo. */
struct cell *drawing_seats(const struct drawing *drawing, uint32_t node);
void seats_free(struct cell *seats, uint32_t n);

enum cell_kind cell_kind(const struct cell *seat);

/* What a legend has to explain. */
enum {
    LEGEND_SHARED = 1,
    LEGEND_IDLE = 2,
    LEGEND_ABSENT = 4,
    LEGEND_THREADS = 8,
    LEGEND_UNBOUND = 16,
    LEGEND_L2 = 32,
    LEGEND_RANK = 64,
    LEGEND_BOUND = 128,
    LEGEND_PART = 256 /* of what is bound to: in one box of several */
};
/* Of the rows [first, end) of one core, those to be told one by one: just the first where all are
 * alike. Left out are threads on which nobody stands behind ranks that share the core, and idle
 * ones of a core that has no owner. */
uint32_t seats_told(const struct cell *seats, uint32_t first, uint32_t end);
unsigned seats_signs(const struct cell *seats, uint32_t first, uint32_t end);
/* A thread that only one rank may use: it has the thread even if its place is elsewhere. */
bool cell_is_owned(const struct cell *seat);
/* "3", "3,7", "0,2..398"; "(3)" for a rank that is not bound. Caller frees. */
char *cell_ranks(const struct cell *seat);

/* It may run on all that the node has. */
bool drawing_is_unbound(const struct drawing *drawing, const struct layout_task *task);

#endif
