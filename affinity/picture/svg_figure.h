/*
 * svg_figure - cores as one figure, with a run of them in each row. Private to picture/.
 */
#ifndef AFFINITY_PICTURE_SVG_FIGURE_H
#define AFFINITY_PICTURE_SVG_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "affinity/picture/svg_element.h"

struct figure {
    struct area *runs; /* the caller's, with room for as many as there are cells */
    size_t n;
};
/* In the order of the cores; `joined`: the one before it was added, too. */
void figure_add(struct figure *figure, struct area cell, bool joined);
void figure_fill(struct buf *out, const struct figure *figure, uint32_t colour);
/* So many pixels around; moves the runs. */
void figure_outline(struct buf *out, struct figure *figure, uint32_t margin, const char *class);

#endif
