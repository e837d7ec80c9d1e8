#include <stdlib.h>

#include "affinity/layout/draw.h"
#include "base/mem.h"

const struct layout_node *drawing_node(const struct drawing *drawing, uint32_t node)
{
    return &drawing->request->nodes[drawing->layout->nodes[node].source];
}

const struct layout_task *drawing_task(const struct drawing *drawing, uint32_t node, uint32_t i)
{
    return &drawing->layout->tasks[drawing->ranks[drawing->at[node] + i]];
}

uint32_t drawing_rank(const struct drawing *drawing, uint32_t node, uint32_t i)
{
    return drawing->ranks[drawing->at[node] + i];
}

static void collect_ranks(struct drawing *drawing)
{
    const struct layout *layout = drawing->layout;
    drawing->ranks = mem_array(layout->ntasks, sizeof(*drawing->ranks));
    drawing->at = mem_array(layout->nnodes + 1ul, sizeof(*drawing->at));
    for (uint32_t node = 0; node < layout->nnodes; node++)
        drawing->at[node + 1] = drawing->at[node] + layout->nodes[node].ntasks;
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        drawing->ranks[drawing->at[task->node] + task->local_rank] = rank;
    }
}

static uint64_t look_hash(const struct drawing *drawing, uint32_t node)
{
    uint32_t n = drawing->layout->nodes[node].ntasks;
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++) {
        const struct layout_task *task = drawing_task(drawing, node, i);
        hash = (hash ^ task->place ^ (uint64_t)task->binding << 32) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool looks_alike(const struct drawing *drawing, uint32_t a, uint32_t b)
{
    const struct layout_node *x = drawing_node(drawing, a), *y = drawing_node(drawing, b);
    uint32_t n = drawing->layout->nodes[a].ntasks;
    if (x->topo != y->topo || n != drawing->layout->nodes[b].ntasks ||
        !idset_equal(x->cores, y->cores))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct layout_task *s = drawing_task(drawing, a, i), *t = drawing_task(drawing, b, i);
        if (s->place != t->place || s->binding != t->binding || s->app != t->app)
            return false;
    }
    return true;
}

static bool ranks_shift(const struct drawing *drawing, uint32_t a, uint32_t b, int64_t shift)
{
    for (uint32_t i = 0; i < drawing->layout->nodes[a].ntasks; i++)
        if ((int64_t)drawing->ranks[drawing->at[b] + i] - drawing->ranks[drawing->at[a] + i] !=
            shift)
            return false;
    return true;
}

static void look_join(const struct drawing *drawing, struct look *look, uint32_t node)
{
    int64_t shift =
        (int64_t)drawing->ranks[drawing->at[node]] - drawing->ranks[drawing->at[look->last]];
    if (look->count == 1)
        look->shift = shift;
    look->shifted =
        look->shifted && shift == look->shift && ranks_shift(drawing, look->last, node, shift);
    look->last = node;
    look->count++;
    hostlist_append(look->others, drawing_node(drawing, node)->host);
}

static void collect_looks(struct drawing *drawing)
{
    uint32_t nnodes = drawing->layout->nnodes;
    drawing->looks = mem_array(nnodes, sizeof(*drawing->looks));
    for (uint32_t node = 0; node < nnodes; node++) {
        uint64_t hash = look_hash(drawing, node);
        uint32_t i = 0;
        while (i < drawing->nlooks && (drawing->looks[i].hash != hash ||
                                       !looks_alike(drawing, drawing->looks[i].first, node)))
            i++;
        if (i < drawing->nlooks) {
            look_join(drawing, &drawing->looks[i], node);
            continue;
        }
        drawing->looks[drawing->nlooks++] =
            (struct look){node, node, hash, 1, true, 0, hostlist_new()};
    }
}

void drawing_fold(struct drawing *drawing)
{
    collect_ranks(drawing);
    collect_looks(drawing);
}

/* "node[1-3]: as node0, with ranks 32 higher from node to node" */
void drawing_draw_others(struct drawing *drawing, const struct look *look)
{
    if (look->count == 1)
        return;
    char *hosts = hostlist_encode(look->others);
    buf_printf(&drawing->out, "  %s: as %s", hosts, drawing_node(drawing, look->first)->host);
    if (look->shifted)
        buf_printf(&drawing->out, ", ranks %lld higher%s", (long long)look->shift,
                   look->count > 2 ? " from node to node" : "");
    buf_add_char(&drawing->out, '\n');
    free(hosts);
}

void drawing_free(struct drawing *drawing)
{
    for (uint32_t i = 0; i < drawing->nlooks; i++)
        hostlist_free(drawing->looks[i].others);
    free(drawing->looks);
    free(drawing->ranks);
    free(drawing->at);
}
