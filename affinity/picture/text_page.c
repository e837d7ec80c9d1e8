/* Lines of the text picture: wrapped text, and a machine as brackets that are broken where a line ends. */
#include "affinity/picture/text_page.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/boxes.h"
#include "affinity/picture/cells.h"
#include "affinity/picture/node_groups.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- text ---- */

void draw_wrapped(struct buf *out, const char *text, uint32_t indent)
{
    for (uint32_t more = 0; *text; more = 2) {
        /* Break behind the last comma or semicolon that fits, else behind the first. */
        size_t room = PICTURE_WIDTH - indent - more, len = strlen(text), cut = 0;
        for (size_t at = 1; len > room && at < len && (at <= room || !cut); at++)
            if (text[at] == ' ' && strchr(",;:", text[at - 1]))
                cut = at;
        len = cut ? cut : len;
        buf_printf(out, "%*s%.*s\n", (int)(indent + more), "", (int)len, text);
        text += len + (text[len] == ' ');
    }
}

void draw_others(struct buf *out, const struct drawing *drawing, const struct node_group *look)
{
    char *text = drawing_others(drawing, look);
    draw_wrapped(out, text, 2);
    free(text);
}

void draw_rest(struct buf *out, const struct drawing *drawing)
{
    uint32_t left = 0;
    for (uint32_t i = PICTURE_MAX_LOOKS; i < drawing->nlooks; i++)
        left += drawing->looks[i].count;
    if (left)
        buf_printf(out, "  and %u more node%s, of %u other kinds; --format=json has all\n", left,
                   text_plural(left), drawing->nlooks - PICTURE_MAX_LOOKS);
}

/* ---- a machine as brackets ---- */

/* A page of lines that are broken before they get too long. */
struct page {
    struct buf *out;
    size_t line;   /* where the line at hand begins in out */
    size_t indent; /* of lines that go on */
    size_t words;  /* on this line so far */
    size_t most;   /* words that a line takes, so that lines come out equal */
};

/* What stands still while a machine is drawn. */
struct frame {
    const struct boxes *boxes;
    enum topo_level levels[PICTURE_MAX_LEVELS];
    size_t nlevels, nouter; /* the innermost are brackets, those around them stand in front */
    bool l2;
    size_t cell; /* width of one */
    size_t tail; /* width of the widest */
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
                        page_column(page) + strlen(before) + strlen(word) > PICTURE_WIDTH))
        page_newline(page, page->indent);
    buf_printf(page->out, "%s%s", page->words ? before : "", word);
    page->words++;
}

/* For so many words of this length, each with its blanks: as many lines as it takes, all of them
 * full where a few words less in each make it so. */
static void page_spread(struct page *page, size_t words, size_t len)
{
    size_t room = PICTURE_WIDTH > page->indent ? PICTURE_WIDTH - page->indent : 1;
    size_t most = room / len ? room / len : 1, lines = (words + most - 1) / most;
    page->most = lines ? (words + lines - 1) / lines : 1;
    for (size_t even = page->most; even > page->most / 2; even--)
        if (words % even == 0) {
            page->most = even;
            return;
        }
}

/* The cores around one L2, or one core. */
static uint32_t group_end(const struct frame *frame, uint32_t row, uint32_t end)
{
    const struct topo *topo = frame->boxes->topo;
    const uint32_t *l2 = topo->object[TOPO_L2];
    uint32_t at = row + 1;
    while (at < end && (!levels_begin_core(topo, at) ||
                        (frame->l2 && l2[at] != TOPO_ABSENT && l2[at] == l2[row])))
        at++;
    return at;
}

static char *group_text(const struct frame *frame, uint32_t row, uint32_t end)
{
    struct buf out = BUF_INIT;
    for (; row < end; row++)
        if (levels_begin_core(frame->boxes->topo, row))
            buf_printf(&out, "%s%*s", out.len ? " " : "", (int)frame->cell,
                       frame->boxes->cells[row]);
    return buf_take_text(&out);
}

static const char *box_tail(const struct frame *frame, uint32_t row)
{
    return frame->boxes->tails && frame->boxes->tails[row] ? frame->boxes->tails[row] : "";
}

/* Too long for any line: broken between groups of cores. */
static void draw_long_box(struct page *page, const struct frame *frame, const char *label,
                          uint32_t first, uint32_t end)
{
    size_t indent = page->indent, most = page->most, groups = 0, longest = 1;
    const char *between = frame->l2 ? " | " : " ";
    if (page->words)
        page_newline(page, page->indent);
    buf_printf(page->out, "%s%s[ ", label, *label ? " " : "");
    page->indent += strlen(label) + (*label ? 3 : 2);
    for (uint32_t row = first; row < end; row = group_end(frame, row, end), groups++) {
        char *text = group_text(frame, row, group_end(frame, row, end));
        longest = strlen(text) > longest ? strlen(text) : longest;
        free(text);
    }
    page_spread(page, groups, longest + strlen(between));
    for (uint32_t row = first, next; row < end; row = next) {
        next = group_end(frame, row, end);
        char *text = group_text(frame, row, next);
        page_word(page, text, between);
        free(text);
    }
    buf_printf(page->out, " ]%s", box_tail(frame, first));
    page->indent = indent;
    page->most = most;
    page->words = 1;
}

static void add_box(struct buf *out, const struct frame *frame, const char *label, uint32_t first,
                    uint32_t end)
{
    const char *between = "";
    buf_printf(out, "%s%s[ ", label, *label ? " " : "");
    for (uint32_t row = first, next; row < end; row = next) {
        next = group_end(frame, row, end);
        char *text = group_text(frame, row, next);
        buf_printf(out, "%s%s", between, text);
        between = frame->l2 ? " | " : " ";
        free(text);
    }
    buf_printf(out, " ]%-*s", (int)frame->tail, box_tail(frame, first));
}

/* A line for each set of outer objects; they stand in front of its boxes. What the line before
 * already says is left out. */
static void start_line(struct page *page, const struct frame *frame, uint32_t row)
{
    const struct topo *topo = frame->boxes->topo;
    size_t said = 0;
    while (row > 0 && said < frame->nouter &&
           levels_same(topo, frame->levels, said + 1, row, row - 1))
        said++;
    page->indent = 0;
    if (row > 0)
        page_newline(page, 0);
    page->line = page->out->len;
    buf_printf(page->out, "%*s", (int)frame->boxes->indent, "");
    for (size_t i = 0; i < frame->nouter; i++) {
        char *label = levels_label(topo, frame->levels[i], row, true);
        if (i < said)
            buf_printf(page->out, "%*s", (int)strlen(label), "");
        else
            buf_add_text(page->out, label);
        buf_add_text(page->out, "  ");
        free(label);
    }
    page->indent = page_column(page);
    page->words = 0;
}

static uint32_t text_page_box_end(const struct frame *frame, uint32_t row)
{
    const struct topo *topo = frame->boxes->topo;
    uint32_t end = row + 1;
    while (end < topo->npus && levels_same(topo, frame->levels, frame->nlevels, row, end))
        end++;
    return end;
}

/* How many boxes share the outer objects of this row, and how long the longest is. */
static size_t boxes_beside(const struct frame *frame, uint32_t row, size_t *longest)
{
    const struct topo *topo = frame->boxes->topo;
    size_t boxes = 0;
    *longest = 1;
    for (uint32_t at = row, end;
         at < topo->npus && levels_same(topo, frame->levels, frame->nouter, row, at);
         at = end, boxes++) {
        struct buf box = BUF_INIT;
        end = text_page_box_end(frame, at);
        add_box(&box, frame, "", at, end);
        *longest = box.len > *longest ? box.len : *longest;
        buf_free(&box);
    }
    return boxes;
}

static struct frame make_frame(const struct boxes *boxes)
{
    struct frame frame = {.boxes = boxes, .l2 = levels_have_l2(boxes->topo), .cell = 1};
    frame.nlevels = levels_dividing(boxes->topo, frame.levels);
    frame.nouter = frame.nlevels ? frame.nlevels - 1 : 0;
    for (uint32_t row = 0; row < boxes->topo->npus; row++) {
        if (levels_begin_core(boxes->topo, row) && strlen(boxes->cells[row]) > frame.cell)
            frame.cell = strlen(boxes->cells[row]);
        if (strlen(box_tail(&frame, row)) > frame.tail)
            frame.tail = strlen(box_tail(&frame, row));
    }
    return frame;
}

static void trim_lines(struct buf *out, size_t from)
{
    struct buf clean = BUF_INIT;
    const char *line = buf_text(out) + from;
    while (*line) {
        size_t len = strcspn(line, "\n"), kept = len;
        while (kept && line[kept - 1] == ' ')
            kept--;
        buf_add(&clean, line, kept);
        buf_add_char(&clean, '\n');
        line += len + (line[len] == '\n');
    }
    out->len = from;
    buf_add_text(out, buf_text(&clean));
    buf_free(&clean);
}

void draw_boxes(struct buf *out, const struct boxes *boxes)
{
    struct frame frame = make_frame(boxes);
    const struct topo *topo = boxes->topo;
    struct page page = {.out = out};
    size_t from = out->len;
    for (uint32_t row = 0, end; row < topo->npus; row = end) {
        end = text_page_box_end(&frame, row);
        char *label = frame.nlevels ? levels_label(topo, frame.levels[frame.nlevels - 1], row, true)
                                    : mem_copy_text("");
        if (row == 0 || !levels_same(topo, frame.levels, frame.nouter, row, row - 1)) {
            size_t longest;
            start_line(&page, &frame, row);
            size_t beside = boxes_beside(&frame, row, &longest);
            page_spread(&page, beside, longest + strlen(label) + 3);
        }
        /* The rows of one object of the innermost dividing level, as "label [ cell cell ]". */
        struct buf box = BUF_INIT;
        add_box(&box, &frame, label, row, end);
        if (page.indent + box.len <= PICTURE_WIDTH)
            page_word(&page, buf_text(&box), "  ");
        else
            draw_long_box(&page, &frame, label, row, end);
        buf_free(&box);
        free(label);
    }
    trim_lines(out, from);
}
