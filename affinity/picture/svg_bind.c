/* What ranks are bound to where others are bound to it, too: outlines around the cores. */
#include "affinity/picture/svg_bind.h"

#include <stdlib.h>

#include "affinity/picture/boxes.h"
#include "affinity/picture/cells.h"
#include "affinity/picture/node_groups.h"
#include "affinity/picture/svg_figure.h"
#include "affinity/sets/short_text.h"
#include "base/mem.h"
#include "base/text.h"

#define MAX_BONDS 256 /* of one machine; more could not be told apart */
#define MARGIN 2

/* Row by OS index; UINT32_MAX for none. */
static uint32_t *svg_bind_rows_by_os(const struct topo *topo, uint32_t *count)
{
    *count = 0;
    for (uint32_t row = 0; row < topo->npus; row++)
        *count = topo->os[row] >= *count ? topo->os[row] + 1 : *count;
    uint32_t *rows = mem_array(*count, sizeof(*rows));
    for (uint32_t os = 0; os < *count; os++)
        rows[os] = UINT32_MAX;
    for (uint32_t row = 0; row < topo->npus; row++)
        rows[topo->os[row]] = row;
    return rows;
}

/* A set of hardware threads that ranks share. */
struct bond {
    struct idset *rows;
    bool split;  /* over several innermost boxes: each has a part of the outline */
    char *title; /* which ranks, and where they may run */
};

struct bound_rank {
    uint32_t binding, rank;
};

static int compare_bound(const void *a, const void *b)
{
    const struct bound_rank *x = a, *y = b;
    if (x->binding != y->binding)
        return (x->binding > y->binding) - (x->binding < y->binding);
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The node's bound ranks, those of one binding together; none where there are too many to show. */
static struct bound_rank *bound_ranks(const struct machine *machine, uint32_t *count)
{
    const struct drawing *drawing = machine->drawing;
    uint32_t ntasks = drawing->layout->nodes[machine->node].ntasks;
    ntasks = ntasks > PICTURE_MAX_TASKS ? 0 : ntasks;
    struct bound_rank *ranks = mem_array(ntasks, sizeof(*ranks));
    *count = 0;
    for (uint32_t i = 0; i < ntasks; i++) {
        const struct layout_task *task = drawing_task(drawing, machine->node, i);
        if (!drawing_is_unbound(drawing, task))
            ranks[(*count)++] = (struct bound_rank){drawing_binding(drawing, task),
                                                    drawing_rank(drawing, machine->node, i)};
    }
    qsort(ranks, *count, sizeof(*ranks), compare_bound);
    return ranks;
}

/* "ranks 0-3 may run on cpus 0-7 (OS)" */
static char *bond_title(const struct bound_rank *ranks, uint32_t count, const struct idset *cpus)
{
    struct idset *set = idset_new();
    for (uint32_t i = 0; i < count; i++)
        idset_add(set, ranks[i].rank);
    char *who = idset_encode_short(set, 60), *where = idset_encode_short(cpus, 60);
    char *title = mem_format("rank%s %s may run on cpu%s %s (OS)", text_plural(count), who,
                             text_plural(idset_count(cpus)), where);
    free(where);
    free(who);
    idset_free(set);
    return title;
}

void bonds_open(struct machine *machine)
{
    uint32_t count, nos, *rows = svg_bind_rows_by_os(machine->topo, &nos);
    struct bound_rank *ranks = bound_ranks(machine, &count);
    machine->bonds = mem_array(MAX_BONDS, sizeof(*machine->bonds));
    for (uint32_t i = 0, end; i < count && machine->nbonds < MAX_BONDS; i = end) {
        const struct idset *cpus = machine->drawing->layout->bindings[ranks[i].binding].cpus;
        struct idset *set = idset_new();
        bool shared = false;
        for (end = i; end < count && ranks[end].binding == ranks[i].binding;)
            end++;
        IDSET_FOREACH(os, cpus)
        {
            if (os >= nos || rows[os] == UINT32_MAX)
                continue;
            idset_add(set, rows[os]);
            shared = shared || machine->seats[rows[os]].nbound > 1;
        }
        if (!shared) {
            idset_free(set);
            continue;
        }
        bool split = !levels_same(machine->topo, machine->levels, machine->nlevels,
                                  idset_first(set), idset_last(set));
        machine->bonds[machine->nbonds++] =
            (struct bond){set, split, bond_title(&ranks[i], end - i, cpus)};
        machine->signs |= split ? LEGEND_PART : LEGEND_BOUND;
    }
    free(ranks);
    free(rows);
}

void bonds_close(struct machine *machine)
{
    for (size_t i = 0; i < machine->nbonds; i++) {
        idset_free(machine->bonds[i].rows);
        free(machine->bonds[i].title);
    }
    free(machine->bonds);
}

void bonds_draw(struct buf *out, const struct machine *machine, uint32_t first, uint32_t end,
                const struct area *areas)
{
    struct figure figure = {mem_array(end - first, sizeof(*figure.runs)), 0};
    for (size_t i = 0; i < machine->nbonds; i++) {
        bool joined = false;
        figure.n = 0;
        for (uint32_t row = first, next; row < end; row = next) {
            next = levels_core_end(machine->topo, row);
            bool inside = false;
            for (uint32_t at = row; at < next && !inside; at++)
                inside = idset_has(machine->bonds[i].rows, at);
            if (inside)
                figure_add(&figure, areas[row - first], joined);
            joined = inside;
        }
        if (!figure.n)
            continue;
        svg_begin(out, machine->bonds[i].title);
        figure_outline(out, &figure, MARGIN, machine->bonds[i].split ? "bound part" : "bound");
        svg_end(out);
    }
    free(figure.runs);
}
