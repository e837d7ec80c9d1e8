/* The SVG picture: a panel for each look, and above them title, overview and legend. */
#include "affinity/picture/svg.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/cells.h"
#include "affinity/picture/node_groups.h"
#include "affinity/picture/phrases.h"
#include "affinity/picture/svg_machine.h"
#include "affinity/picture/svg_overview.h"
#include "affinity/sets/short_text.h"
#include "affinity/topology/topo.h"
#include "base/mem.h"
#include "base/text.h"

#define SVG_MAX_LIST 60        /* looks listed; others are counted */
#define SVG_UNFOLDED_NODES 8   /* up to this many nodes are drawn one by one */
#define SVG_UNFOLDED_CELLS 600 /* if they have no more cores than this together */
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
    const struct node_group *look = &drawing->looks[index];
    if (look->count == 1)
        return phrase_ranks(drawing, look->first);
    uint32_t n = drawing->layout->nodes[look->first].ntasks;
    struct idset *first = node_group_ranks(drawing, index, look->first, look->first);
    struct idset *all = node_group_ranks(drawing, index, look->first, look->last);
    char *shown = idset_encode_short(first, 24), *ranks = idset_encode_short(all, 40);
    char *shift = phrase_shift(drawing, look);
    char *text =
        mem_format("%u nodes, %u task%s on each, ranks %s in all. Shown is %s with rank%s "
                   "%s%s%s.",
                   look->count, n, text_plural(n), ranks, drawing_node(drawing, look->first)->host,
                   text_plural(idset_count(first)), shown, look->shifted ? "; " : "",
                   look->shifted ? shift : "");
    free(shift);
    free(shown);
    free(ranks);
    idset_free(first);
    idset_free(all);
    return text;
}

static void sheet_break(struct sheet *sheet)
{
    if (sheet->x > SVG_MARGIN)
        sheet->y += sheet->high + SVG_GAP;
    sheet->x = SVG_MARGIN;
    sheet->high = 0;
}

/* The next panel: measured, then drawn where it fits. */
static void sheet_panel(struct sheet *sheet, const struct drawing *drawing, uint32_t look)
{
    struct machine machine;
    uint32_t room = sheet->room;
    char *hosts = node_group_hosts(drawing, look, room / 11 > 40 ? room / 11 - 14 : 26);
    char *words = look_words(drawing, look);
    machine_open(&machine, drawing, drawing->looks[look].first);
    struct size size = machine_size(&machine, room);

    /* At least as wide as its hosts, and as a few of its words. */
    uint32_t hosts_width = svg_width(SVG_HEAD, hosts) + 22, least = svg_width(SVG_TEXT, words);
    least = least < 300 ? least : 300;
    least = hosts_width > least ? hosts_width : least;
    size.w = size.w > least ? size.w : least;
    uint32_t top = 24 + svg_wrapped(NULL, SVG_TEXT, 0, 0, size.w, words) + 6;
    size.w += 2 * PAD;
    size.h += top + 2 * PAD;
    if (sheet->x + size.w > SVG_MARGIN + SVG_ROOM)
        sheet_break(sheet);

    struct buf *out = &sheet->body;
    uint32_t x = sheet->x + PAD, y = sheet->y + PAD;
    bool strip = has_strip(drawing);
    svg_shape(out, "frame", (struct area){sheet->x, sheet->y, size.w, size.h});
    if (strip)
        svg_colour(out, (struct area){x, y + 2, 14, 14}, look_colour(drawing, look));
    svg_text(out, SVG_HEAD, strip ? x + 22 : x, y + 15, hosts);
    svg_wrapped(out, SVG_TEXT, x, y + 22, size.w - 2 * PAD, words);
    machine_draw(out, &machine, x, y + top, room);

    sheet->x += size.w;
    sheet->width = sheet->x + SVG_MARGIN > sheet->width ? sheet->x + SVG_MARGIN : sheet->width;
    sheet->x += SVG_GAP;
    sheet->high = size.h > sheet->high ? size.h : sheet->high;
    sheet->signs |= machine.signs;
    sheet->panels++;
    machine_close(&machine);
    free(hosts);
    free(words);
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
    uint32_t right = SVG_MARGIN + svg_wrapped_width(SVG_TEXT, text, SVG_ROOM) + SVG_MARGIN;
    sheet->width = right > sheet->width ? right : sheet->width;
    sheet->y += svg_wrapped(&sheet->body, SVG_TEXT, SVG_MARGIN, sheet->y, SVG_ROOM, text);
    free(text);
}

static void sheet_list(struct sheet *sheet, const struct drawing *drawing, uint32_t look)
{
    uint32_t end = look + SVG_MAX_LIST, left = 0;
    sheet_break(sheet);
    if (look < drawing->nlooks)
        sheet_line(sheet, mem_copy_text("Not drawn:"));
    for (; look < drawing->nlooks && look < end; look++) {
        char *hosts = node_group_hosts(drawing, look, 50);
        struct idset *all =
            node_group_ranks(drawing, look, drawing->looks[look].first, drawing->looks[look].last);
        char *ranks = idset_encode_short(all, 40);
        sheet_line(sheet, mem_format("%s: ranks %s", hosts, ranks));
        idset_free(all);
        free(ranks);
        free(hosts);
    }
    for (uint32_t i = look; i < drawing->nlooks; i++)
        left += drawing->looks[i].count;
    if (left)
        sheet_line(sheet, mem_format("and %u more node%s, of %u other kinds", left,
                                     text_plural(left), drawing->nlooks - look));
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

#define MAX_PARTS 24
#define SAMPLE_W 28
#define SAMPLE_H 20

/* How the ranks were placed; where nothing was said of their order it is the natural one, of which
 * phrase_policy() is silent. Caller frees. */
static char *placing_words(const struct drawing *drawing, uint32_t part)
{
    const struct layout_part *asked = &drawing->request->parts[drawing->parts[part].owner];
    bool natural = !drawing->parts[part].policy.sequential && !asked->rankfile && !asked->taskmap &&
                   !asked->shape;
    char *policy = phrase_policy(drawing, part);
    char *text = mem_format("%s%s%s", asked->slots ? "" : "mapped ", policy,
                            natural ? ", in natural order" : "");
    free(policy);
    return text;
}

/* One more paragraph below. */
static void add_line(struct buf *out, struct size *size, enum svg_font font, uint32_t indent,
                     uint32_t y, const char *line)
{
    uint32_t w = indent + svg_wrapped_width(font, line, SVG_ROOM - indent);
    size->w = w > size->w ? w : size->w;
    size->h += svg_wrapped(out, font, SVG_MARGIN + indent, y + size->h, SVG_ROOM - indent, line);
}

static void parts_draw(struct buf *out, const struct drawing *drawing, struct size *size,
                       uint32_t y)
{
    uint32_t nparts = drawing->request->nparts;
    for (uint32_t part = 0; part < nparts && part < MAX_PARTS; part++) {
        char *ranks = phrase_part(drawing, part), *placing = placing_words(drawing, part);
        char *line = mem_format("%s; %s", ranks, placing);
        svg_colour(out, (struct area){SVG_MARGIN, y + size->h + 3, 14, 14}, part);
        add_line(out, size, SVG_TEXT, 22, y, line);
        size->h += 3;
        free(line);
        free(placing);
        free(ranks);
    }
    if (nparts > MAX_PARTS) {
        char *line = mem_format("and %u more parts", nparts - MAX_PARTS);
        add_line(out, size, SVG_TEXT, 22, y, line);
        free(line);
    }
}

/* The title, and what was asked for: of each part, where there are several. */
static struct size head_draw(struct buf *out, const struct drawing *drawing, uint32_t y)
{
    struct size size = {0, 0};
    char *title = phrase_title(drawing);
    add_line(out, &size, SVG_TITLE, 0, y, title);
    free(title);
    if (drawing->request->nparts > 1) {
        parts_draw(out, drawing, &size, y);
        return size;
    }
    const char *program = drawing->request->parts[0].program;
    char *placing = placing_words(drawing, 0);
    char *line =
        mem_format("%s%s%s", program ? phrase_program(program) : "", program ? ": " : "", placing);
    add_line(out, &size, SVG_TEXT, 0, y, line);
    free(line);
    free(placing);
    return size;
}

/* ---- legend ---- */

struct legend {
    struct buf *out;
    uint32_t x, y;
    uint32_t right; /* where the widest line ends */
};

static void sample_draw(struct buf *out, unsigned sign, struct area area)
{
    struct area left = area;
    left.w /= 2;
    switch (sign) {
    case LEGEND_RANK:
        svg_colour(out, area, SVG_GREY);
        svg_in(out, area, "3");
        break;
    case LEGEND_SHARED:
        svg_tint(out, area, SVG_GREY);
        break;
    case LEGEND_UNBOUND:
        svg_dashed(out, area, SVG_GREY);
        svg_in(out, area, "(3)");
        break;
    case LEGEND_THREADS:
        svg_colour(out, area, SVG_GREY);
        svg_shape(out, "core", left);
        svg_shape(out, "core", area);
        break;
    case LEGEND_BOUND:
        svg_shape(out, "bound", area);
        break;
    case LEGEND_PART:
        svg_shape(out, "bound part", area);
        break;
    case LEGEND_L2:
        svg_shape(out, "idle", (struct area){area.x + 3, area.y + 3, 10, area.h - 6});
        svg_shape(out, "idle", (struct area){area.x + 15, area.y + 3, 10, area.h - 6});
        svg_shape(out, "l2", area);
        break;
    default:
        svg_shape(out, sign == LEGEND_IDLE ? "idle" : "absent", area);
    }
}

static void legend_item(struct legend *legend, unsigned sign, const char *text)
{
    uint32_t w = SAMPLE_W + 6 + svg_width(SVG_TEXT, text) + 18;
    if (legend->x > SVG_MARGIN && legend->x + w > SVG_MARGIN + SVG_ROOM) {
        legend->x = SVG_MARGIN;
        legend->y += SAMPLE_H + 8;
    }
    struct area area = {legend->x, legend->y, SAMPLE_W, SAMPLE_H};
    sample_draw(legend->out, sign, area);
    svg_text(legend->out, SVG_TEXT, area.x + SAMPLE_W + 6, area.y + 15, text);
    legend->x += w;
    legend->right = legend->x > legend->right ? legend->x : legend->right;
}

static struct size legend_draw(struct buf *out, const struct drawing *drawing, unsigned signs,
                               uint32_t y)
{
    static const struct {
        unsigned sign;
        const char *text;
    } items[] = {
        {LEGEND_SHARED, "shared by ranks that are placed beside"},
        {LEGEND_BOUND, "the ranks inside may run on all of it"},
        {LEGEND_PART, "part of what the ranks inside may run on"},
        {LEGEND_IDLE, "idle"},
        {LEGEND_ABSENT, "not allocated"},
        {LEGEND_UNBOUND, "rank 3 is placed here, but not bound"},
        {LEGEND_THREADS, "threads of one core"},
        {LEGEND_L2, "cores with a common L2 cache"},
    };
    struct legend legend = {out, SVG_MARGIN, y, SVG_MARGIN};
    if (signs & LEGEND_RANK)
        legend_item(&legend, LEGEND_RANK,
                    signs & LEGEND_SHARED ? "rank 3 is placed on this core" : "a core of rank 3");
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
        if (signs & items[i].sign)
            legend_item(&legend, items[i].sign, items[i].text);
    const char *colours =
        drawing->request->nparts > 1 ? "Each colour is a part of the program."
        : has_strip(drawing)
            ? "In a node, colours tell its ranks apart; in squares, groups of nodes alike."
        : drawing->layout->ntasks > 1 ? "Colours tell the ranks of a node apart."
                                      : "";
    char *line = mem_format("Cores have their logical numbers, cpus those of the OS. %s", colours);
    uint32_t below = legend.x > SVG_MARGIN ? legend.y + SAMPLE_H + 6 : y;
    struct size size = {legend.right - SVG_MARGIN, below - y};
    add_line(out, &size, SVG_TEXT, 0, y, line);
    free(line);
    return size;
}

/* ---- the page ---- */

/* What stands above explains only what was drawn below, and so comes last. */
char *picture_svg(const struct layout *layout, const struct layout_request *request)
{
    struct drawing drawing;
    struct buf top = BUF_INIT, out = BUF_INIT;
    drawing_open(&drawing, layout, request, !is_small(layout, request));
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
    char *title = phrase_title(&drawing);
    svg_document(&out, w, y + sheet.y + SVG_MARGIN, title, buf_text(&top));
    free(title);
    buf_free(&top);
    buf_free(&sheet.body);
    drawing_close(&drawing);
    return buf_take_text(&out);
}
