/* The table of bindings: a line for all tasks of a node that are bound alike, lines that go on by equal
 * steps with an ellipsis. */
#include "affinity/picture/text_bind.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/boxes.h"
#include "affinity/picture/node_groups.h"
#include "affinity/picture/text_page.h"
#include "affinity/sets/short_text.h"
#include "affinity/topology/topo.h"
#include "base/hash_table.h"
#include "base/mem.h"

#define MAX_SET 40    /* characters of a set in the table */
#define MAX_LINES 200 /* of one node */
#define MIN_RUN 8     /* lines that go on alike and are worth an ellipsis */

enum { RANKS, CPUS, CORES, GPUS, WHERE, MEMORY, COLUMNS };

struct line { /* tasks of a node that are bound alike, and who they are */
    const struct layout_task *first;
    struct idset *set[WHERE];
    char *column[COLUMNS];
};

struct lines {
    const struct drawing *drawing;
    uint32_t node;
    struct line *list;
    uint32_t n;
};

static const char *const heads[COLUMNS] = {"rank", "cpus (OS)", "cores (logical)",
                                           "gpus", "in",        "memory of (OS)"};

static bool with_memory(const struct drawing *drawing, const struct layout_task *task)
{
    return drawing->request->parts[task->app].local_memory;
}

static void fill_columns(const struct drawing *drawing, struct line *line, const struct topo *topo)
{
    for (size_t c = 0; c < WHERE; c++)
        line->column[c] = idset_encode_short(line->set[c], MAX_SET);
    if (drawing->layout->gpus_assigned && idset_empty(line->set[GPUS])) {
        free(line->column[GPUS]);
        line->column[GPUS] = mem_copy_text("none");
    }
    line->column[WHERE] = levels_where(topo, line->set[CORES]);
    if (!with_memory(drawing, line->first)) {
        line->column[MEMORY] = mem_copy_text("");
        return;
    }
    struct idset *memory = topo_memory_of_cpus(topo, line->set[CPUS]);
    line->column[MEMORY] =
        idset_empty(memory) ? mem_copy_text("none") : idset_encode_short(memory, MAX_SET);
    idset_free(memory);
}

static bool is_on_line(const void *owner, uint32_t number, const void *thing)
{
    const struct lines *lines = owner;
    const struct drawing *drawing = lines->drawing;
    const struct layout_task *a = lines->list[number].first, *b = thing;
    return drawing_binding(drawing, a) == drawing_binding(drawing, b) && a->gpus == b->gpus &&
           with_memory(drawing, a) == with_memory(drawing, b);
}

/* A line for all that have the same cpus, the same GPUs, and memory bound or not, in the order of
 * its first rank. */
static struct lines collect_lines(const struct drawing *drawing, uint32_t node)
{
    const struct layout *layout = drawing->layout;
    uint32_t ntasks = layout->nodes[node].ntasks;
    uint64_t most = 2ull * layout->nbindings * (layout->ngpu_sets + 1ull);
    most = most < ntasks ? most : ntasks;
    struct hash_table table = {.count = 0};
    struct lines lines = {drawing, node, mem_array(most, sizeof(*lines.list)), 0};
    for (uint32_t i = 0; i < ntasks; i++) {
        const struct layout_task *task = drawing_task(drawing, node, i);
        uint64_t hash =
            hash_table_hash(hash_table_hash(0, drawing_binding(drawing, task)), task->gpus);
        uint32_t number = hash_table_intern(&table, hash, is_on_line, &lines, task);
        if (number == lines.n) {
            const struct layout_binding *bound = &layout->bindings[task->binding];
            const struct idset *gpus = drawing_gpus(drawing, task);
            lines.list[lines.n++] =
                (struct line){.first = task,
                              .set = {[RANKS] = idset_new(),
                                      [CPUS] = idset_copy(bound->cpus),
                                      [CORES] = idset_copy(bound->cores),
                                      [GPUS] = gpus ? idset_copy(gpus) : idset_new()}};
        }
        idset_add(lines.list[number].set[RANKS], drawing_rank(drawing, node, i));
    }
    hash_table_free(&table);
    for (uint32_t i = 0; i < lines.n; i++)
        fill_columns(drawing, &lines.list[i], drawing_node(drawing, node)->topo);
    return lines;
}

/* How much higher the ids of a column of line b are than those of line a, in *shift; false where
 * the sets differ in more than that. */
static bool find_shift(const struct lines *lines, uint32_t a, uint32_t b, size_t column,
                       uint32_t *shift)
{
    const struct idset *x = lines->list[a].set[column], *y = lines->list[b].set[column];
    size_t i = 0, j = 0;
    uint32_t first, last, other_first, other_last;
    bool more;
    *shift = idset_first(y) - idset_first(x);
    while ((more = idset_range(x, &i, &first, &last)) ==
               idset_range(y, &j, &other_first, &other_last) &&
           more)
        if (other_first - first != *shift || other_last - last != *shift)
            return false;
    return !more;
}

/* How many lines from `at` on have the same in a column: the tasks of a core, of a GPU. */
static uint32_t lines_alike(const struct lines *lines, uint32_t at, size_t column)
{
    uint32_t n = 1;
    while (at + n < lines->n &&
           idset_equal(lines->list[at].set[column], lines->list[at + n].set[column]))
        n++;
    return n;
}

/* The end of the lines that go on from `at` by equal steps: of ranks and cpus from line to line, of
 * cores and GPUs as often as there are lines of each; of one place only where `same_place`. */
static uint32_t steps_end(const struct lines *lines, uint32_t at, bool same_place)
{
    uint32_t period[WHERE] = {[RANKS] = 1,
                              [CPUS] = 1,
                              [CORES] = lines_alike(lines, at, CORES),
                              [GPUS] = lines_alike(lines, at, GPUS)};
    uint32_t step[WHERE] = {0}, end = at + 1;
    for (; end < lines->n; end++) {
        const struct line *a = &lines->list[at], *b = &lines->list[end];
        if (same_place && (strcmp(a->column[WHERE], b->column[WHERE]) != 0 ||
                           strcmp(a->column[MEMORY], b->column[MEMORY]) != 0))
            return end;
        for (size_t c = 0; c < WHERE; c++) {
            uint32_t shift, steps = (end - at) / period[c];
            if (!find_shift(lines, at, end, c, &shift))
                return end;
            if (end - at == period[c])
                step[c] = shift;
            if (shift != steps * step[c])
                return end;
        }
    }
    return end;
}

/* The end of the lines from `at` on that are told by two of them, an ellipsis and the last. */
static uint32_t run_end(const struct lines *lines, uint32_t at)
{
    uint32_t near = steps_end(lines, at, true), far = steps_end(lines, at, false);
    if (near - at >= MIN_RUN)
        return near;
    return far - at >= 2 * MIN_RUN ? far : at + 1;
}

/* A column of no width is not there. */
static void draw_line(struct buf *out, const char *const *columns, const size_t *widths)
{
    buf_add_text(out, "    ");
    for (size_t c = 0; c < COLUMNS; c++)
        if (widths[c])
            buf_printf(out, "%-*s  ", (int)widths[c], columns[c]);
    while (buf_text(out)[out->len - 1] == ' ')
        out->len--;
    buf_add_char(out, '\n');
}

static void draw_lines(struct buf *out, const struct lines *lines, const size_t *widths)
{
    static const char *const going_on[COLUMNS] = {"...", "...", "...", "...", "...", "..."};
    uint32_t drawn = 0;
    for (uint32_t at = 0, end; at < lines->n && drawn < MAX_LINES; at = end) {
        end = run_end(lines, at);
        for (uint32_t i = at; i < end; i++, drawn++) {
            bool told = end - at == 1 || i < at + 2 || i == end - 1;
            draw_line(out, told ? (const char *const *)lines->list[i].column : going_on, widths);
            if (!told)
                i = end - 2;
        }
        if (drawn >= MAX_LINES && end < lines->n)
            buf_printf(out, "    and %u more\n", lines->n - end);
    }
}

static void draw_bind_node(struct buf *out, const struct drawing *drawing, uint32_t node)
{
    if (drawing->layout->nodes[node].ntasks > PICTURE_MAX_TASKS) {
        buf_printf(out, "  %s:\n    more than %d tasks are not listed; --format=json has all\n",
                   drawing_node(drawing, node)->host, PICTURE_MAX_TASKS);
        return;
    }
    struct lines lines = collect_lines(drawing, node);
    size_t widths[COLUMNS];
    const char *titles[COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++) {
        size_t widest = 0;
        for (uint32_t i = 0; i < lines.n; i++)
            if (strlen(lines.list[i].column[c]) > widest)
                widest = strlen(lines.list[i].column[c]);
        titles[c] = c >= GPUS && !widest ? "" : heads[c];
        widths[c] = widest > strlen(titles[c]) ? widest : strlen(titles[c]);
    }
    buf_printf(out, "  %s:\n", drawing_node(drawing, node)->host);
    draw_line(out, titles, widths);
    draw_lines(out, &lines, widths);
    for (uint32_t i = 0; i < lines.n; i++) {
        for (size_t c = 0; c < WHERE; c++)
            idset_free(lines.list[i].set[c]);
        for (size_t c = 0; c < COLUMNS; c++)
            free(lines.list[i].column[c]);
    }
    free(lines.list);
}

void draw_bind(struct buf *out, const struct drawing *drawing)
{
    buf_add_text(out, drawing->layout->bound ? "Bindings: where each rank may run\n"
                                             : "Bindings: none; where each rank may run\n");
    for (uint32_t i = 0; i < drawing->nlooks && i < PICTURE_MAX_LOOKS; i++) {
        draw_bind_node(out, drawing, drawing->looks[i].first);
        draw_others(out, drawing, &drawing->looks[i]);
    }
    draw_rest(out, drawing);
}
