#include <stdlib.h>

#include "affinity/layout/svg.h"
#include "base/mem.h"

#define CHIP_H 22
#define CHIP_GAP 8
#define CHIPS_ACROSS 8
#define MAX_GPUS 32  /* of one machine; more would leave the page */
#define MAX_RANKS 18 /* characters of the ranks on a chip */

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
    char *ranks = words_set(chip->ranks, MAX_RANKS);
    char *text = mem_format("gpu %u: rank%s %s", chip->id,
                            words_count((uint32_t)idset_count(chip->ranks)), ranks);
    free(ranks);
    return text;
}

/* "GPU 0 (cuda0) of ranks 0-3", "GPU 1 (cuda1), not allocated" */
static char *chip_title(const struct chip *chip)
{
    struct buf out = BUF_INIT;
    buf_printf(&out, "GPU %u", chip->id);
    if (chip->name)
        buf_printf(&out, " (%s)", chip->name);
    if (!chip->ours)
        buf_add_text(&out, ", not allocated");
    if (!idset_empty(chip->ranks)) {
        char *ranks = words_set(chip->ranks, 60);
        buf_printf(&out, " of rank%s %s", words_count((uint32_t)idset_count(chip->ranks)), ranks);
        free(ranks);
    }
    return buf_take_text(&out);
}

struct size gpus_size(const struct machine *machine, size_t depth, uint32_t first)
{
    struct size size = {0, 0};
    uint32_t n = 0, w = 0;
    for (size_t i = 0; i < machine->nchips; i++) {
        if (!is_home(&machine->chips[i], depth, first))
            continue;
        char *text = chip_text(&machine->chips[i]);
        bool begins = n++ % CHIPS_ACROSS == 0;
        w = (begins ? 0 : w + CHIP_GAP) + pen_width(PEN_CELL, text) + 8;
        size.w = w > size.w ? w : size.w;
        size.h += begins ? CHIP_H + (size.h ? CHIP_GAP : 0) : 0;
        free(text);
    }
    return size;
}

/* In the colour of the first rank that has it. */
static void chip_draw(struct buf *out, const struct machine *machine, const struct chip *chip,
                      const char *text, struct area area)
{
    char *title = chip_title(chip);
    pen_begin(out, title);
    if (idset_empty(chip->ranks)) {
        pen_shape(out, chip->ours ? "chip" : "absent", area);
        pen_in(out, area, text);
    } else {
        uint32_t colour = machine_colour(machine, idset_first(chip->ranks));
        pen_colour(out, area, colour);
        pen_on_colour(out, area, colour, text);
    }
    pen_end(out);
    free(title);
}

void gpus_draw(struct buf *out, const struct machine *machine, size_t depth, uint32_t first,
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
        struct area area = {x, y, pen_width(PEN_CELL, text) + 8, CHIP_H};
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
        machine->signs |= chip->ours ? 0 : SIGN_ABSENT;
    }
    if (topo->ngpus || !granted)
        return;
    IDSET_FOREACH(id, granted)
    if (machine->nchips < MAX_GPUS)
        machine->chips[machine->nchips++] = (struct chip){.id = id, .ours = true};
}

void gpus_open(struct machine *machine, uint32_t node)
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

void gpus_close(struct machine *machine)
{
    for (size_t i = 0; i < machine->nchips; i++)
        idset_free(machine->chips[i].ranks);
    free(machine->chips);
}
