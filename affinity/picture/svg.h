/*
 * svg - the parts of picture_svg().
 *
 * A picture is a title with what was asked for, a legend, a strip with a square for each node
 * where nodes are folded and differ, and a panel for each look: a machine as nested boxes.
 */
#ifndef AFFINITY_PICTURE_SVG_H
#define AFFINITY_PICTURE_SVG_H

#include "affinity/picture/boxes.h"
#include "affinity/picture/cells.h"
#include "affinity/picture/svg_element.h"

#define SVG_WIDTH 1200 /* at most, unless one machine needs more */
#define SVG_MARGIN 24
#define SVG_ROOM (SVG_WIDTH - 2 * SVG_MARGIN)
#define SVG_GAP 12
#define SVG_MAX_CELLS 6000     /* hardware threads drawn, of all panels together */
#define SVG_MAX_PANELS 48      /* looks drawn; others are listed */
#define SVG_MAX_LIST 60        /* looks listed; others are counted */
#define SVG_MAX_BOXES 400      /* of one machine that is not drawn core by core */
#define SVG_UNFOLDED_NODES 8   /* so many nodes are drawn each by itself */
#define SVG_UNFOLDED_CELLS 600 /* if they have no more cores than this together */

struct size {
    uint32_t w, h;
};

/* A GPU, in the box that it belongs to. */
struct chip {
    uint32_t id;
    const char *name;    /* NULL: not known */
    bool ours;           /* allocated */
    size_t depth;        /* of the box; 0 is the machine */
    uint32_t row;        /* the first of the box */
    struct idset *ranks; /* that were given it */
};

/* A set of hardware threads that ranks share. */
struct bond {
    struct idset *rows;
    bool split;  /* over several innermost boxes: each has a part of the outline */
    char *title; /* which ranks, and where they may run */
};

/* One node, about to be drawn. */
struct machine {
    const struct drawing *drawing;
    const struct layout_node *source;
    const struct topo *topo;
    struct cell *seats;
    uint32_t node;
    enum topo_level levels[PICTURE_MAX_LEVELS];
    size_t nlevels;
    bool cores; /* drawn core by core; otherwise box by box */
    bool l2;    /* with outlines around cores that share an L2 */
    struct size cell;
    uint32_t caption;   /* lines above the cores of an innermost box */
    uint32_t narrow;    /* least width of such a box inside */
    struct chip *chips; /* the GPUs that are drawn */
    size_t nchips;
    struct bond *bonds; /* that get an outline */
    size_t nbonds;
    uint32_t gap;   /* between cores */
    unsigned signs; /* for the legend */
};

/* svg_machine.c */
void machine_open(struct machine *machine, const struct drawing *drawing, uint32_t node);
void machine_close(struct machine *machine);
struct size machine_size(const struct machine *machine, uint32_t room);
void machine_draw(struct buf *out, const struct machine *machine, uint32_t x, uint32_t y,
                  uint32_t room);

/* svg_machine.c: as chips in a row below what a box holds, with the ranks that have them; the smallest
 * box has them that has all the cores beside them. */
void gpus_open(struct machine *machine, uint32_t node);
void gpus_close(struct machine *machine);
struct size gpus_size(const struct machine *machine, size_t depth, uint32_t first);
void gpus_draw(struct buf *out, const struct machine *machine, size_t depth, uint32_t first,
               uint32_t x, uint32_t y);

/* svg_bind.c: an outline around what ranks are bound to, where they are not bound to it alone; in
 * the innermost box of rows [first, end), whose cores have these areas. */
void bonds_open(struct machine *machine);
void bonds_close(struct machine *machine);
void bonds_draw(struct buf *out, const struct machine *machine, uint32_t first, uint32_t end,
                const struct area *areas);

/* svg_figure.c: cores as one figure, with a run of them in each row. */
struct figure {
    struct area *runs; /* the caller's, with room for as many as there are cells */
    size_t n;
};
/* In the order of the cores; `joined`: the one before it was added, too. */
void figure_add(struct figure *figure, struct area cell, bool joined);
void figure_fill(struct buf *out, const struct figure *figure, uint32_t colour);
/* So many pixels around; moves the runs. */
void figure_outline(struct buf *out, struct figure *figure, uint32_t margin, const char *class);

/* svg_cells.c: the cores of an innermost box, rows [first, end). */
struct size cells_size(const struct machine *machine, uint32_t first, uint32_t end);
void cells_draw(struct buf *out, const struct machine *machine, uint32_t first, uint32_t end,
                uint32_t x, uint32_t y);
uint32_t cells_across(const struct machine *machine, uint32_t first, uint32_t end); /* columns */
struct size cells_one(const struct machine *machine); /* of one core: as large as any needs */
/* Columns for so many things in at least so many rows: all rows full where a few less do that. */
uint32_t spread_evenly(uint32_t things, uint32_t rows);

/* svg.c: title, parts, legend. */
struct size head_draw(struct buf *out, const struct drawing *drawing, uint32_t y);
struct size legend_draw(struct buf *out, const struct drawing *drawing, unsigned signs, uint32_t y);

/* svg_overview.c: a square a node, in the order of the nodes. */
struct size strip_draw(struct buf *out, const struct drawing *drawing, uint32_t y);
bool has_strip(const struct drawing *drawing);

/* svg_colours.c: the colour of a look among others; where there are several parts, of the one that
 * all its ranks are of. Grey where there is no such part, and for looks too many to be drawn. */
uint32_t look_colour(const struct drawing *drawing, uint32_t look);
/* Of a rank on a machine: its part's, where there are several. */
uint32_t machine_colour(const struct machine *machine, uint32_t rank);

#endif
