/* Cores that are beside each other, as one shape: its fill and its outline. */
#include "affinity/picture/svg_figure.h"

#define STRIP 2 /* height of the strip that joins two runs of cores in different columns */

void figure_add(struct figure *figure, struct area cell, bool joined)
{
    struct area *last = figure->n ? &figure->runs[figure->n - 1] : NULL;
    if (joined && last && last->y == cell.y)
        last->w = cell.x + cell.w - last->x;
    else
        figure->runs[figure->n++] = cell;
}

static uint32_t right_of(struct area area)
{
    return area.x + area.w;
}

static uint32_t below(struct area area)
{
    return area.y + area.h;
}

/* Whether `b` is in the row after that of `a`. */
static bool follows(struct area a, struct area b)
{
    return b.y > a.y && b.y - below(a) < a.h;
}

/* What is between a run and one below it: as wide as both are; of no width where none of it is. */
static struct area between(struct area a, struct area b)
{
    uint32_t x = a.x > b.x ? a.x : b.x;
    uint32_t right = right_of(a) < right_of(b) ? right_of(a) : right_of(b);
    return (struct area){x, below(a), right > x ? right - x : 0, b.y - below(a)};
}

static void svg_figure_add_rect(struct buf *out, struct area area)
{
    buf_printf(out, "M%u,%uh%uv%uh-%uz", area.x, area.y, area.w, area.h, area.w);
}

/* Through the gap between the rows, from the left end of `a` to the right end of `b`. */
static void add_strip(struct buf *out, struct area a, struct area b)
{
    uint32_t middle = (below(a) + b.y - STRIP) / 2, left = right_of(b) - 3 * STRIP;
    uint32_t right = a.x + 3 * STRIP;
    svg_figure_add_rect(out, (struct area){left, middle, right - left, STRIP});
    svg_figure_add_rect(out, (struct area){left, middle, STRIP, b.y - middle});
    svg_figure_add_rect(out,
                        (struct area){right - STRIP, below(a), STRIP, middle + STRIP - below(a)});
}

void figure_fill(struct buf *out, const struct figure *figure, uint32_t colour)
{
    if (figure->n == 1) {
        svg_colour(out, figure->runs[0], colour);
        return;
    }
    buf_printf(out, "<path fill=\"%s\" d=\"", svg_colour_name(colour));
    for (size_t i = 0; i < figure->n; i++) {
        svg_figure_add_rect(out, figure->runs[i]);
        if (i + 1 == figure->n)
            break;
        struct area gap = between(figure->runs[i], figure->runs[i + 1]);
        if (gap.w)
            svg_figure_add_rect(out, gap);
        else
            add_strip(out, figure->runs[i], figure->runs[i + 1]);
    }
    buf_add_text(out, "\"/>\n");
}

/* A horizontal line, but for where something comes through. */
static void add_edge(struct buf *out, struct area run, uint32_t y, struct area gap)
{
    if (gap.w)
        buf_printf(out, "M%u,%uH%uM%u,%uH%u", run.x, y, gap.x, right_of(gap), y, right_of(run));
    else
        buf_printf(out, "M%u,%uH%u", run.x, y, right_of(run));
}

void figure_outline(struct buf *out, struct figure *figure, uint32_t margin, const char *class)
{
    for (size_t i = 0; i < figure->n; i++) {
        struct area *run = &figure->runs[i];
        *run = (struct area){run->x - margin, run->y - margin, run->w + 2 * margin,
                             run->h + 2 * margin};
    }
    buf_printf(out, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < figure->n; i++) {
        struct area run = figure->runs[i], above = {0, 0, 0, 0}, under = above;
        for (size_t j = 0; j < figure->n; j++) {
            if (!above.w && follows(figure->runs[j], run))
                above = between(figure->runs[j], run);
            if (!under.w && follows(run, figure->runs[j]))
                under = between(run, figure->runs[j]);
        }
        add_edge(out, run, run.y, above);
        add_edge(out, run, below(run), under);
        buf_printf(out, "M%u,%uV%uM%u,%uV%u", run.x, run.y, below(run), right_of(run), run.y,
                   below(run));
        if (under.w)
            buf_printf(out, "M%u,%uv%uM%u,%uv%u", under.x, under.y, under.h, right_of(under),
                       under.y, under.h);
    }
    buf_add_text(out, "\"/>\n");
}
