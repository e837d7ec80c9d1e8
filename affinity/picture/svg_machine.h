/*
 * svg_machine - a node as nested boxes, with its GPUs. Private to picture/.
 *
 * GPUs are chips in a row below what a box holds, with the ranks that have them; the smallest box
 * has them that has all the cores beside them.
 */
#ifndef AFFINITY_PICTURE_SVG_MACHINE_H
#define AFFINITY_PICTURE_SVG_MACHINE_H

#include "affinity/picture/boxes.h"
#include "affinity/picture/cells.h"
#include "affinity/picture/svg_element.h"

#define SVG_MAX_CELLS 6000 /* hardware threads drawn, of all panels together */
#define SVG_MAX_BOXES 400  /* of one machine that is not drawn core by core */

struct bond; /* a set of hardware threads that ranks share; of svg_bind.c */
struct chip; /* a GPU, in the box that it belongs to; of svg_machine.c */

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

void machine_open(struct machine *machine, const struct drawing *drawing, uint32_t node);
void machine_close(struct machine *machine);
struct size machine_size(const struct machine *machine, uint32_t room);
void machine_draw(struct buf *out, const struct machine *machine, uint32_t x, uint32_t y,
                  uint32_t room);

#endif
