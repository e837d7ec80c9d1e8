/* The text picture: its sections, as far as they are asked for. */
#include "affinity/picture/picture.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/node_groups.h"
#include "affinity/picture/text_alloc.h"
#include "affinity/picture/text_bind.h"
#include "affinity/picture/text_map.h"
#include "base/mem.h"
#include "base/text.h"

char *picture_text(const struct layout *layout, const struct layout_request *request, unsigned what)
{
    static const struct {
        unsigned what;
        void (*draw)(struct buf *out, const struct drawing *drawing);
    } parts[] = {{LAYOUT_SHOW_ALLOC, draw_alloc},
                 {LAYOUT_SHOW_TOPO, draw_topo},
                 {LAYOUT_SHOW_MAP, draw_map},
                 {LAYOUT_SHOW_BIND, draw_bind}};
    struct buf out = BUF_INIT;
    struct drawing drawing;
    drawing_open(&drawing, layout, request, true);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (what & parts[i].what)
            parts[i].draw(&out, &drawing);
    drawing_close(&drawing);
    return buf_take_text(&out);
}
