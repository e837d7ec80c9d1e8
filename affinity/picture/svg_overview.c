/* A square for each node, coloured by its look: where a run has too many nodes to draw each. */
#include "affinity/picture/svg_overview.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/node_groups.h"
#include "base/mem.h"

#define MAX_NODES 20000 /* beyond, squares would be too small to be seen */
#define MAX_NAME 20     /* characters of a host's name at the left */

struct grid {
    uint32_t pitch, columns, rows;
    uint32_t names; /* width at the left */
    uint32_t every; /* so many rows have a name */
};

static struct grid make_grid(const struct drawing *drawing)
{
    static const struct {
        uint32_t most, pitch; /* for up to `most` nodes */
    } steps[] = {{100, 20}, {500, 14}, {2000, 10}, {6000, 7}, {UINT32_MAX, 5}};
    static const uint32_t columns[] = {20, 50, 100, 150, 200, 250};
    uint32_t nnodes = drawing->layout->nnodes, step = 0;
    while (nnodes > steps[step].most)
        step++;
    struct grid grid = {.pitch = steps[step].pitch, .columns = 10};
    for (uint32_t node = 0; node < nnodes; node++) {
        size_t len = strnlen(drawing_node(drawing, node)->host, MAX_NAME);
        uint32_t w = (uint32_t)len * 7 + 12;
        grid.names = w > grid.names ? w : grid.names;
    }
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        if (columns[i] * grid.pitch <= SVG_ROOM - grid.names)
            grid.columns = columns[i];
    grid.rows = (nnodes + grid.columns - 1) / grid.columns;
    grid.every = grid.pitch >= 14 ? 1 : (14 + grid.pitch - 1) / grid.pitch;
    return grid;
}

/* Looks that may have a panel have a path each, the others one for each colour. */
enum { NPATHS = SVG_MAX_PANELS + SVG_COLOURS + 1 };

static uint32_t path_of(const struct drawing *drawing, uint32_t look)
{
    uint32_t colour = look_colour(drawing, look);
    if (look < SVG_MAX_PANELS)
        return look;
    return SVG_MAX_PANELS + (colour == SVG_GREY ? SVG_COLOURS : colour % SVG_COLOURS);
}

/* Neighbours of one colour in a row as one bar. */
static void grid_draw(struct buf *out, const struct drawing *drawing, const struct grid *grid,
                      uint32_t y)
{
    uint32_t nnodes = drawing->layout->nnodes;
    struct buf paths[NPATHS] = {BUF_INIT};
    for (uint32_t node = 0, end; node < nnodes; node = end) {
        uint32_t path = path_of(drawing, drawing_look(drawing, node));
        for (end = node + 1; end < nnodes && end % grid->columns &&
                             path_of(drawing, drawing_look(drawing, end)) == path;)
            end++;
        uint32_t x = SVG_MARGIN + grid->names + node % grid->columns * grid->pitch;
        uint32_t top = y + node / grid->columns * grid->pitch, w = (end - node) * grid->pitch;
        buf_printf(&paths[path], "M%u,%uh%uv%uh-%uz", x, top, w, grid->pitch, w);
    }
    for (uint32_t path = 0; path < NPATHS; path++) {
        if (!paths[path].len)
            continue;
        bool one = path < SVG_MAX_PANELS, grey = path == NPATHS - 1;
        char *title = one ? node_group_hosts(drawing, path, 60) : mem_copy_text("not drawn below");
        uint32_t colour = one    ? look_colour(drawing, path)
                          : grey ? SVG_GREY
                                 : path - SVG_MAX_PANELS;
        svg_begin(out, title);
        buf_printf(out, "<path fill=\"%s\" d=\"%s\"/>", svg_colour_name(colour),
                   buf_text(&paths[path]));
        svg_end(out);
        free(title);
        buf_free(&paths[path]);
    }
}

/* White lines over the bars make squares of them. */
static void lines_draw(struct buf *out, const struct grid *grid, uint32_t y)
{
    uint32_t x = SVG_MARGIN + grid->names, w = grid->columns * grid->pitch;
    uint32_t h = grid->rows * grid->pitch;
    buf_add_text(out, "<path stroke=\"#fff\" d=\"");
    for (uint32_t column = 0; column <= grid->columns; column++)
        buf_printf(out, "M%u,%uv%u", x + column * grid->pitch, y, h);
    for (uint32_t row = 0; row <= grid->rows; row++)
        buf_printf(out, "M%u,%uh%u", x, y + row * grid->pitch, w);
    buf_add_text(out, "\"/>\n");
}

bool has_strip(const struct drawing *drawing)
{
    return drawing->folded && drawing->nlooks > 1 && drawing->layout->nnodes <= MAX_NODES;
}

struct size strip_draw(struct buf *out, const struct drawing *drawing, uint32_t y)
{
    uint32_t nnodes = drawing->layout->nnodes;
    if (!has_strip(drawing))
        return (struct size){0, 0};
    struct grid grid = make_grid(drawing);
    const char *grey = drawing->request->nparts > 1       ? " (grey: several parts)"
                       : drawing->nlooks > SVG_MAX_PANELS ? " (grey: not drawn below)"
                                                          : "";
    char *line = mem_format("The %u nodes in their order, a square each%s:", nnodes, grey);
    uint32_t w = svg_wrapped_width(SVG_TEXT, line, SVG_ROOM);
    uint32_t squares = grid.names + grid.columns * grid.pitch;
    uint32_t h = svg_wrapped(out, SVG_TEXT, SVG_MARGIN, y, SVG_ROOM, line) + 4;
    free(line);
    grid_draw(out, drawing, &grid, y + h);
    lines_draw(out, &grid, y + h);
    for (uint32_t row = 0; row < grid.rows; row += grid.every) {
        char name[MAX_NAME + 1] = {0};
        strncpy(name, drawing_node(drawing, row * grid.columns)->host, MAX_NAME);
        svg_text(out, SVG_SMALL, SVG_MARGIN, y + h + row * grid.pitch + 10, name);
    }
    return (struct size){w > squares ? w : squares, h + grid.rows * grid.pitch + SVG_GAP};
}

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
