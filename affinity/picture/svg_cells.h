/*
 * svg_cells - the cores of an innermost box, rows [first, end). Private to picture/.
 */
#ifndef AFFINITY_PICTURE_SVG_CELLS_H
#define AFFINITY_PICTURE_SVG_CELLS_H

#include "affinity/picture/svg_machine.h"

struct size cells_size(const struct machine *machine, uint32_t first, uint32_t end);
void cells_draw(struct buf *out, const struct machine *machine, uint32_t first, uint32_t end,
                uint32_t x, uint32_t y);
uint32_t cells_across(const struct machine *machine, uint32_t first, uint32_t end); /* columns */
struct size cells_one(const struct machine *machine); /* of one core: as large as any needs */
/* How many columns `things` take in at least `rows` rows. Fewer columns are taken where that fills
 * the last row. */
uint32_t spread_evenly(uint32_t things, uint32_t rows);

/* The colour of a rank on a machine: its part's, where there are several. */
uint32_t machine_colour(const struct machine *machine, uint32_t rank);

#endif
