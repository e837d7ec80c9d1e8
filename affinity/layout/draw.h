/*
 * draw - the parts of layout_draw().
 */
#ifndef AFFINITY_LAYOUT_DRAW_H
#define AFFINITY_LAYOUT_DRAW_H

#include "affinity/layout/layout.h"
#include "affinity/resource/hostlist.h"
#include "base/buf.h"

#define DRAW_WIDTH 96

/* Nodes that look the same but for their names and ranks. */
struct look {
    uint32_t first; /* index into the drawing's nodes */
    uint32_t last;  /* the same, of the latest member */
    uint64_t hash;
    uint32_t count;
    bool shifted; /* each member's ranks are the one's before, plus `shift` */
    int64_t shift;
    struct hostlist *others; /* all but the first */
};

struct drawing {
    struct buf out;
    const struct layout *layout;
    const struct layout_request *request;
    uint32_t *ranks; /* by node, ascending: node i has ranks[at[i]] to ranks[at[i + 1]] */
    uint32_t *at;
    struct look *looks;
    uint32_t nlooks;
};

const struct layout_node *drawing_node(const struct drawing *drawing, uint32_t node);
/* The i-th task of a node, by local rank. */
const struct layout_task *drawing_task(const struct drawing *drawing, uint32_t node, uint32_t i);
uint32_t drawing_rank(const struct drawing *drawing, uint32_t node, uint32_t i);

/* draw_looks.c */
void drawing_fold(struct drawing *drawing);
void drawing_draw_others(struct drawing *drawing, const struct look *look);
void drawing_free(struct drawing *drawing); /* all but `out` */

/* draw_bind.c */
void draw_bind(struct drawing *drawing);

/* One machine as boxes, a cell a core: `cells` has a text for each row of the topo that is the
 * first of its core (the others are not looked at). Lines begin `indent` blanks in. */
void draw_boxes(struct buf *out, const struct topo *topo, char *const *cells, uint32_t indent);

/* "2 sockets, 8 NUMA domains, 32 cores, 64 hardware threads" */
void draw_summary(struct buf *out, const struct topo *topo);

/* "socket 0, numa 1-2": the objects that hold these cores, of levels with more than one. */
void draw_where(struct buf *out, const struct topo *topo, const struct idset *cores);

/* A line of left-aligned columns; the last one is not padded. */
void draw_columns(struct buf *out, char *const *columns, const size_t *widths, size_t n);

#endif
