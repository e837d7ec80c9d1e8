#include <stdlib.h>
#include <string.h>

#include "affinity/picture/internal.h"
#include "affinity/picture/picture.h"
#include "base/mem.h"
#include "base/text.h"

/* Where the text is broken: behind the last comma or semicolon before `room` characters, or behind
 * the first one there is. */
static size_t break_at(const char *text, size_t room)
{
    size_t cut = 0, len = strlen(text);
    if (len <= room)
        return len;
    for (size_t at = 1; at < len && (at <= room || !cut); at++)
        if (text[at] == ' ' && strchr(",;:", text[at - 1]))
            cut = at;
    return cut ? cut : len;
}

void draw_wrapped(struct buf *out, const char *text, uint32_t indent)
{
    for (uint32_t more = 0; *text; more = 2) {
        size_t len = break_at(text, PICTURE_WIDTH - indent - more);
        buf_printf(out, "%*s%.*s\n", (int)(indent + more), "", (int)len, text);
        text += len + (text[len] == ' ');
    }
}

void draw_others(struct drawing *drawing, const struct node_group *look)
{
    char *text = drawing_others(drawing, look);
    draw_wrapped(&drawing->out, text, 2);
    free(text);
}

void draw_rest(struct drawing *drawing)
{
    uint32_t left = 0;
    for (uint32_t i = PICTURE_MAX_LOOKS; i < drawing->nlooks; i++)
        left += drawing->looks[i].count;
    if (left)
        buf_printf(&drawing->out,
                   "  and %u more node%s, of %u other kinds; --format=json has all\n", left,
                   text_plural(left), drawing->nlooks - PICTURE_MAX_LOOKS);
}

char *picture_text(const struct layout *layout, const struct layout_request *request, unsigned what)
{
    static const struct {
        unsigned what;
        void (*draw)(struct drawing *drawing);
    } parts[] = {{LAYOUT_SHOW_ALLOC, draw_alloc},
                 {LAYOUT_SHOW_TOPO, draw_topo},
                 {LAYOUT_SHOW_MAP, draw_map},
                 {LAYOUT_SHOW_BIND, draw_bind}};
    struct drawing drawing = {
        .out = BUF_INIT, .layout = layout, .request = request, .folded = true};
    drawing_fold(&drawing);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (what & parts[i].what)
            parts[i].draw(&drawing);
    drawing_free(&drawing);
    return buf_take_text(&drawing.out);
}
