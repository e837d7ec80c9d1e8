/*
 * text_map - --display map: the ranks on each machine. Private to picture/.
 */
#ifndef AFFINITY_PICTURE_TEXT_MAP_H
#define AFFINITY_PICTURE_TEXT_MAP_H

#include "affinity/picture/node_groups.h"

void draw_map(struct buf *out, const struct drawing *drawing);

#endif
