/*
 * text_alloc - --display alloc and topo: what is allocated, and the machines. Private to picture/.
 */
#ifndef AFFINITY_PICTURE_TEXT_ALLOC_H
#define AFFINITY_PICTURE_TEXT_ALLOC_H

#include "affinity/picture/node_groups.h"

void draw_alloc(struct buf *out, const struct drawing *drawing);
void draw_topo(struct buf *out, const struct drawing *drawing);

#endif
