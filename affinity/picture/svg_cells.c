/* The cores of an innermost box: one cell each, in even rows. */
#include "affinity/picture/svg_cells.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/boxes.h"
#include "affinity/picture/cells.h"
#include "affinity/picture/node_groups.h"
#include "affinity/picture/svg_bind.h"
#include "affinity/picture/svg_figure.h"
#include "affinity/sets/short_text.h"
#include "affinity/topology/topo.h"
#include "base/mem.h"
#include "base/text.h"

#define ROW_GAP 3 /* between rows more than between cores, */
#define L2_GAP 4  /* and more where the L2 cache is another */
#define THREAD_HEIGHT 18

static uint32_t seat_colour(const struct machine *machine, const struct cell *seat)
{
    bool placed = seat->placed && !cell_is_owned(seat);
    return machine_colour(machine, placed ? idset_first(seat->placed) : seat->rank);
}

static uint32_t seat_width(const struct cell *seat)
{
    if (cell_kind(seat) != CELL_RANKS)
        return 0;
    char *text = cell_ranks(seat);
    uint32_t width = svg_width(SVG_CELL, text) + 8;
    free(text);
    return width;
}

/* Nodes that are all drawn get cells of one size. Threads that are told one by one stand in two columns. */
struct size cells_one(const struct machine *machine)
{
    const struct topo *topo = machine->topo;
    char *widest = mem_format("%u", machine->drawing->layout->ntasks - 1);
    uint32_t width = svg_width(SVG_CELL, widest) + 8;
    free(widest);
    struct size cell = {machine->drawing->folded || width < 26 ? 26 : width, 24};
    for (uint32_t row = 0, end; row < topo->npus; row = end) {
        end = levels_core_end(topo, row);
        uint32_t told = seats_told(machine->seats, row, end) - row;
        uint32_t across = told > 1 ? 2 : 1, down = (told + 1) / 2;
        for (uint32_t i = row; i < row + told; i++)
            if (seat_width(&machine->seats[i]) * across > cell.w)
                cell.w = seat_width(&machine->seats[i]) * across;
        if (down * THREAD_HEIGHT > cell.h)
            cell.h = down * THREAD_HEIGHT;
    }
    return cell;
}

/* ---- where the cores stand ---- */

uint32_t spread_evenly(uint32_t things, uint32_t rows)
{
    uint32_t columns = rows ? (things + rows - 1) / rows : 1;
    for (uint32_t even = columns; even > columns / 2; even--)
        if (things % even == 0)
            return even;
    return columns ? columns : 1;
}

static uint32_t svg_cells_count_cores(const struct topo *topo, uint32_t first, uint32_t end)
{
    uint32_t n = 0;
    for (uint32_t row = first; row < end; row++)
        n += row == first || levels_begin_core(topo, row);
    return n;
}

/* Rows about twice as wide as high in cores, all of them full where that can be. */
static uint32_t columns_for(uint32_t cores)
{
    uint32_t rows = 1;
    while (4 * rows * rows < cores || (cores + rows - 1) / rows > 16)
        rows++;
    return spread_evenly(cores, rows);
}

uint32_t cells_across(const struct machine *machine, uint32_t first, uint32_t end)
{
    return columns_for(svg_cells_count_cores(machine->topo, first, end));
}

/* Both have an L2, and it is the same. */
static bool share_l2(const struct machine *machine, uint32_t a, uint32_t b)
{
    const uint32_t *l2 = machine->topo->object[TOPO_L2];
    return l2[a] != TOPO_ABSENT && l2[a] == l2[b];
}

static struct size place_cells(const struct machine *machine, uint32_t first, uint32_t end,
                               struct area *areas)
{
    const struct topo *topo = machine->topo;
    uint32_t columns = columns_for(svg_cells_count_cores(topo, first, end)), column = 0, x = 0,
             y = 0;
    struct size size = {0, 0};
    for (uint32_t row = first, before = first; row < end; row = levels_core_end(topo, row)) {
        bool same = row == first || share_l2(machine, before, row);
        if (column >= columns && (!machine->l2 || !same || column >= 2 * columns)) {
            y += machine->cell.h + machine->gap + ROW_GAP + (machine->l2 ? L2_GAP : 0);
            column = x = 0;
        } else if (column) {
            x += machine->cell.w + machine->gap + (machine->l2 && !same ? L2_GAP : 0);
        }
        areas[row - first] = (struct area){x, y, machine->cell.w, machine->cell.h};
        size.w = x + machine->cell.w > size.w ? x + machine->cell.w : size.w;
        size.h = y + machine->cell.h;
        before = row;
        column++;
    }
    return size;
}

struct size cells_size(const struct machine *machine, uint32_t first, uint32_t end)
{
    if (!machine->cores)
        return (struct size){machine->cell.w, machine->cell.h};
    struct area *areas = mem_array(end - first, sizeof(*areas));
    struct size size = place_cells(machine, first, end, areas);
    free(areas);
    return size;
}

/* ---- what they show ---- */

static void draw_seat(struct buf *out, const struct machine *machine, const struct cell *seat,
                      struct area area)
{
    enum cell_kind kind = cell_kind(seat);
    if (kind == CELL_IDLE || kind == CELL_ABSENT) {
        svg_shape(out, kind == CELL_IDLE ? "idle" : "absent", area);
        return;
    }
    uint32_t colour = seat_colour(machine, seat);
    if (kind == CELL_SHARED) {
        bool parts = machine->drawing->request->nparts > 1;
        svg_tint(out, area, parts ? colour : SVG_GREY);
        return;
    }
    char *text = cell_ranks(seat);
    if (seat->unbound) {
        svg_dashed(out, area, colour);
        svg_in(out, area, text);
    } else {
        svg_colour(out, area, colour);
        svg_on_colour(out, area, colour, text);
    }
    free(text);
}

static void draw_threads(struct buf *out, const struct machine *machine, uint32_t first,
                         uint32_t told, struct area area)
{
    uint32_t down = (told + 1) / 2, w = area.w / 2, h = area.h / down;
    for (uint32_t i = 0; i < told; i++) {
        struct area part = {area.x + i % 2 * w, area.y + i / 2 * h, w - 1, h - 1};
        if (i % 2 == 0 && i + 1 == told)
            part.w = area.w;
        draw_seat(out, machine, &machine->seats[first + i], part);
    }
    svg_shape(out, "core", area);
}

/* "rank 3: core 3 (logical), cpus 6-7 (OS)" */
static char *core_title(const struct machine *machine, uint32_t first, uint32_t end)
{
    static const char *const kinds[] = {
        [CELL_SHARED] = "shared: ", [CELL_IDLE] = "idle: ", [CELL_ABSENT] = "not allocated: "};
    const struct topo *topo = machine->topo;
    struct idset *cpus = idset_new();
    struct buf out = BUF_INIT;
    for (uint32_t row = first; row < end; row++)
        idset_add(cpus, topo->os[row]);
    enum cell_kind kind = cell_kind(&machine->seats[first]);
    uint32_t one = topo_core(topo, first), last = topo_core(topo, end - 1);
    if (kind == CELL_RANKS) {
        char *ranks = cell_ranks(&machine->seats[first]);
        buf_printf(&out, "rank %s: ", ranks);
        free(ranks);
    } else {
        buf_add_text(&out, kinds[kind]);
    }
    char *set = idset_encode(cpus);
    buf_printf(&out, "core%s %u", text_plural(last - one + 1), one);
    if (last > one)
        buf_printf(&out, "-%u", last);
    buf_printf(&out, " (logical), cpu%s %s (OS)", text_plural(idset_count(cpus)), set);
    free(set);
    idset_free(cpus);
    return buf_take_text(&out);
}

/* The rows of cores that come behind this one and are of the same rank alone. */
static uint32_t bar_end(const struct machine *machine, uint32_t row, uint32_t end)
{
    const struct topo *topo = machine->topo;
    const struct cell *seats = machine->seats;
    uint32_t at = levels_core_end(topo, row), next;
    if (!cell_is_owned(&seats[row]) || seats_told(seats, row, at) - row > 1)
        return at;
    for (; at < end; at = next) {
        next = levels_core_end(topo, at);
        if (!cell_is_owned(&seats[at]) || seats[at].rank != seats[row].rank ||
            seats_told(seats, at, next) - at > 1)
            break;
    }
    return at;
}

/* Several cores of one rank, in one row or more: its number stands in the widest. */
static void svg_cells_draw_cores(struct buf *out, const struct machine *machine, uint32_t first,
                                 uint32_t row, uint32_t end, const struct area *areas)
{
    const struct topo *topo = machine->topo;
    struct figure figure = {mem_array(end - row, sizeof(*figure.runs)), 0};
    struct area widest = {0, 0, 0, 0};
    uint32_t colour = seat_colour(machine, &machine->seats[row]);
    for (uint32_t at = row; at < end; at = levels_core_end(topo, at))
        figure_add(&figure, areas[at - first], at > row);
    for (size_t i = 0; i < figure.n; i++)
        widest = figure.runs[i].w > widest.w ? figure.runs[i] : widest;
    figure_fill(out, &figure, colour);
    for (uint32_t at = levels_core_end(topo, row), before = row; at < end;
         before = at, at = levels_core_end(topo, at))
        if (areas[at - first].y == areas[before - first].y)
            svg_cut(out, areas[at - first].x - (machine->gap + 1) / 2, areas[at - first].y,
                    areas[at - first].h);
    char *text = cell_ranks(&machine->seats[row]);
    svg_on_colour(out, widest, colour, text);
    free(text);
    free(figure.runs);
}

static void draw_bar(struct buf *out, const struct machine *machine, uint32_t first, uint32_t row,
                     uint32_t end, const struct area *areas)
{
    const struct topo *topo = machine->topo;
    uint32_t core_end = levels_core_end(topo, row);
    char *title = core_title(machine, row, end);
    uint32_t told = seats_told(machine->seats, row, core_end) - row;
    svg_begin(out, title);
    if (told > 1)
        draw_threads(out, machine, row, told, areas[row - first]);
    else if (end > core_end)
        svg_cells_draw_cores(out, machine, first, row, end, areas);
    else
        draw_seat(out, machine, &machine->seats[row], areas[row - first]);
    svg_end(out);
    free(title);
}

static void draw_l2(struct buf *out, const struct machine *machine, uint32_t first, uint32_t end,
                    const struct area *areas)
{
    const struct topo *topo = machine->topo;
    for (uint32_t row = first, at; row < end; row = at) {
        struct area around = areas[row - first];
        uint32_t cores = 0;
        for (at = row; at < end && (at == row || (share_l2(machine, row, at) &&
                                                  areas[at - first].y == around.y));
             at = levels_core_end(topo, at), cores++)
            around.w = areas[at - first].x + areas[at - first].w - around.x;
        if (cores > 1)
            svg_shape(out, "l2",
                      (struct area){around.x - 2, around.y - 2, around.w + 4, around.h + 4});
    }
}

/* The ranks of a box whose cores are not drawn one by one. */
static void draw_summary(struct buf *out, const struct machine *machine, uint32_t first,
                         uint32_t end, struct area area)
{
    struct idset *ranks = idset_new();
    for (uint32_t row = first; row < end; row++) {
        const struct cell *seat = &machine->seats[row];
        if (cell_is_owned(seat))
            idset_add(ranks, seat->rank);
        if (!seat->placed)
            continue;
        IDSET_FOREACH(rank, seat->placed)
        idset_add(ranks, rank);
    }
    if (idset_empty(ranks)) {
        svg_shape(out, "idle", area);
    } else {
        char *set = idset_encode_short(ranks, 18), *text = mem_format("ranks %s", set);
        uint32_t colour = machine_colour(machine, idset_first(ranks));
        svg_colour(out, area, colour);
        svg_on_colour(out, area, colour, text);
        free(text);
        free(set);
    }
    idset_free(ranks);
}

void cells_draw(struct buf *out, const struct machine *machine, uint32_t first, uint32_t end,
                uint32_t x, uint32_t y)
{
    if (!machine->cores) {
        draw_summary(out, machine, first, end,
                     (struct area){x, y, machine->cell.w, machine->cell.h});
        return;
    }
    struct area *areas = mem_array(end - first, sizeof(*areas));
    place_cells(machine, first, end, areas);
    for (uint32_t i = 0; i < end - first; i++) {
        areas[i].x += x;
        areas[i].y += y;
    }
    if (machine->l2)
        draw_l2(out, machine, first, end, areas);
    bonds_draw(out, machine, first, end, areas);
    for (uint32_t row = first, next; row < end; row = next) {
        next = bar_end(machine, row, end);
        draw_bar(out, machine, first, row, next, areas);
    }
    free(areas);
}

/* By the place among the node's ranks: beside each other they differ, however ranks are dealt out,
 * and nodes alike look alike. */
uint32_t machine_colour(const struct machine *machine, uint32_t rank)
{
    const struct drawing *drawing = machine->drawing;
    if (drawing->request->nparts > 1)
        return drawing->layout->tasks[rank].app;
    return drawing->layout->tasks[rank].local_rank % SVG_COLOURS;
}
