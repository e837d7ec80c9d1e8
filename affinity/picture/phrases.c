/* Titles and words of both pictures, text and SVG. */
#include "affinity/picture/phrases.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/boxes.h"
#include "affinity/picture/node_groups.h"
#include "affinity/sets/short_text.h"
#include "base/mem.h"
#include "base/text.h"

#define MAX_PROGRAM 60 /* characters of a program's name */

char *phrase_machine(const struct topo *topo)
{
    static const struct {
        enum topo_level level;
        const char *one;
        uint32_t least; /* fewer need no mention */
    } levels[] = {{TOPO_BOARD, "board", 2},
                  {TOPO_SOCKET, "socket", 1},
                  {TOPO_NUMA, "NUMA domain", 2},
                  {TOPO_L3, "L3 cache", 2},
                  {TOPO_L2, "L2 cache", 2},
                  {TOPO_CORE, "core", 1},
                  {TOPO_HWTHREAD, "hardware thread", 1}};
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        uint32_t count = topo->count[levels[i].level];
        bool told = count >= levels[i].least;
        if (levels[i].level == TOPO_L2)
            told = levels_have_l2(topo);
        if (levels[i].level == TOPO_HWTHREAD)
            told = count > topo->count[TOPO_CORE];
        if (told)
            buf_printf(&out, "%s%u %s%s", out.len ? ", " : "", count, levels[i].one,
                       text_plural(count));
    }
    return buf_take_text(&out);
}

static const char *level_noun(enum topo_level level)
{
    static const char *const nouns[TOPO_NLEVELS] = {
        [TOPO_NODE] = "node",     [TOPO_BOARD] = "board", [TOPO_NUMA] = "NUMA domain",
        [TOPO_SOCKET] = "socket", [TOPO_L3] = "L3 cache", [TOPO_L2] = "L2 cache",
        [TOPO_L1] = "L1 cache",   [TOPO_CORE] = "core",   [TOPO_HWTHREAD] = "hardware thread",
    };
    return nouns[level];
}

static void say_binding(struct buf *out, const struct policy *policy)
{
    uint32_t count = policy->bind_count;
    if (policy->bind == POLICY_BIND_NONE) {
        buf_add_text(out, "not bound");
        return;
    }
    if (policy->bind_domain) {
        buf_add_text(out, "each bound to the domain of its GPUs");
        return;
    }
    if (policy->bind == POLICY_BIND_TOGETHER) {
        buf_add_text(out, "tasks of a node bound together");
        return;
    }
    if (policy->cores_per_task && policy->bind_level == TOPO_CORE)
        count *= policy->cores_per_task;
    if (count > 1)
        buf_printf(out, "each bound to %u %ss", count, level_noun(policy->bind_level));
    else
        buf_printf(out, "each bound to %s %s", *level_noun(policy->bind_level) == 'L' ? "an" : "a",
                   level_noun(policy->bind_level));
}

char *phrase_policy(const struct drawing *drawing, uint32_t part)
{
    const struct layout_part *asked = &drawing->request->parts[drawing->parts[part].owner];
    const struct policy *policy = &drawing->parts[part].policy;
    struct buf out = BUF_INIT;
    if (asked->rankfile)
        return mem_format("as rank file %.40s says", asked->rankfile->name);
    if (asked->slots)
        return mem_format("each bound to its slot of %.60s", asked->shape);
    if (policy_is_per_gpu(policy))
        buf_printf(&out, "%u per GPU, ", policy->per_count);
    else if (policy->per_count)
        buf_printf(&out, "%u per %s, ", policy->per_count, level_noun(policy->per_level));
    else
        buf_printf(&out, "by %s, ", asked->map ? asked->map : "slot");
    say_binding(&out, policy);
    if (asked->taskmap)
        buf_printf(&out, ", nodes by task map %.24s%s", asked->taskmap,
                   strlen(asked->taskmap) > 24 ? "..." : "");
    if (policy->sequential)
        buf_add_text(&out, ", in sequential order");
    if (asked->shape)
        buf_printf(&out, ", over what %.60s gives", asked->shape);
    return buf_take_text(&out);
}

const char *phrase_program(const char *program)
{
    size_t len = strlen(program);
    const char *slash = strrchr(program, '/');
    if (len > MAX_PROGRAM && slash && slash[1])
        program = slash + 1;
    len = strlen(program);
    return len > MAX_PROGRAM ? program + len - MAX_PROGRAM : program;
}

char *phrase_part(const struct drawing *drawing, uint32_t part)
{
    const char *program = drawing->request->parts[part].program;
    const struct part_view *ranks = &drawing->parts[part];
    struct buf out = BUF_INIT;
    buf_printf(&out, "part %u", part + 1);
    if (program)
        buf_printf(&out, ", %s", phrase_program(program));
    if (ranks->count > 1)
        buf_printf(&out, ": ranks %u-%u", ranks->first, ranks->first + ranks->count - 1);
    else
        buf_printf(&out, ": rank %u", ranks->first);
    return buf_take_text(&out);
}

char *phrase_ranks(const struct drawing *drawing, uint32_t node)
{
    struct idset *set = idset_new();
    uint32_t n = drawing->layout->nodes[node].ntasks;
    for (uint32_t i = 0; i < n; i++)
        idset_add(set, drawing_rank(drawing, node, i));
    char *ranks = idset_encode_short(set, 40);
    char *text = mem_format("%u task%s, rank%s %s", n, text_plural(n), text_plural(n), ranks);
    free(ranks);
    idset_free(set);
    return text;
}

char *phrase_title(const struct drawing *drawing)
{
    const struct layout *layout = drawing->layout;
    uint32_t nnodes = drawing->request->nnodes;
    struct buf out = BUF_INIT;
    buf_printf(&out, "%u task%s on %u", layout->ntasks, text_plural(layout->ntasks),
               layout->nnodes);
    if (nnodes > layout->nnodes)
        buf_printf(&out, " of %u", nnodes);
    buf_printf(&out, " node%s", text_plural(nnodes));
    if (layout->oversubscribed)
        buf_add_text(&out, ", oversubscribed");
    return buf_take_text(&out);
}
