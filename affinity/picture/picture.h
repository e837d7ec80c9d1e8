/*
 * picture - a layout as text.
 */
#ifndef AFFINITY_PICTURE_PICTURE_H
#define AFFINITY_PICTURE_PICTURE_H

#include "affinity/layout/layout.h"

/* A text picture (caller frees). `what` is a set of LAYOUT_SHOW_*; nodes of equal layout are
 * folded; OS and logical numbers are named as such. */
char *picture_text(const struct layout *layout, const struct layout_request *request,
                   unsigned what);

#endif
