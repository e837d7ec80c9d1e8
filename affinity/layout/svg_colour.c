#include "affinity/layout/svg.h"

uint32_t look_colour(const struct drawing *drawing, uint32_t look)
{
    uint32_t node = drawing->looks[look].first, n = drawing->layout->nodes[node].ntasks;
    uint32_t app = drawing_task(drawing, node, 0)->app;
    if (drawing->request->nparts < 2)
        return look < SVG_MAX_PANELS ? look : PEN_GREY;
    for (uint32_t i = 1; i < n; i++)
        if (drawing_task(drawing, node, i)->app != app)
            return PEN_GREY;
    return app;
}

uint32_t machine_colour(const struct machine *machine, uint32_t rank)
{
    const struct drawing *drawing = machine->drawing;
    return drawing->request->nparts > 1 ? drawing->layout->tasks[rank].app : machine->colour;
}
