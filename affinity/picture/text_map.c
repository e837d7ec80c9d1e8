/* The ranks of each core, in brackets; above them the title and a legend of the signs that came up. */
#include "affinity/picture/text_map.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/boxes.h"
#include "affinity/picture/cells.h"
#include "affinity/picture/node_groups.h"
#include "affinity/picture/phrases.h"
#include "affinity/picture/text_page.h"
#include "affinity/topology/topo.h"
#include "base/mem.h"

/* "3", or "3/7" where the core's threads differ. */
static char *core_text(const struct cell *seats, uint32_t first, uint32_t end, unsigned *signs)
{
    static const char *const texts[] = {
        [CELL_SHARED] = "~", [CELL_IDLE] = ".", [CELL_ABSENT] = "-"};
    struct buf out = BUF_INIT;
    end = seats_told(seats, first, end);
    *signs |= seats_signs(seats, first, end);
    for (uint32_t i = first; i < end; i++) {
        enum cell_kind kind = cell_kind(&seats[i]);
        char *ranks = kind == CELL_RANKS ? cell_ranks(&seats[i]) : NULL;
        buf_printf(&out, "%s%s", i > first ? "/" : "", ranks ? ranks : texts[kind]);
        free(ranks);
    }
    return buf_take_text(&out);
}

static void draw_map_node(struct buf *out, const struct drawing *drawing, uint32_t node,
                          unsigned *signs)
{
    const struct layout_node *source = drawing_node(drawing, node);
    const struct topo *topo = source->topo;
    char *ranks = phrase_ranks(drawing, node);
    buf_printf(out, "  %s: %s\n", source->host, ranks);
    free(ranks);
    if (topo->npus && topo_core(topo, topo->npus - 1) >= PICTURE_MAX_CORES) {
        buf_printf(out, "    more than %d cores are not drawn\n", PICTURE_MAX_CORES);
        return;
    }
    if (drawing->layout->nodes[node].ntasks > PICTURE_MAX_TASKS) {
        buf_printf(out, "    more than %d tasks are not drawn\n", PICTURE_MAX_TASKS);
        return;
    }
    struct cell *seats = drawing_seats(drawing, node);
    char **cells = mem_array(topo->npus, sizeof(*cells));
    for (uint32_t row = 0; row < topo->npus; row = levels_core_end(topo, row))
        cells[row] = core_text(seats, row, levels_core_end(topo, row), signs);
    draw_boxes(out, &(struct boxes){topo, cells, NULL, 4});
    *signs |= levels_have_l2(topo) ? LEGEND_L2 : 0;
    for (uint32_t row = 0; row < topo->npus; row++)
        free(cells[row]);
    free(cells);
    seats_free(seats, topo->npus);
}

static void draw_legend(struct buf *out, unsigned signs)
{
    static const struct {
        unsigned sign;
        const char *text;
    } legend[] = {
        {LEGEND_SHARED, "; ~ shared by several ranks"},
        {LEGEND_IDLE, "; . idle"},
        {LEGEND_ABSENT, "; - not allocated"},
        {LEGEND_UNBOUND, "; (N) rank N, which is not bound"},
        {LEGEND_THREADS, "; a/b on its first, second thread"},
        {LEGEND_L2, "; | between L2 caches"},
    };
    struct buf line = BUF_INIT;
    buf_add_text(&line, "in [ ] the rank of each core");
    for (size_t i = 0; i < sizeof(legend) / sizeof(legend[0]); i++)
        if (signs & legend[i].sign)
            buf_add_text(&line, legend[i].text);
    draw_wrapped(out, buf_text(&line), 2);
    buf_free(&line);
}

static void draw_head(struct buf *out, const struct drawing *drawing)
{
    uint32_t nparts = drawing->request->nparts;
    char *title = phrase_title(drawing), *policy = phrase_policy(drawing, 0);
    if (nparts > 1)
        buf_printf(out, "Map: %s\n", title);
    else
        buf_printf(out, "Map: %s, %s\n", title, policy);
    free(title);
    free(policy);
    for (uint32_t part = 0; nparts > 1 && part < nparts && part < PICTURE_MAX_LOOKS; part++) {
        char *ranks = phrase_part(drawing, part);
        policy = phrase_policy(drawing, part);
        char *text = mem_format("%s, %s", ranks, policy);
        draw_wrapped(out, text, 2);
        free(text);
        free(ranks);
        free(policy);
    }
    if (nparts > PICTURE_MAX_LOOKS)
        buf_printf(out, "  and %u more parts\n", nparts - PICTURE_MAX_LOOKS);
}

void draw_map(struct buf *out, const struct drawing *drawing)
{
    struct buf before = *out;
    unsigned signs = 0;
    *out = (struct buf)BUF_INIT;
    for (uint32_t i = 0; i < drawing->nlooks && i < PICTURE_MAX_LOOKS; i++) {
        draw_map_node(out, drawing, drawing->looks[i].first, &signs);
        draw_others(out, drawing, &drawing->looks[i]);
    }
    draw_rest(out, drawing);
    draw_head(&before, drawing);
    draw_legend(&before, signs);
    buf_add_text(&before, buf_text(out));
    buf_free(out);
    *out = before;
}
