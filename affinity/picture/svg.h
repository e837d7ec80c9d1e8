/*
 * svg - a layout as an SVG document.
 *
 * A picture is a title with what was asked for, a legend, a strip with a square for each node
 * where nodes are folded and differ, and a panel for each look: a machine as nested boxes.
 */
#ifndef AFFINITY_PICTURE_SVG_H
#define AFFINITY_PICTURE_SVG_H

#include "affinity/layout/layout.h"

/* The document: at most 2 MB, whatever the size of the run; more than a few nodes of equal layout
 * are folded, and what is too much to be seen is listed or counted. Caller frees. */
char *picture_svg(const struct layout *layout, const struct layout_request *request);

#endif
