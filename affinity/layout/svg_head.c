#include <stdlib.h>
#include <string.h>

#include "affinity/layout/svg.h"
#include "base/mem.h"

#define MAX_PARTS 24
#define SAMPLE_W 28
#define SAMPLE_H 20

/* How the ranks were placed; where nothing was said of their order it is the natural one, of which
 * words_policy() is silent. Caller frees. */
static char *placing_words(const struct drawing *drawing, uint32_t part)
{
    const struct layout_part *asked = &drawing->request->parts[drawing->parts[part].owner];
    bool natural = !drawing->parts[part].policy.sequential && !asked->rankfile && !asked->taskmap &&
                   !asked->shape;
    char *policy = words_policy(drawing, part);
    char *text = mem_format("%s%s%s", asked->slots ? "" : "mapped ", policy,
                            natural ? ", in natural order" : "");
    free(policy);
    return text;
}

/* One more paragraph below. */
static void add_line(struct buf *out, struct size *size, enum pen_font font, uint32_t indent,
                     uint32_t y, const char *line)
{
    uint32_t w = indent + pen_wrapped_width(font, line, SVG_ROOM - indent);
    size->w = w > size->w ? w : size->w;
    size->h += pen_wrapped(out, font, SVG_MARGIN + indent, y + size->h, SVG_ROOM - indent, line);
}

static void parts_draw(struct buf *out, const struct drawing *drawing, struct size *size,
                       uint32_t y)
{
    uint32_t nparts = drawing->request->nparts;
    for (uint32_t part = 0; part < nparts && part < MAX_PARTS; part++) {
        char *ranks = words_part(drawing, part), *placing = placing_words(drawing, part);
        char *line = mem_format("%s; %s", ranks, placing);
        pen_colour(out, (struct area){SVG_MARGIN, y + size->h + 3, 14, 14}, part);
        add_line(out, size, PEN_TEXT, 22, y, line);
        size->h += 3;
        free(line);
        free(placing);
        free(ranks);
    }
    if (nparts > MAX_PARTS) {
        char *line = mem_format("and %u more parts", nparts - MAX_PARTS);
        add_line(out, size, PEN_TEXT, 22, y, line);
        free(line);
    }
}

static void policy_draw(struct buf *out, const struct drawing *drawing, struct size *size,
                        uint32_t y)
{
    const char *program = drawing->request->parts[0].program;
    char *placing = placing_words(drawing, 0);
    char *line =
        mem_format("%s%s%s", program ? words_program(program) : "", program ? ": " : "", placing);
    add_line(out, size, PEN_TEXT, 0, y, line);
    free(line);
    free(placing);
}

struct size head_draw(struct buf *out, const struct drawing *drawing, uint32_t y)
{
    struct size size = {0, 0};
    char *title = words_title(drawing);
    add_line(out, &size, PEN_TITLE, 0, y, title);
    free(title);
    if (drawing->request->nparts > 1)
        parts_draw(out, drawing, &size, y);
    else
        policy_draw(out, drawing, &size, y);
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
    case SIGN_RANK:
        pen_colour(out, area, PEN_GREY);
        pen_in(out, area, "3");
        break;
    case SIGN_SHARED:
        pen_tint(out, area, PEN_GREY);
        break;
    case SIGN_UNBOUND:
        pen_dashed(out, area, PEN_GREY);
        pen_in(out, area, "(3)");
        break;
    case SIGN_THREADS:
        pen_colour(out, area, PEN_GREY);
        pen_shape(out, "core", left);
        pen_shape(out, "core", area);
        break;
    case SIGN_BOUND:
        pen_shape(out, "bound", area);
        break;
    case SIGN_PART:
        pen_shape(out, "bound part", area);
        break;
    case SIGN_L2:
        pen_shape(out, "idle", (struct area){area.x + 3, area.y + 3, 10, area.h - 6});
        pen_shape(out, "idle", (struct area){area.x + 15, area.y + 3, 10, area.h - 6});
        pen_shape(out, "l2", area);
        break;
    default:
        pen_shape(out, sign == SIGN_IDLE ? "idle" : "absent", area);
    }
}

static void legend_item(struct legend *legend, unsigned sign, const char *text)
{
    uint32_t w = SAMPLE_W + 6 + pen_width(PEN_TEXT, text) + 18;
    if (legend->x > SVG_MARGIN && legend->x + w > SVG_MARGIN + SVG_ROOM) {
        legend->x = SVG_MARGIN;
        legend->y += SAMPLE_H + 8;
    }
    struct area area = {legend->x, legend->y, SAMPLE_W, SAMPLE_H};
    sample_draw(legend->out, sign, area);
    pen_text(legend->out, PEN_TEXT, area.x + SAMPLE_W + 6, area.y + 15, text);
    legend->x += w;
    legend->right = legend->x > legend->right ? legend->x : legend->right;
}

static const char *colour_words(const struct drawing *drawing)
{
    if (drawing->request->nparts > 1)
        return "Each colour is a part of the program.";
    if (has_strip(drawing))
        return "In a node, colours tell its ranks apart; in squares, groups of nodes alike.";
    return drawing->layout->ntasks > 1 ? "Colours tell the ranks of a node apart." : "";
}

struct size legend_draw(struct buf *out, const struct drawing *drawing, unsigned signs, uint32_t y)
{
    static const struct {
        unsigned sign;
        const char *text;
    } items[] = {
        {SIGN_SHARED, "shared by ranks that are placed beside"},
        {SIGN_BOUND, "the ranks inside may run on all of it"},
        {SIGN_PART, "part of what the ranks inside may run on"},
        {SIGN_IDLE, "idle"},
        {SIGN_ABSENT, "not allocated"},
        {SIGN_UNBOUND, "rank 3 is placed here, but not bound"},
        {SIGN_THREADS, "threads of one core"},
        {SIGN_L2, "cores with a common L2 cache"},
    };
    struct legend legend = {out, SVG_MARGIN, y, SVG_MARGIN};
    if (signs & SIGN_RANK)
        legend_item(&legend, SIGN_RANK,
                    signs & SIGN_SHARED ? "rank 3 is placed on this core" : "a core of rank 3");
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
        if (signs & items[i].sign)
            legend_item(&legend, items[i].sign, items[i].text);
    char *line = mem_format("Cores have their logical numbers, cpus those of the OS. %s",
                            colour_words(drawing));
    uint32_t below = legend.x > SVG_MARGIN ? legend.y + SAMPLE_H + 6 : y;
    struct size size = {legend.right - SVG_MARGIN, below - y};
    add_line(out, &size, PEN_TEXT, 0, y, line);
    free(line);
    return size;
}
