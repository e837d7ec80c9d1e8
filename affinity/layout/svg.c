#include "affinity/layout/svg.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PAD 14

/* Where the next panel goes. */
struct sheet {
    struct buf body;
    uint32_t x, y;  /* of the next panel */
    uint32_t high;  /* of the panels in this row */
    uint32_t width; /* of the whole page */
    uint32_t room;  /* for a machine */
    uint32_t cells, panels;
    unsigned signs;
};

/* ---- panels ---- */

/* What stands under the names of a panel. */
static char *look_words(const struct drawing *drawing, uint32_t index)
{
    const struct look *look = &drawing->looks[index];
    if (look->count == 1)
        return words_ranks(drawing, look->first);
    uint32_t n = drawing->layout->nodes[look->first].ntasks;
    struct idset *first = look_ranks(drawing, index, look->first, look->first);
    struct idset *all = look_ranks(drawing, index, look->first, look->last);
    char *shown = words_set(first, 24), *ranks = words_set(all, 40);
    char *shift = words_shift(drawing, look);
    char *text =
        mem_format("%u nodes, %u task%s on each, ranks %s in all. Shown is %s with rank%s "
                   "%s%s%s.",
                   look->count, n, words_count(n), ranks, drawing_node(drawing, look->first)->host,
                   words_count((uint32_t)idset_count(first)), shown, look->shifted ? "; " : "",
                   look->shifted ? shift : "");
    free(shift);
    free(shown);
    free(ranks);
    idset_free(first);
    idset_free(all);
    return text;
}

struct panel {
    const struct drawing *drawing;
    uint32_t look;
    char *hosts, *words;
    struct machine machine;
    struct size size;
    uint32_t room; /* width for the machine */
    uint32_t top;  /* height of the words */
};

/* At least as wide as its hosts, and as a few of its words. */
static void panel_open(struct panel *panel, const struct drawing *drawing, uint32_t look,
                       uint32_t room)
{
    *panel = (struct panel){.drawing = drawing, .look = look, .room = room};
    panel->hosts = look_hosts(drawing, look, room / 11 > 40 ? room / 11 - 14 : 26);
    panel->words = look_words(drawing, look);
    machine_open(&panel->machine, drawing, drawing->looks[look].first);
    panel->size = machine_size(&panel->machine, room);
    uint32_t hosts = pen_width(PEN_HEAD, panel->hosts) + 22;
    uint32_t words = pen_width(PEN_TEXT, panel->words), least = words < 300 ? words : 300;
    least = hosts > least ? hosts : least;
    panel->size.w = panel->size.w > least ? panel->size.w : least;
    panel->top = 24 + pen_wrapped(NULL, PEN_TEXT, 0, 0, panel->size.w, panel->words) + 6;
    panel->size.w += 2 * PAD;
    panel->size.h += panel->top + 2 * PAD;
}

static void panel_close(struct panel *panel)
{
    machine_close(&panel->machine);
    free(panel->hosts);
    free(panel->words);
}

static void panel_draw(struct buf *out, const struct panel *panel, uint32_t x, uint32_t y)
{
    uint32_t colour = look_colour(panel->drawing, panel->look), left = x + PAD;
    pen_shape(out, "frame", (struct area){x, y, panel->size.w, panel->size.h});
    if (has_strip(panel->drawing)) {
        pen_colour(out, (struct area){left, y + PAD + 2, 14, 14}, colour);
        left += 22;
    }
    pen_text(out, PEN_HEAD, left, y + PAD + 15, panel->hosts);
    pen_wrapped(out, PEN_TEXT, x + PAD, y + PAD + 22, panel->size.w - 2 * PAD, panel->words);
    machine_draw(out, &panel->machine, x + PAD, y + PAD + panel->top, panel->room);
}

static void sheet_break(struct sheet *sheet)
{
    if (sheet->x > SVG_MARGIN)
        sheet->y += sheet->high + SVG_GAP;
    sheet->x = SVG_MARGIN;
    sheet->high = 0;
}

static void sheet_panel(struct sheet *sheet, const struct drawing *drawing, uint32_t look)
{
    struct panel panel;
    panel_open(&panel, drawing, look, sheet->room);
    if (sheet->x + panel.size.w > SVG_MARGIN + SVG_ROOM)
        sheet_break(sheet);
    panel_draw(&sheet->body, &panel, sheet->x, sheet->y);
    sheet->x += panel.size.w;
    sheet->width = sheet->x + SVG_MARGIN > sheet->width ? sheet->x + SVG_MARGIN : sheet->width;
    sheet->x += SVG_GAP;
    sheet->high = panel.size.h > sheet->high ? panel.size.h : sheet->high;
    sheet->signs |= panel.machine.signs;
    sheet->panels++;
    panel_close(&panel);
}

static bool has_room(struct sheet *sheet, const struct drawing *drawing, uint32_t look)
{
    const struct topo *topo = drawing_node(drawing, drawing->looks[look].first)->topo;
    sheet->cells += topo->npus <= SVG_MAX_CELLS ? topo->npus : SVG_MAX_BOXES;
    return sheet->panels < SVG_MAX_PANELS && (!sheet->panels || sheet->cells <= SVG_MAX_CELLS);
}

/* ---- what has no panel ---- */

static void sheet_line(struct sheet *sheet, char *text)
{
    uint32_t right = SVG_MARGIN + pen_wrapped_width(PEN_TEXT, text, SVG_ROOM) + SVG_MARGIN;
    sheet->width = right > sheet->width ? right : sheet->width;
    sheet->y += pen_wrapped(&sheet->body, PEN_TEXT, SVG_MARGIN, sheet->y, SVG_ROOM, text);
    free(text);
}

static void sheet_list(struct sheet *sheet, const struct drawing *drawing, uint32_t look)
{
    uint32_t end = look + SVG_MAX_LIST, left = 0;
    sheet_break(sheet);
    if (look < drawing->nlooks)
        sheet_line(sheet, mem_copy_text("Not drawn:"));
    for (; look < drawing->nlooks && look < end; look++) {
        char *hosts = look_hosts(drawing, look, 50);
        struct idset *all =
            look_ranks(drawing, look, drawing->looks[look].first, drawing->looks[look].last);
        char *ranks = words_set(all, 40);
        sheet_line(sheet, mem_format("%s: ranks %s", hosts, ranks));
        idset_free(all);
        free(ranks);
        free(hosts);
    }
    for (uint32_t i = look; i < drawing->nlooks; i++)
        left += drawing->looks[i].count;
    if (left)
        sheet_line(sheet, mem_format("and %u more node%s, of %u other kinds", left,
                                     words_count(left), drawing->nlooks - look));
}

/* ---- the page ---- */

static bool is_small(const struct layout *layout, const struct layout_request *request)
{
    uint64_t cells = 0;
    for (uint32_t i = 0; i < layout->nnodes && i < SVG_UNFOLDED_NODES; i++) {
        const struct topo *topo = request->nodes[layout->nodes[i].source].topo;
        cells += topo_core(topo, topo->npus - 1) + 1;
    }
    return layout->nnodes <= SVG_UNFOLDED_NODES && cells <= SVG_UNFOLDED_CELLS;
}

/* With room for so many machines side by side. */
static struct sheet draw_sheet(const struct drawing *drawing, uint32_t beside)
{
    struct sheet sheet = {.x = SVG_MARGIN,
                          .room = (SVG_ROOM + SVG_GAP) / beside - SVG_GAP - 2 * PAD};
    uint32_t look = 0;
    for (; look < drawing->nlooks && has_room(&sheet, drawing, look); look++)
        sheet_panel(&sheet, drawing, look);
    sheet_list(&sheet, drawing, look);
    return sheet;
}

/* Machines as wide as they like, unless narrow ones make a page that is clearly less high. */
static struct sheet draw_best(const struct drawing *drawing)
{
    struct sheet best = draw_sheet(drawing, 1);
    for (uint32_t beside = 2; beside <= 4 && beside <= drawing->nlooks; beside++) {
        struct sheet sheet = draw_sheet(drawing, beside);
        bool fits = sheet.width <= SVG_WIDTH || sheet.width <= best.width;
        bool better = fits && sheet.y < best.y / 8 * 7;
        struct sheet *worse = better ? &best : &sheet;
        buf_free(&worse->body);
        if (better)
            best = sheet;
    }
    return best;
}

/* What stands above explains only what was drawn below, and so comes last. */
char *layout_draw_svg(const struct layout *layout, const struct layout_request *request)
{
    struct drawing drawing = {
        .layout = layout, .request = request, .folded = !is_small(layout, request)};
    struct buf top = BUF_INIT, out = BUF_INIT;
    drawing_fold(&drawing);
    struct sheet sheet = draw_best(&drawing);
    uint32_t y = SVG_MARGIN / 2, w = sheet.width;
    struct size head = head_draw(&top, &drawing, y);
    y += head.h + SVG_GAP;
    struct size legend = legend_draw(&top, &drawing, sheet.signs, y);
    y += legend.h + SVG_GAP;
    struct size strip = strip_draw(&top, &drawing, y);
    y += strip.h;
    const uint32_t widths[] = {head.w, legend.w, strip.w};
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        w = widths[i] + 2 * SVG_MARGIN > w ? widths[i] + 2 * SVG_MARGIN : w;
    buf_printf(&top, "<g transform=\"translate(0,%u)\">\n%s</g>\n", y, buf_text(&sheet.body));
    char *title = words_title(&drawing);
    pen_document(&out, w, y + sheet.y + SVG_MARGIN, title, buf_text(&top));
    free(title);
    buf_free(&top);
    buf_free(&sheet.body);
    drawing_free(&drawing);
    return buf_take_text(&out);
}
