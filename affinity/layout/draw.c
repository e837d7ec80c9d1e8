#include "affinity/layout/draw.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- alloc ---- */

#define GRANTS_BACK 256 /* how far an equal one is looked for */

struct grant { /* nodes that were allocated the same of the same machine */
    const struct layout_node *node;
    struct hostlist *hosts;
};

static void draw_grant(struct buf *out, const struct grant *grant)
{
    struct idset *all = topo_cores(grant->node->topo);
    struct idset *cpus = topo_cpus_of_cores(grant->node->topo, grant->node->cores);
    char *hosts = hostlist_encode(grant->hosts), *cores = idset_encode(grant->node->cores);
    char *have = idset_encode(all), *os = idset_encode(cpus);
    buf_printf(out, "  %s: cores %s of %s (logical), cpus %s (OS)", hosts, *cores ? cores : "none",
               have, *os ? os : "none");
    if (grant->node->gpus && !idset_empty(grant->node->gpus)) {
        char *gpus = idset_encode(grant->node->gpus);
        buf_printf(out, ", gpus %s", gpus);
        free(gpus);
    }
    buf_add_char(out, '\n');
    free(hosts);
    free(cores);
    free(have);
    free(os);
    idset_free(all);
    idset_free(cpus);
}

static bool same_grant(const struct layout_node *a, const struct layout_node *b)
{
    bool gpus = a->gpus == b->gpus || (a->gpus && b->gpus && idset_equal(a->gpus, b->gpus));
    return gpus && a->topo == b->topo && (a->cores == b->cores || idset_equal(a->cores, b->cores));
}

static struct grant *find_grant(struct grant *grants, uint32_t n, const struct layout_node *node)
{
    uint32_t end = n > GRANTS_BACK ? n - GRANTS_BACK : 0;
    for (uint32_t i = n; i > end; i--)
        if (same_grant(grants[i - 1].node, node))
            return &grants[i - 1];
    return NULL;
}

/* Each kind of grant once, in the order of its first node. */
static void draw_grants(struct drawing *drawing,
                        void (*draw)(struct buf *out, const struct grant *grant))
{
    const struct layout_request *request = drawing->request;
    struct grant *grants = mem_array(request->nnodes, sizeof(*grants));
    uint32_t n = 0;
    for (uint32_t i = 0; i < request->nnodes; i++) {
        struct grant *grant = find_grant(grants, n, &request->nodes[i]);
        if (!grant) {
            grant = &grants[n++];
            *grant = (struct grant){&request->nodes[i], hostlist_new()};
        }
        hostlist_append(grant->hosts, request->nodes[i].host);
    }
    for (uint32_t i = 0; i < n; i++) {
        draw(&drawing->out, &grants[i]);
        hostlist_free(grants[i].hosts);
    }
    free(grants);
}

static void draw_alloc(struct drawing *drawing)
{
    buf_printf(&drawing->out, "Allocated: %u node%s\n", drawing->request->nnodes,
               drawing->request->nnodes == 1 ? "" : "s");
    draw_grants(drawing, draw_grant);
}

/* ---- topo ---- */

static char *core_cell(const struct topo *topo, uint32_t row, bool allocated)
{
    struct buf cell = BUF_INIT;
    uint32_t core = topo_core(topo, row);
    if (allocated)
        buf_printf(&cell, "%u", core);
    else
        buf_add_char(&cell, '-');
    const char *before = ":";
    for (; row < topo->npus && topo_core(topo, row) == core && allocated; row++, before = "+")
        buf_printf(&cell, "%s%u", before, topo->os[row]);
    return buf_take_text(&cell);
}

static void free_cells(char **cells, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        free(cells[i]);
    free(cells);
}

static void draw_machine(struct buf *out, const struct grant *grant)
{
    const struct layout_node *node = grant->node;
    const struct topo *topo = node->topo;
    char **cells = mem_array(topo->npus, sizeof(*cells)), *names = hostlist_encode(grant->hosts);
    for (uint32_t row = 0; row < topo->npus; row++)
        if (row == 0 || topo_core(topo, row) != topo_core(topo, row - 1))
            cells[row] = core_cell(topo, row, idset_has(node->cores, topo_core(topo, row)));
    buf_printf(out, "  %s: ", names);
    draw_summary(out, topo);
    buf_add_char(out, '\n');
    draw_boxes(out, topo, cells, 4);
    free(names);
    free_cells(cells, topo->npus);
}

static void draw_topo(struct drawing *drawing)
{
    buf_add_text(&drawing->out, "Topology: cores as LOGICAL:OS, their own number and their cpus'; "
                                "- is not allocated\n");
    draw_grants(drawing, draw_machine);
}

/* ---- map ---- */

/* What stands at each thread of a core, "0/16"; trailing idle threads are left out. */
static char *rank_cell(const struct topo *topo, uint32_t row, char *const *at_row, bool allocated)
{
    struct buf cell = BUF_INIT;
    uint32_t core = topo_core(topo, row), last = row;
    bool any = false;
    for (uint32_t i = row; i < topo->npus && topo_core(topo, i) == core; i++)
        if (at_row[i]) {
            last = i;
            any = true;
        }
    for (uint32_t i = row; i <= last && any; i++)
        buf_printf(&cell, "%s%s", i > row ? "/" : "", at_row[i] ? at_row[i] : ".");
    if (!any)
        buf_add_char(&cell, allocated ? '.' : '-');
    return buf_take_text(&cell);
}

/* The ranks whose place is each row: "3", or "3,7"; many are counted instead. */
static char **rank_texts(const struct drawing *drawing, uint32_t node)
{
    const struct topo *topo = drawing_node(drawing, node)->topo;
    struct idset **sets = mem_array(topo->npus, sizeof(struct idset *));
    char **texts = mem_array(topo->npus, sizeof(*texts));
    for (uint32_t i = 0; i < drawing->layout->nodes[node].ntasks; i++) {
        struct idset **set = &sets[drawing_task(drawing, node, i)->place];
        *set = *set ? *set : idset_new();
        idset_add(*set, drawing->ranks[drawing->at[node] + i]);
    }
    for (uint32_t row = 0; row < topo->npus; row++) {
        if (!sets[row])
            continue;
        texts[row] = idset_encode(sets[row]);
        if (strlen(texts[row]) > 16) {
            free(texts[row]);
            texts[row] = mem_format("%u*%zu", idset_first(sets[row]), idset_count(sets[row]));
        }
        idset_free(sets[row]);
    }
    free(sets);
    return texts;
}

static void draw_map_node(struct drawing *drawing, uint32_t node)
{
    const struct layout_node *source = drawing_node(drawing, node);
    const struct topo *topo = source->topo;
    char **texts = rank_texts(drawing, node), **cells = mem_array(topo->npus, sizeof(*cells));
    for (uint32_t row = 0; row < topo->npus; row++)
        if (row == 0 || topo_core(topo, row) != topo_core(topo, row - 1))
            cells[row] =
                rank_cell(topo, row, texts, idset_has(source->cores, topo_core(topo, row)));
    buf_printf(&drawing->out, "  %s: %u task%s\n", source->host,
               drawing->layout->nodes[node].ntasks,
               drawing->layout->nodes[node].ntasks == 1 ? "" : "s");
    draw_boxes(&drawing->out, topo, cells, 4);
    free_cells(cells, topo->npus);
    free_cells(texts, topo->npus);
}

static void draw_map(struct drawing *drawing)
{
    buf_printf(
        &drawing->out,
        "Map: %u task%s on %u node%s%s; ranks by core (a/b: on its first, second cpu; . idle; "
        "- not allocated)\n",
        drawing->layout->ntasks, drawing->layout->ntasks == 1 ? "" : "s", drawing->layout->nnodes,
        drawing->layout->nnodes == 1 ? "" : "s",
        drawing->layout->oversubscribed ? ", oversubscribed" : "");
    for (uint32_t i = 0; i < drawing->nlooks; i++) {
        draw_map_node(drawing, drawing->looks[i].first);
        drawing_draw_others(drawing, &drawing->looks[i]);
    }
}

char *layout_draw(const struct layout *layout, const struct layout_request *request, unsigned what)
{
    static const struct {
        unsigned what;
        void (*draw)(struct drawing *drawing);
    } parts[] = {{LAYOUT_SHOW_ALLOC, draw_alloc},
                 {LAYOUT_SHOW_TOPO, draw_topo},
                 {LAYOUT_SHOW_MAP, draw_map},
                 {LAYOUT_SHOW_BIND, draw_bind}};
    struct drawing drawing = {.out = BUF_INIT, .layout = layout, .request = request};
    drawing_fold(&drawing);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (what & parts[i].what)
            parts[i].draw(&drawing);
    drawing_free(&drawing);
    return buf_take_text(&drawing.out);
}
