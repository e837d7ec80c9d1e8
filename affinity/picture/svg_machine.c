/* A node as nested boxes, each with its cores and GPUs. */
#include "affinity/picture/svg_machine.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/boxes.h"
#include "affinity/picture/cells.h"
#include "affinity/picture/node_groups.h"
#include "affinity/picture/svg_bind.h"
#include "affinity/picture/svg_cells.h"
#include "affinity/picture/text_page.h"
#include "affinity/sets/short_text.h"
#include "affinity/topology/topo.h"
#include "base/mem.h"
#include "base/text.h"

#define PAD 8
#define BOX_GAP 8
#define CAPTION 16 /* height of a line */

/* ---- GPUs, in the boxes that they belong to ---- */

#define CHIP_H 22
#define CHIP_GAP 8
#define CHIPS_ACROSS 8
#define MAX_GPUS 32  /* of one machine; more would leave the page */
#define MAX_RANKS 18 /* characters of the ranks on a chip */

/* A GPU, in the box that it belongs to. */
struct chip {
    uint32_t id;
    const char *name;    /* NULL: not known */
    bool ours;           /* allocated */
    size_t depth;        /* of the box; 0 is the machine */
    uint32_t row;        /* the first of the box */
    struct idset *ranks; /* that were given it */
};

/* The smallest box that has all the cpus of a GPU. */
static void find_home(struct chip *chip, const struct machine *machine, const struct idset *cpus)
{
    const struct topo *topo = machine->topo;
    uint32_t first = 0, last;
    while (first < topo->npus && !idset_has(cpus, topo->os[first]))
        first++;
    if (first == topo->npus)
        return;
    for (last = topo->npus - 1; !idset_has(cpus, topo->os[last]);)
        last--;
    while (chip->depth < machine->nlevels &&
           levels_same(topo, machine->levels, chip->depth + 1, first, last))
        chip->depth++;
    for (chip->row = first; chip->depth && chip->row > 0 &&
                            levels_same(topo, machine->levels, chip->depth, chip->row - 1, first);)
        chip->row--;
    chip->row = chip->depth ? chip->row : 0;
}

static bool is_home(const struct chip *chip, size_t depth, uint32_t first)
{
    return chip->depth == depth && chip->row == first;
}

/* "gpu 0", "gpu 0: rank 3", "gpu 0: ranks 0-3": what stands on it. */
static char *chip_text(const struct chip *chip)
{
    if (idset_empty(chip->ranks))
        return mem_format("gpu %u", chip->id);
    char *ranks = idset_encode_short(chip->ranks, MAX_RANKS);
    char *text =
        mem_format("gpu %u: rank%s %s", chip->id, text_plural(idset_count(chip->ranks)), ranks);
    free(ranks);
    return text;
}

static struct size gpus_size(const struct machine *machine, size_t depth, uint32_t first)
{
    struct size size = {0, 0};
    uint32_t n = 0, w = 0;
    for (size_t i = 0; i < machine->nchips; i++) {
        if (!is_home(&machine->chips[i], depth, first))
            continue;
        char *text = chip_text(&machine->chips[i]);
        bool begins = n++ % CHIPS_ACROSS == 0;
        w = (begins ? 0 : w + CHIP_GAP) + svg_width(SVG_CELL, text) + 8;
        size.w = w > size.w ? w : size.w;
        size.h += begins ? CHIP_H + (size.h ? CHIP_GAP : 0) : 0;
        free(text);
    }
    return size;
}

/* In the colour of the first rank that has it; its title is "GPU 0 (cuda0) of ranks 0-3", or "GPU 1 (cuda1),
 * not allocated". */
static void chip_draw(struct buf *out, const struct machine *machine, const struct chip *chip,
                      const char *text, struct area area)
{
    struct buf title = BUF_INIT;
    buf_printf(&title, "GPU %u", chip->id);
    if (chip->name)
        buf_printf(&title, " (%s)", chip->name);
    if (!chip->ours)
        buf_add_text(&title, ", not allocated");
    if (!idset_empty(chip->ranks)) {
        char *ranks = idset_encode_short(chip->ranks, 60);
        buf_printf(&title, " of rank%s %s", text_plural(idset_count(chip->ranks)), ranks);
        free(ranks);
    }
    svg_begin(out, buf_text(&title));
    if (idset_empty(chip->ranks)) {
        svg_shape(out, chip->ours ? "chip" : "absent", area);
        svg_in(out, area, text);
    } else {
        uint32_t colour = machine_colour(machine, idset_first(chip->ranks));
        svg_colour(out, area, colour);
        svg_on_colour(out, area, colour, text);
    }
    svg_end(out);
    buf_free(&title);
}

static void gpus_draw(struct buf *out, const struct machine *machine, size_t depth, uint32_t first,
                      uint32_t x, uint32_t y)
{
    uint32_t n = 0, left = x;
    for (size_t i = 0; i < machine->nchips; i++) {
        if (!is_home(&machine->chips[i], depth, first))
            continue;
        if (n && n % CHIPS_ACROSS == 0) {
            y += CHIP_H + CHIP_GAP;
            x = left;
        }
        n++;
        char *text = chip_text(&machine->chips[i]);
        struct area area = {x, y, svg_width(SVG_CELL, text) + 8, CHIP_H};
        chip_draw(out, machine, &machine->chips[i], text, area);
        x += area.w + CHIP_GAP;
        free(text);
    }
}

/* ---- which there are, and whose ---- */

/* The GPUs of the machine; those that were allocated where it shows none. */
static void find_chips(struct machine *machine)
{
    const struct topo *topo = machine->topo;
    const struct idset *granted = machine->source->gpus;
    for (size_t i = 0; i < topo->ngpus && machine->nchips < MAX_GPUS; i++) {
        const struct topo_gpu *gpu = &topo->gpus[i];
        struct chip *chip = &machine->chips[machine->nchips++];
        *chip = (struct chip){
            .id = gpu->id, .name = gpu->name, .ours = granted && idset_has(granted, gpu->id)};
        find_home(chip, machine, gpu->cpus);
        machine->signs |= chip->ours ? 0 : LEGEND_ABSENT;
    }
    if (topo->ngpus || !granted)
        return;
    IDSET_FOREACH(id, granted)
    if (machine->nchips < MAX_GPUS)
        machine->chips[machine->nchips++] = (struct chip){.id = id, .ours = true};
}

static void gpus_open(struct machine *machine, uint32_t node)
{
    const struct drawing *drawing = machine->drawing;
    machine->chips = mem_array(MAX_GPUS, sizeof(*machine->chips));
    find_chips(machine);
    for (size_t i = 0; i < machine->nchips; i++)
        machine->chips[i].ranks = idset_new();
    for (uint32_t i = 0; i < drawing->layout->nodes[node].ntasks && machine->nchips; i++) {
        const struct idset *gpus = drawing_gpus(drawing, drawing_task(drawing, node, i));
        for (size_t chip = 0; gpus && chip < machine->nchips; chip++)
            if (idset_has(gpus, machine->chips[chip].id))
                idset_add(machine->chips[chip].ranks, drawing_rank(drawing, node, i));
    }
}

/* ---- boxes ---- */

/* The end of the box of this depth that the row is in; the machine itself is depth 0. */
static uint32_t svg_machine_box_end(const struct machine *machine, size_t depth, uint32_t row,
                                    uint32_t end)
{
    uint32_t at = row + 1;
    while (at < end && levels_same(machine->topo, machine->levels, depth, row, at))
        at++;
    return at;
}

static uint32_t count_boxes(const struct machine *machine, size_t depth)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < machine->topo->npus;
         row = svg_machine_box_end(machine, depth, row, machine->topo->npus))
        n++;
    return n;
}

static char *box_name(const struct machine *machine, size_t depth, uint32_t row)
{
    if (!depth)
        return mem_copy_text("");
    return levels_label(machine->topo, machine->levels[depth - 1], row, false);
}

enum { NAME, CORES, CPUS, TOKENS };

/* The words above an innermost box: its name, its cores, its cpus. */
static void box_tokens(const struct machine *machine, size_t depth, uint32_t first, uint32_t end,
                       char **tokens)
{
    const struct topo *topo = machine->topo;
    struct idset *cpus = idset_new();
    for (uint32_t row = first; row < end; row++)
        idset_add(cpus, topo->os[row]);
    uint32_t one = topo_core(topo, first), last = topo_core(topo, end - 1);
    char *set = idset_encode_short(cpus, 24);
    tokens[NAME] = box_name(machine, depth, first);
    tokens[CORES] = last > one ? mem_format("cores %u-%u (logical)", one, last)
                               : mem_format("core %u (logical)", one);
    tokens[CPUS] = mem_format("cpu%s %s (OS)", text_plural(idset_count(cpus)), set);
    free(set);
    idset_free(cpus);
}

static void free_tokens(char **tokens)
{
    for (size_t i = 0; i < TOKENS; i++)
        free(tokens[i]);
}

static enum svg_font token_font(size_t token)
{
    return token == NAME ? SVG_LABEL : SVG_SMALL;
}

/* Captions have the same shape in every box: as few lines as the widest words need. */
static void fit_captions(struct machine *machine)
{
    uint32_t widest[TOKENS] = {0}, npus = machine->topo->npus, cells = UINT32_MAX, columns = 1;
    for (uint32_t row = 0, end; row < npus; row = end) {
        char *tokens[TOKENS];
        end = svg_machine_box_end(machine, machine->nlevels, row, npus);
        box_tokens(machine, machine->nlevels, row, end, tokens);
        for (size_t i = 0; i < TOKENS; i++) {
            uint32_t w = svg_width(token_font(i), tokens[i]);
            widest[i] = w > widest[i] ? w : widest[i];
        }
        free_tokens(tokens);
        uint32_t w = cells_size(machine, row, end).w, across = cells_across(machine, row, end);
        cells = w < cells ? w : cells;
        columns = across > columns ? across : columns;
    }
    uint32_t name = widest[NAME] ? widest[NAME] + PAD : 0;
    uint32_t numbers = widest[CORES] + PAD + widest[CPUS];
    if (name + numbers <= cells) {
        machine->caption = 1;
        machine->narrow = name + numbers;
    } else if (name + widest[CORES] <= cells && widest[CPUS] <= cells) {
        machine->caption = 2;
        machine->narrow = cells;
    } else {
        machine->caption = name ? 3 : 2;
        machine->narrow = widest[CORES] > widest[CPUS] ? widest[CORES] : widest[CPUS];
        machine->narrow = widest[NAME] > machine->narrow ? widest[NAME] : machine->narrow;
    }
    if (machine->cores && machine->narrow > cells) /* cells as wide as the words above them */
        machine->cell.w += (machine->narrow - cells) / columns;
}

static void draw_caption(struct buf *out, const struct machine *machine, size_t depth,
                         uint32_t first, uint32_t end, uint32_t x, uint32_t y)
{
    char *tokens[TOKENS];
    uint32_t left = x;
    box_tokens(machine, depth, first, end, tokens);
    for (size_t i = 0; i < TOKENS; i++) {
        bool breaks = machine->caption == 3 || (machine->caption == 2 && i == CPUS);
        if (i && *tokens[i - 1] && breaks) {
            y += CAPTION;
            left = x;
        }
        if (*tokens[i])
            svg_text(out, token_font(i), left, y + 12, tokens[i]);
        left += *tokens[i] ? svg_width(token_font(i), tokens[i]) + PAD : 0;
    }
    free_tokens(tokens);
}

/* ---- nesting ---- */

struct place {
    size_t depth;
    uint32_t first, end;
    uint32_t room; /* width that there is inside */
};

static struct size walk(struct buf *out, const struct machine *machine, struct place box,
                        uint32_t x, uint32_t y);

/* How many boxes in a row: as many as there is room for, less where that fills every row. */
static uint32_t boxes_across(const struct machine *machine, struct place box)
{
    uint32_t boxes = 0, widest = 1;
    for (uint32_t row = box.first, end; row < box.end; row = end, boxes++) {
        end = svg_machine_box_end(machine, box.depth + 1, row, box.end);
        struct place inner = {box.depth + 1, row, end, box.room};
        struct size one = walk(NULL, machine, inner, 0, 0);
        widest = one.w > widest ? one.w : widest;
    }
    uint32_t most = (box.room + BOX_GAP) / (widest + BOX_GAP);
    most = most ? most : 1;
    return spread_evenly(boxes, (boxes + most - 1) / most);
}

/* The boxes inside, row by row. */
static struct size walk_inside(struct buf *out, const struct machine *machine, struct place box,
                               uint32_t x, uint32_t y)
{
    struct size size = {0, 0};
    uint32_t across = boxes_across(machine, box), left = 0, top = 0, high = 0, n = 0;
    for (uint32_t row = box.first, end; row < box.end; row = end, n++) {
        end = svg_machine_box_end(machine, box.depth + 1, row, box.end);
        struct place inner = {box.depth + 1, row, end, box.room};
        if (n && n % across == 0) {
            top += high + BOX_GAP;
            left = high = 0;
        }
        struct size one = walk(out, machine, inner, x + left, y + top);
        high = one.h > high ? one.h : high;
        size.w = left + one.w > size.w ? left + one.w : size.w;
        size.h = top + high;
        left += one.w + BOX_GAP;
    }
    return size;
}

static struct size walk_leaf(struct buf *out, const struct machine *machine, struct place box,
                             uint32_t x, uint32_t y)
{
    struct size cells = cells_size(machine, box.first, box.end);
    uint32_t h = machine->caption * CAPTION + 4;
    if (out) {
        draw_caption(out, machine, box.depth, box.first, box.end, x, y);
        cells_draw(out, machine, box.first, box.end, x, y + h);
    }
    cells.w = cells.w > machine->narrow ? cells.w : machine->narrow;
    cells.h += h;
    return cells;
}

/* One box with all that is in it: measured, and drawn where there is something to draw on. */
static struct size walk(struct buf *out, const struct machine *machine, struct place box,
                        uint32_t x, uint32_t y)
{
    uint32_t pad = box.depth ? PAD : 0, top = pad;
    bool leaf = box.depth == machine->nlevels;
    struct size chips = gpus_size(machine, box.depth, box.first);
    box.room = box.room > 2 * pad ? box.room - 2 * pad : 0;
    if (box.depth && !leaf)
        top += CAPTION + 4;
    struct size size =
        leaf ? walk_leaf(NULL, machine, box, 0, 0) : walk_inside(NULL, machine, box, 0, 0);
    struct size whole = {2 * pad + (size.w > chips.w ? size.w : chips.w), top + size.h + pad};
    whole.h += chips.h ? chips.h + BOX_GAP : 0;
    if (!out)
        return whole;
    if (box.depth)
        svg_shape(out, "box", (struct area){x, y, whole.w, whole.h});
    if (box.depth && !leaf) {
        char *name = box_name(machine, box.depth, box.first);
        svg_text(out, SVG_LABEL, x + pad, y + pad + 12, name);
        free(name);
    }
    if (leaf)
        walk_leaf(out, machine, box, x + pad, y + top);
    else
        walk_inside(out, machine, box, x + pad, y + top);
    gpus_draw(out, machine, box.depth, box.first, x + pad, y + top + size.h + BOX_GAP);
    return whole;
}

struct size machine_size(const struct machine *machine, uint32_t room)
{
    return walk(NULL, machine, (struct place){0, 0, machine->topo->npus, room}, 0, 0);
}

void machine_draw(struct buf *out, const struct machine *machine, uint32_t x, uint32_t y,
                  uint32_t room)
{
    walk(out, machine, (struct place){0, 0, machine->topo->npus, room}, x, y);
}

/* ---- life ---- */

/* A machine with too many cores is drawn box by box, and with too many boxes without the inner
 * ones. */
static void choose_detail(struct machine *machine)
{
    const struct topo *topo = machine->topo;
    machine->nlevels = levels_dividing(topo, machine->levels);
    machine->cores = topo->npus <= SVG_MAX_CELLS;
    while (!machine->cores && machine->nlevels &&
           count_boxes(machine, machine->nlevels) > SVG_MAX_BOXES)
        machine->nlevels--;
    machine->l2 = machine->cores && levels_have_l2(topo);
    if (machine->cores)
        bonds_open(machine);
    machine->gap = machine->nbonds ? 8 : 3;
    machine->cell = machine->cores ? cells_one(machine) : (struct size){170, 24};
}

void machine_open(struct machine *machine, const struct drawing *drawing, uint32_t node)
{
    const struct layout_node *source = drawing_node(drawing, node);
    const struct topo *topo = source->topo;
    *machine = (struct machine){.drawing = drawing, .node = node, .source = source, .topo = topo};
    machine->seats = drawing_seats(drawing, node);
    choose_detail(machine);
    fit_captions(machine);
    gpus_open(machine, node);
    machine->signs |= machine->l2 ? LEGEND_L2 : 0;
    for (uint32_t row = 0, end; row < topo->npus && machine->cores; row = end) {
        end = levels_core_end(topo, row);
        machine->signs |= seats_signs(machine->seats, row, seats_told(machine->seats, row, end));
    }
}

void machine_close(struct machine *machine)
{
    seats_free(machine->seats, machine->topo->npus);
    for (size_t i = 0; i < machine->nchips; i++)
        idset_free(machine->chips[i].ranks);
    free(machine->chips);
    bonds_close(machine);
}
