/*
 * svg_bind - an outline around what ranks are bound to, where they are not bound to it alone.
 * Private to picture/.
 */
#ifndef AFFINITY_PICTURE_SVG_BIND_H
#define AFFINITY_PICTURE_SVG_BIND_H

#include "affinity/picture/svg_machine.h"

void bonds_open(struct machine *machine);
void bonds_close(struct machine *machine);
/* In the innermost box of rows [first, end), whose cores have these areas. */
void bonds_draw(struct buf *out, const struct machine *machine, uint32_t first, uint32_t end,
                const struct area *areas);

#endif
