#include <stdlib.h>

#include "affinity/layout/svg.h"
#include "base/mem.h"

#define CHIP_H 22
#define CHIP_GAP 8
#define MAX_GPUS 32 /* of one machine; more would leave the page */

/* The smallest box that has all the cpus of a GPU. */
static struct gpu_home find_home(const struct machine *machine, const struct topo_gpu *gpu)
{
    const struct topo *topo = machine->topo;
    struct gpu_home home = {0, 0};
    uint32_t first = 0, last;
    while (first < topo->npus && !idset_has(gpu->cpus, topo->os[first]))
        first++;
    if (first == topo->npus)
        return home;
    for (last = topo->npus - 1; !idset_has(gpu->cpus, topo->os[last]);)
        last--;
    while (home.depth < machine->nlevels &&
           levels_same(topo, machine->levels, home.depth + 1, first, last))
        home.depth++;
    for (home.row = first; home.depth && home.row > 0 &&
                           levels_same(topo, machine->levels, home.depth, home.row - 1, first);)
        home.row--;
    home.row = home.depth ? home.row : 0;
    return home;
}

static bool is_home(const struct gpu_home *home, size_t depth, uint32_t first)
{
    return home->depth == depth && home->row == first;
}

/* What stands on a GPU: the place to say whose it is, once GPUs are given to tasks. */
static char *chip_text(const struct topo_gpu *gpu)
{
    return mem_format("gpu %u", gpu->id);
}

struct size gpus_size(const struct machine *machine, size_t depth, uint32_t first)
{
    struct size size = {0, 0};
    for (size_t i = 0; i < machine->ngpus; i++) {
        if (!is_home(&machine->homes[i], depth, first))
            continue;
        char *text = chip_text(&machine->topo->gpus[i]);
        size.w += (size.w ? CHIP_GAP : 0) + pen_width(PEN_CELL, text) + 8;
        size.h = CHIP_H;
        free(text);
    }
    return size;
}

static bool has_gpu(const struct machine *machine, const struct topo_gpu *gpu)
{
    return machine->source->gpus && idset_has(machine->source->gpus, gpu->id);
}

void gpus_draw(struct buf *out, const struct machine *machine, size_t depth, uint32_t first,
               uint32_t x, uint32_t y)
{
    for (size_t i = 0; i < machine->ngpus; i++) {
        const struct topo_gpu *gpu = &machine->topo->gpus[i];
        if (!is_home(&machine->homes[i], depth, first))
            continue;
        bool ours = has_gpu(machine, gpu);
        char *text = chip_text(gpu);
        char *title =
            mem_format("GPU %u (%s)%s", gpu->id, gpu->name, ours ? "" : ", not allocated");
        struct area area = {x, y, pen_width(PEN_CELL, text) + 8, CHIP_H};
        pen_begin(out, title);
        pen_shape(out, ours ? "chip" : "absent", area);
        pen_in(out, area, text);
        pen_end(out);
        x += area.w + CHIP_GAP;
        free(title);
        free(text);
    }
}

void gpus_open(struct machine *machine)
{
    const struct topo *topo = machine->topo;
    machine->ngpus = topo->ngpus < MAX_GPUS ? topo->ngpus : MAX_GPUS;
    machine->homes = mem_array(machine->ngpus, sizeof(*machine->homes));
    for (size_t i = 0; i < machine->ngpus; i++) {
        machine->homes[i] = find_home(machine, &topo->gpus[i]);
        machine->signs |= has_gpu(machine, &topo->gpus[i]) ? 0 : SIGN_ABSENT;
    }
}
