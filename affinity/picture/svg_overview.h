/*
 * svg_overview - a square for each node, in the order of the nodes. Private to picture/.
 */
#ifndef AFFINITY_PICTURE_SVG_OVERVIEW_H
#define AFFINITY_PICTURE_SVG_OVERVIEW_H

#include "affinity/picture/node_groups.h"
#include "affinity/picture/svg_element.h"

#define SVG_MAX_PANELS 48 /* looks drawn; others are listed */

struct size strip_draw(struct buf *out, const struct drawing *drawing, uint32_t y);
bool has_strip(const struct drawing *drawing);

/* The colour of a look among others; where there are several parts, of the one that all its ranks
 * are of. Grey where there is no such part, and for looks too many to be drawn. */
uint32_t look_colour(const struct drawing *drawing, uint32_t look);

#endif
