/*
 * picture - a layout as text and as SVG.
 */
#ifndef AFFINITY_PICTURE_PICTURE_H
#define AFFINITY_PICTURE_PICTURE_H

#include "affinity/layout/layout.h"

/* A text picture (caller frees). `what` is a set of LAYOUT_SHOW_*; nodes of equal layout are
 * folded; OS and logical numbers are named as such. */
char *picture_text(const struct layout *layout, const struct layout_request *request,
                   unsigned what);

/* The same as an SVG document (caller frees): at most 2 MB, whatever the size of the run; more than
 * a few nodes of equal layout are folded, and what is too much to be seen is listed or counted. */
char *picture_svg(const struct layout *layout, const struct layout_request *request);

#endif
