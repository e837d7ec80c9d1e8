/* The levels that divide a machine into boxes, and what of them holds given cores. */
#include "affinity/picture/boxes.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/text_page.h"
#include "affinity/sets/short_text.h"
#include "affinity/topology/topo.h"
#include "base/mem.h"

/* The outermost of equal ones first. */
static const enum topo_level box_levels[PICTURE_MAX_LEVELS] = {TOPO_BOARD, TOPO_SOCKET, TOPO_NUMA,
                                                               TOPO_L3};

size_t levels_dividing(const struct topo *topo, enum topo_level *levels)
{
    size_t n = 0;
    for (size_t i = 0; i < PICTURE_MAX_LEVELS; i++) {
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

bool levels_have_l2(const struct topo *topo)
{
    enum topo_level levels[PICTURE_MAX_LEVELS];
    size_t n = levels_dividing(topo, levels);
    uint32_t boxes = n ? topo->count[levels[n - 1]] : 1;
    uint32_t cores = topo->npus ? topo_core(topo, topo->npus - 1) + 1 : 0;
    return topo->count[TOPO_L2] > boxes && topo->count[TOPO_L2] < cores;
}

bool levels_same(const struct topo *topo, const enum topo_level *levels, size_t n, uint32_t a,
                 uint32_t b)
{
    for (size_t i = 0; i < n; i++)
        if (topo->object[levels[i]][a] != topo->object[levels[i]][b])
            return false;
    return true;
}

static const char *level_word(enum topo_level level)
{
    return level == TOPO_L3 ? "L3" : topo_level_name(level);
}

char *levels_label(const struct topo *topo, enum topo_level level, uint32_t row, bool pad)
{
    uint32_t widest = topo->count[level] - 1, id = topo->object[level][row];
    int digits = !pad            ? 1
                 : widest > 9999 ? 5
                 : widest > 999  ? 4
                 : widest > 99   ? 3
                                 : 1 + (widest > 9);
    if (id == TOPO_ABSENT)
        return mem_format("no %s%*s", level_word(level), digits - 1, "");
    return mem_format("%s %*u", level_word(level), digits, id);
}

char *levels_where(const struct topo *topo, const struct idset *cores)
{
    struct buf out = BUF_INIT;
    enum topo_level levels[PICTURE_MAX_LEVELS];
    size_t n = levels_dividing(topo, levels);
    for (size_t i = 0; i < n; i++) {
        const uint32_t *object = topo->object[levels[i]];
        struct idset *objects = idset_new();
        for (uint32_t row = 0; row < topo->npus; row++)
            if (object[row] != TOPO_ABSENT && idset_has(cores, topo_core(topo, row)))
                idset_add(objects, object[row]);
        char *text = idset_encode_short(objects, 16);
        buf_printf(&out, "%s%s %s", i ? ", " : "", level_word(levels[i]), *text ? text : "-");
        free(text);
        idset_free(objects);
    }
    return buf_take_text(&out);
}

bool levels_begin_core(const struct topo *topo, uint32_t row)
{
    return row == 0 || topo_core(topo, row) != topo_core(topo, row - 1);
}

uint32_t levels_core_end(const struct topo *topo, uint32_t row)
{
    uint32_t end = row + 1;
    while (end < topo->npus && !levels_begin_core(topo, end))
        end++;
    return end;
}
