/* Which colour a look, a part or a rank has, for all parts of the SVG picture. */
#include <stdlib.h>

#include "affinity/picture/node_groups.h"
#include "affinity/picture/svg.h"

uint32_t look_colour(const struct drawing *drawing, uint32_t look)
{
    uint32_t node = drawing->looks[look].first, n = drawing->layout->nodes[node].ntasks;
    uint32_t app = drawing_task(drawing, node, 0)->app;
    if (drawing->request->nparts < 2)
        return look < SVG_MAX_PANELS ? look : SVG_GREY;
    for (uint32_t i = 1; i < n; i++)
        if (drawing_task(drawing, node, i)->app != app)
            return SVG_GREY;
    return app;
}

static int compare_ranks(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* By the place among the node's ranks: beside each other they differ, however ranks are dealt out,
 * and nodes alike look alike. */
uint32_t machine_colour(const struct machine *machine, uint32_t rank)
{
    const struct drawing *drawing = machine->drawing;
    if (drawing->request->nparts > 1)
        return drawing->layout->tasks[rank].app;
    const uint32_t *ranks = drawing->ranks + drawing->at[machine->node];
    size_t n = drawing->at[machine->node + 1] - drawing->at[machine->node];
    const uint32_t *found = bsearch(&rank, ranks, n, sizeof(rank), compare_ranks);
    return found ? (uint32_t)(found - ranks) % SVG_COLOURS : SVG_GREY;
}
