/*
 * text_bind - --display bind: a line for each binding. Private to picture/.
 */
#ifndef AFFINITY_PICTURE_TEXT_BIND_H
#define AFFINITY_PICTURE_TEXT_BIND_H

#include "affinity/picture/node_groups.h"

void draw_bind(struct buf *out, const struct drawing *drawing);

#endif
