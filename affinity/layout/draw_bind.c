#include <stdlib.h>
#include <string.h>

#include "affinity/layout/draw.h"
#include "base/mem.h"

#define MAX_LIST 40 /* characters of a list of ranks or processors in a table */

enum { RANKS, CPUS, CORES, WHERE, MEMORY, COLUMNS };

struct line {
    char *column[COLUMNS];
};

static char *short_list(const struct idset *set)
{
    char *text = idset_encode(set);
    size_t len = strlen(text);
    if (len <= MAX_LIST)
        return text;
    size_t cut = MAX_LIST - 12;
    while (cut > 0 && text[cut] != ',')
        cut--;
    char *brief = mem_format("%.*s,... (%zu)", (int)cut, text, idset_count(set));
    free(text);
    return brief;
}

static struct line line_make(const struct topo *topo, const struct idset *ranks,
                             const struct layout_binding *binding, bool local)
{
    struct buf where = BUF_INIT;
    struct idset *memory = local ? topo_memory_of_cpus(topo, binding->cpus) : idset_new();
    draw_where(&where, topo, binding->cores);
    struct line line = {
        {[RANKS] = short_list(ranks),
         [CPUS] = short_list(binding->cpus),
         [CORES] = short_list(binding->cores),
         [WHERE] = buf_take_text(&where),
         [MEMORY] = local && idset_empty(memory) ? mem_copy_text("none") : short_list(memory)}};
    idset_free(memory);
    return line;
}

/* One line a distinct binding of the node, and whether it is one of memory too, in the order of its
 * first rank. */
static uint32_t bind_lines(const struct drawing *drawing, uint32_t node, struct line **lines)
{
    const struct layout *layout = drawing->layout;
    uint32_t n = 0, ntasks = layout->nodes[node].ntasks;
    struct idset **ranks = mem_array(layout->nbindings * 2ul, sizeof(struct idset *));
    size_t *order = mem_array(ntasks, sizeof(*order));
    for (uint32_t i = 0; i < ntasks; i++) {
        const struct layout_task *task = drawing_task(drawing, node, i);
        size_t key = task->binding * 2ul + drawing->request->parts[task->app].local_memory;
        if (!ranks[key]) {
            ranks[key] = idset_new();
            order[n++] = key;
        }
        idset_add(ranks[key], drawing->ranks[drawing->at[node] + i]);
    }
    *lines = mem_array(n, sizeof(**lines));
    for (uint32_t i = 0; i < n; i++) {
        (*lines)[i] = line_make(drawing_node(drawing, node)->topo, ranks[order[i]],
                                &layout->bindings[order[i] / 2], order[i] % 2);
        idset_free(ranks[order[i]]);
    }
    free(order);
    free(ranks);
    return n;
}

static bool all_empty(const struct line *lines, uint32_t n, size_t column)
{
    for (uint32_t i = 0; i < n; i++)
        if (*lines[i].column[column])
            return false;
    return true;
}

static void draw_bind_node(struct drawing *drawing, uint32_t node)
{
    static const char *const heads[COLUMNS] = {"rank", "cpus (OS)", "cores (logical)", "in",
                                               "memory of (OS)"};
    struct line *lines, head;
    size_t widths[COLUMNS];
    uint32_t n = bind_lines(drawing, node, &lines);
    for (size_t c = 0; c < COLUMNS; c++) {
        head.column[c] = mem_copy_text(heads[c]);
        widths[c] = strlen(heads[c]);
        for (uint32_t i = 0; i < n; i++)
            if (strlen(lines[i].column[c]) > widths[c])
                widths[c] = strlen(lines[i].column[c]);
        if (c >= WHERE && all_empty(lines, n, c))
            head.column[c][0] = '\0';
    }
    buf_printf(&drawing->out, "  %s:\n", drawing_node(drawing, node)->host);
    buf_add_text(&drawing->out, "  ");
    draw_columns(&drawing->out, head.column, widths, COLUMNS);
    for (uint32_t i = 0; i < n; i++) {
        buf_add_text(&drawing->out, "  ");
        draw_columns(&drawing->out, lines[i].column, widths, COLUMNS);
    }
    for (uint32_t i = 0; i < n; i++)
        for (size_t c = 0; c < COLUMNS; c++)
            free(lines[i].column[c]);
    for (size_t c = 0; c < COLUMNS; c++)
        free(head.column[c]);
    free(lines);
}

void draw_bind(struct drawing *drawing)
{
    buf_add_text(&drawing->out, drawing->layout->bound
                                    ? "Bindings: where each rank may run\n"
                                    : "Bindings: none; where each rank may run\n");
    for (uint32_t i = 0; i < drawing->nlooks; i++) {
        draw_bind_node(drawing, drawing->looks[i].first);
        drawing_draw_others(drawing, &drawing->looks[i]);
    }
}
