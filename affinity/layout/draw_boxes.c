#include "affinity/layout/draw.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Levels that can be a box or stand in front of one, the outermost of equal ones first. */
static const enum topo_level box_levels[] = {TOPO_BOARD, TOPO_SOCKET, TOPO_NUMA, TOPO_L3};
enum { MAX_BOXES = sizeof(box_levels) / sizeof(box_levels[0]) };

static const char *level_label(enum topo_level level)
{
    return level == TOPO_L3 ? "L3" : topo_level_name(level);
}

/* Levels with more than one object, fewest first; of two with as many, the outer one. */
static size_t dividing_levels(const struct topo *topo, enum topo_level *levels)
{
    size_t n = 0;
    for (size_t i = 0; i < MAX_BOXES; i++) {
        uint32_t count = topo->count[box_levels[i]];
        size_t at = n;
        bool known = count < 2;
        for (size_t j = 0; j < n; j++)
            known = known || topo->count[levels[j]] == count;
        if (known)
            continue;
        for (; at > 0 && topo->count[levels[at - 1]] > count; at--)
            levels[at] = levels[at - 1];
        levels[at] = box_levels[i];
        n++;
    }
    return n;
}

static bool begins_core(const struct topo *topo, uint32_t row)
{
    return row == 0 || topo_core(topo, row) != topo_core(topo, row - 1);
}

static size_t cell_width(const struct topo *topo, char *const *cells)
{
    size_t width = 1;
    for (uint32_t row = 0; row < topo->npus; row++)
        if (begins_core(topo, row) && strlen(cells[row]) > width)
            width = strlen(cells[row]);
    return width;
}

/* A page of lines that are broken before they get too long. */
struct page {
    struct buf *out;
    size_t line;   /* where the line at hand begins in out */
    size_t indent; /* of lines that go on */
    size_t words;  /* on this line so far */
    size_t most;   /* words that a line takes, so that lines come out equal */
};

static size_t page_column(const struct page *page)
{
    return page->out->len - page->line;
}

static void page_newline(struct page *page, size_t indent)
{
    buf_add_char(page->out, '\n');
    page->line = page->out->len;
    buf_printf(page->out, "%*s", (int)indent, "");
    page->words = 0;
}

static void page_word(struct page *page, const char *word, const char *before)
{
    if (page->words && (page->words >= page->most ||
                        page_column(page) + strlen(before) + strlen(word) > DRAW_WIDTH))
        page_newline(page, page->indent);
    buf_printf(page->out, "%s%s", page->words ? before : "", word);
    page->words++;
}

/* For so many words of this length, each with its blanks: as many lines as it takes, evenly. */
static void page_spread(struct page *page, size_t words, size_t len)
{
    size_t room = DRAW_WIDTH > page->indent ? DRAW_WIDTH - page->indent : 1;
    size_t most = room / len ? room / len : 1, lines = (words + most - 1) / most;
    page->most = lines ? (words + lines - 1) / lines : 1;
}

static size_t count_cores(const struct topo *topo, uint32_t first, uint32_t end)
{
    return end > first ? topo_core(topo, end - 1) - topo_core(topo, first) + 1 : 0;
}

/* Too long for any line: broken between cells, which stay aligned. */
static void draw_long_box(struct page *page, const struct topo *topo, const char *label,
                          char *const *cells, uint32_t first, uint32_t end, size_t width)
{
    size_t indent = page->indent, most = page->most;
    if (page->words)
        page_newline(page, page->indent);
    buf_printf(page->out, "%s%s[ ", label, *label ? " " : "");
    page->indent += strlen(label) + (*label ? 3 : 2);
    page_spread(page, count_cores(topo, first, end), width + 1);
    for (uint32_t row = first; row < end; row++) {
        if (!begins_core(topo, row))
            continue;
        char *cell = mem_format("%*s", (int)width, cells[row]);
        page_word(page, cell, " ");
        free(cell);
    }
    buf_add_text(page->out, " ]");
    page->indent = indent;
    page->most = most;
}

/* The rows of one object of the innermost dividing level, as "label [ cell cell ]". */
static void draw_box(struct page *page, const struct topo *topo, const char *label,
                     char *const *cells, uint32_t first, uint32_t end, size_t width)
{
    struct buf box = BUF_INIT;
    buf_printf(&box, "%s%s[", label, *label ? " " : "");
    for (uint32_t row = first; row < end; row++)
        if (begins_core(topo, row))
            buf_printf(&box, " %*s", (int)width, cells[row]);
    buf_add_text(&box, " ]");
    if (page->indent + box.len <= DRAW_WIDTH)
        page_word(page, buf_text(&box), "  ");
    else
        draw_long_box(page, topo, label, cells, first, end, width);
    buf_free(&box);
}

static char *object_label(const struct topo *topo, enum topo_level level, uint32_t row)
{
    uint32_t widest = topo->count[level] - 1, id = topo->object[level][row];
    size_t digits = widest > 999 ? 4 : widest > 99 ? 3 : widest > 9 ? 2 : 1;
    if (id == TOPO_ABSENT)
        return mem_format("no %s%*s", level_label(level), (int)digits - 1, "");
    return mem_format("%s %*u", level_label(level), (int)digits, id);
}

static bool same_objects(const struct topo *topo, const enum topo_level *levels, size_t n,
                         uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < n; i++)
        if (topo->object[levels[i]][a] != topo->object[levels[i]][b])
            return false;
    return true;
}

/* A line for each set of outer objects; they stand in front of its boxes. */
static void start_line(struct page *page, const struct topo *topo, const enum topo_level *levels,
                       size_t nouter, uint32_t row, uint32_t indent)
{
    if (row > 0)
        buf_add_char(page->out, '\n');
    page->line = page->out->len;
    buf_printf(page->out, "%*s", (int)indent, "");
    for (size_t i = 0; i < nouter; i++) {
        char *label = object_label(topo, levels[i], row);
        buf_printf(page->out, "%s  ", label);
        free(label);
    }
    page->indent = page_column(page);
    page->words = 0;
}

/* How many boxes share the outer objects of this row. */
static size_t boxes_beside(const struct topo *topo, const enum topo_level *levels, size_t n,
                           uint32_t row)
{
    size_t boxes = 1;
    for (uint32_t i = row + 1; n && i < topo->npus && same_objects(topo, levels, n - 1, row, i);
         i++)
        boxes += !same_objects(topo, levels, n, i - 1, i);
    return boxes;
}

void draw_boxes(struct buf *out, const struct topo *topo, char *const *cells, uint32_t indent)
{
    enum topo_level levels[MAX_BOXES];
    size_t n = dividing_levels(topo, levels), nouter = n ? n - 1 : 0;
    size_t width = cell_width(topo, cells);
    struct page page = {.out = out};
    for (uint32_t row = 0, end; row < topo->npus; row = end) {
        for (end = row + 1; end < topo->npus && same_objects(topo, levels, n, row, end);)
            end++;
        char *label = n ? object_label(topo, levels[n - 1], row) : mem_copy_text("");
        if (row == 0 || !same_objects(topo, levels, nouter, row, row - 1)) {
            start_line(&page, topo, levels, nouter, row, indent);
            page_spread(&page, boxes_beside(topo, levels, n, row),
                        strlen(label) + count_cores(topo, row, end) * (width + 1) + 6);
        }
        draw_box(&page, topo, label, cells, row, end, width);
        free(label);
    }
    buf_add_char(out, '\n');
}

void draw_summary(struct buf *out, const struct topo *topo)
{
    static const struct {
        enum topo_level level;
        const char *one;
    } levels[] = {{TOPO_BOARD, "board"},
                  {TOPO_SOCKET, "socket"},
                  {TOPO_NUMA, "NUMA domain"},
                  {TOPO_L3, "L3 cache"},
                  {TOPO_L2, "L2 cache"},
                  {TOPO_CORE, "core"},
                  {TOPO_HWTHREAD, "hardware thread"}};
    const char *between = "";
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        uint32_t count = topo->count[levels[i].level];
        if (!count)
            continue;
        buf_printf(out, "%s%u %s%s", between, count, levels[i].one, count == 1 ? "" : "s");
        between = ", ";
    }
}

void draw_where(struct buf *out, const struct topo *topo, const struct idset *cores)
{
    enum topo_level levels[MAX_BOXES];
    size_t n = dividing_levels(topo, levels);
    for (size_t i = 0; i < n; i++) {
        struct idset *objects = idset_new();
        for (uint32_t row = 0; row < topo->npus; row++)
            if (topo->object[levels[i]][row] != TOPO_ABSENT &&
                idset_has(cores, topo_core(topo, row)))
                idset_add(objects, topo->object[levels[i]][row]);
        char *text = idset_encode(objects);
        buf_printf(out, "%s%s %s", i ? ", " : "", level_label(levels[i]), *text ? text : "-");
        free(text);
        idset_free(objects);
    }
}

void draw_columns(struct buf *out, char *const *columns, const size_t *widths, size_t n)
{
    buf_add_text(out, "  ");
    for (size_t i = 0; i < n; i++)
        if (i + 1 < n)
            buf_printf(out, "%-*s  ", (int)widths[i], columns[i]);
        else
            buf_add_text(out, columns[i]);
    while (out->len && buf_text(out)[out->len - 1] == ' ')
        out->len--;
    buf_add_char(out, '\n');
}
