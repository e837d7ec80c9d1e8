/* What was allocated, and the machines: nodes that were given the same of the same machine together. */
#include "affinity/picture/text_alloc.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/picture/boxes.h"
#include "affinity/picture/cells.h"
#include "affinity/picture/node_groups.h"
#include "affinity/picture/phrases.h"
#include "affinity/picture/text_page.h"
#include "affinity/sets/short_text.h"
#include "affinity/topology/topo.h"
#include "base/hash_table.h"
#include "base/mem.h"
#include "base/text.h"

struct grant { /* nodes that were allocated the same of the same machine */
    const struct layout_node *node;
    struct hostlist *hosts;
};

struct grants {
    struct grant *list;
    uint32_t n;
};

static bool same_grant(const void *owner, uint32_t number, const void *thing)
{
    const struct grants *grants = owner;
    return drawing_same_grant(grants->list[number].node, thing);
}

/* Each kind of grant once, in the order of its first node. */
static struct grants collect_grants(const struct layout_request *request)
{
    struct grants grants = {mem_array(request->nnodes, sizeof(*grants.list)), 0};
    struct hash_table table = {.count = 0};
    for (uint32_t i = 0; i < request->nnodes; i++) {
        const struct layout_node *node = &request->nodes[i];
        uint64_t hash = idset_hash(hash_table_hash(0, (uintptr_t)node->topo), node->cores);
        uint32_t number = hash_table_intern(&table, hash, same_grant, &grants, node);
        if (number == grants.n)
            grants.list[grants.n++] = (struct grant){node, hostlist_new()};
        hostlist_append(grants.list[number].hosts, node->host);
    }
    hash_table_free(&table);
    return grants;
}

static void draw_grants(struct buf *out, const struct drawing *drawing,
                        void (*draw)(struct buf *out, const struct grant *grant))
{
    struct grants grants = collect_grants(drawing->request);
    size_t left = drawing->request->nnodes;
    for (uint32_t i = 0; i < grants.n; i++) {
        if (i < PICTURE_MAX_LOOKS) {
            draw(out, &grants.list[i]);
            left -= hostlist_count(grants.list[i].hosts);
        }
        hostlist_free(grants.list[i].hosts);
    }
    if (left)
        buf_printf(out, "  and %zu more nodes, of %u other kinds\n", left,
                   grants.n - PICTURE_MAX_LOOKS);
    free(grants.list);
}

/* ---- alloc ---- */

static void draw_grant(struct buf *out, const struct grant *grant)
{
    const struct layout_node *node = grant->node;
    struct idset *all = topo_cores(node->topo);
    struct idset *cpus = topo_cpus_of_cores(node->topo, node->cores);
    char *hosts = hostlist_encode_short(grant->hosts, 60), *cores = idset_encode(node->cores);
    char *os = idset_encode(cpus);
    size_t have = idset_count(node->cores), total = idset_count(all);
    struct buf line = BUF_INIT;
    buf_printf(&line, "%s: ", hosts);
    if (have < total)
        buf_printf(&line, "%zu of %zu core%s", have, total, text_plural(total));
    else if (total > 1)
        buf_printf(&line, "all %zu cores", total);
    else
        buf_add_text(&line, "its only core");
    if (have)
        buf_printf(&line, ", %s (logical), cpu%s %s (OS)", cores, text_plural(idset_count(cpus)),
                   os);
    if (node->topo->ngpus || !idset_empty(node->gpus)) {
        char *gpus = node->gpus ? idset_encode(node->gpus) : mem_copy_text("");
        buf_printf(&line, ", gpus %s", *gpus ? gpus : "none");
        if (node->topo->ngpus)
            buf_printf(&line, " (of %zu)", node->topo->ngpus);
        free(gpus);
    }
    draw_wrapped(out, buf_text(&line), 2);
    buf_free(&line);
    free(hosts);
    free(cores);
    free(os);
    idset_free(all);
    idset_free(cpus);
}

void draw_alloc(struct buf *out, const struct drawing *drawing)
{
    const struct layout_request *request = drawing->request;
    uint64_t cores = 0;
    for (uint32_t i = 0; i < request->nnodes; i++)
        cores += idset_count(request->nodes[i].cores);
    buf_printf(out, "Allocated: %u node%s, %llu core%s\n", request->nnodes,
               text_plural(request->nnodes), (unsigned long long)cores, cores == 1 ? "" : "s");
    draw_grants(out, drawing, draw_grant);
}

/* ---- topo ---- */

/* How the OS numbers the threads of core c: step * c + offset[thread]. */
struct numbering {
    uint32_t threads, step;
    const uint32_t *offset;
};

/* False where there is no such rule. */
static bool find_numbering(const struct topo *topo, struct numbering *rule)
{
    rule->threads = levels_core_end(topo, 0);
    rule->offset = topo->os;
    rule->step = 1;
    if (rule->threads < topo->npus)
        rule->step = topo->os[rule->threads] - topo->os[0];
    if (topo->npus % rule->threads)
        return false;
    for (uint32_t row = 0; row < topo->npus; row++) {
        uint32_t core = row / rule->threads;
        if (topo_core(topo, row) != core || rule->step > TOPO_MAX_PUS ||
            topo->os[row] != rule->offset[row % rule->threads] + rule->step * core)
            return false;
    }
    return true;
}

static void say_numbering(struct buf *out, const struct topo *topo, const struct numbering *rule)
{
    struct buf line = BUF_INIT;
    if (topo_core(topo, topo->npus - 1) == 0) {
        buf_add_text(&line, "in [ ] the core's logical number, then its cpus as the OS has them");
    } else if (rule->threads == 1 && rule->step == 1 && rule->offset[0] == 0) {
        buf_add_text(&line, "in [ ] logical core numbers; core c is cpu c of the OS");
    } else {
        buf_printf(&line, "in [ ] logical core numbers; core c is cpu%s",
                   text_plural(rule->threads));
        for (uint32_t i = 0; i < rule->threads; i++) {
            buf_add_text(&line, i == 0 ? " " : i + 1 < rule->threads ? ", " : " and ");
            if (rule->step > 1)
                buf_printf(&line, "%u", rule->step);
            buf_add_char(&line, 'c');
            if (rule->offset[i])
                buf_printf(&line, "+%u", rule->offset[i]);
        }
        buf_add_text(&line, " of the OS");
    }
    draw_wrapped(out, buf_text(&line), 4);
    buf_free(&line);
}

/* "12", or "12:24+25" with the core's cpus. */
static char *core_cell(const struct topo *topo, uint32_t row, bool allocated, bool cpus)
{
    struct buf cell = BUF_INIT;
    if (!allocated)
        return mem_copy_text("-");
    buf_printf(&cell, "%u", topo_core(topo, row));
    uint32_t end = levels_core_end(topo, row);
    for (uint32_t i = row; i < end && cpus; i++)
        buf_printf(&cell, "%s%u", i == row ? ":" : "+", topo->os[i]);
    return buf_take_text(&cell);
}

/* " cpus 0-7" behind each box, by the row that it begins at. */
static char **box_tails(const struct topo *topo)
{
    enum topo_level levels[PICTURE_MAX_LEVELS];
    size_t n = levels_dividing(topo, levels);
    char **tails = mem_array(topo->npus, sizeof(*tails));
    for (uint32_t row = 0, end; row < topo->npus; row = end) {
        struct idset *cpus = idset_new();
        for (end = row; end < topo->npus && levels_same(topo, levels, n, row, end); end++)
            idset_add(cpus, topo->os[end]);
        char *set = idset_encode_short(cpus, 24);
        tails[row] = mem_format(" cpu%s %s", text_plural(idset_count(cpus)), set);
        free(set);
        idset_free(cpus);
    }
    return tails;
}

static void free_texts(char **texts, uint32_t n)
{
    for (uint32_t i = 0; texts && i < n; i++)
        free(texts[i]);
    free(texts);
}

static void text_alloc_draw_cores(struct buf *out, const struct layout_node *node)
{
    const struct topo *topo = node->topo;
    struct numbering rule;
    bool ruled = find_numbering(topo, &rule);
    bool plain = ruled && rule.threads == 1 && rule.step == 1 && rule.offset[0] == 0;
    bool single = topo_core(topo, topo->npus - 1) == 0;
    char **cells = mem_array(topo->npus, sizeof(*cells));
    char **tails = ruled && (!plain || single) ? box_tails(topo) : NULL;
    for (uint32_t row = 0; row < topo->npus; row++)
        if (levels_begin_core(topo, row))
            cells[row] = core_cell(topo, row, idset_has(node->cores, topo_core(topo, row)), !ruled);
    if (ruled)
        say_numbering(out, topo, &rule);
    else
        draw_wrapped(out, "in [ ] each core's logical number, a colon, its cpus as the OS has them",
                     4);
    draw_boxes(out, &(struct boxes){topo, cells, tails, 4});
    free_texts(cells, topo->npus);
    free_texts(tails, topo->npus);
}

/* "gpu 0 (cuda0): beside socket 0, numa 1" */
static void draw_gpus(struct buf *out, const struct layout_node *node)
{
    const struct topo *topo = node->topo;
    for (size_t i = 0; i < topo->ngpus && i < PICTURE_MAX_LOOKS; i++) {
        const struct topo_gpu *gpu = &topo->gpus[i];
        bool ours = node->gpus && idset_has(node->gpus, gpu->id);
        struct idset *cores = idset_new();
        for (uint32_t row = 0; row < topo->npus; row++)
            if (idset_has(gpu->cpus, topo->os[row]))
                idset_add(cores, topo_core(topo, row));
        char *where = levels_where(topo, cores), *set = idset_encode_short(cores, 24);
        buf_printf(out, "    gpu %u (%s): beside ", gpu->id, gpu->name);
        if (idset_empty(cores))
            buf_add_text(out, "no core");
        else
            buf_printf(out, "%s%scores %s (logical)", where, *where ? ", " : "", set);
        buf_printf(out, "%s\n", ours ? "" : "; not allocated");
        free(where);
        free(set);
        idset_free(cores);
    }
    if (topo->ngpus > PICTURE_MAX_LOOKS)
        buf_printf(out, "    and %zu more gpus\n", topo->ngpus - PICTURE_MAX_LOOKS);
    if (topo->ngpus || idset_empty(node->gpus))
        return;
    char *set = idset_encode_short(node->gpus, 60);
    buf_printf(out, "    gpu%s %s: in this node, beside which cores is not known\n",
               text_plural(idset_count(node->gpus)), set);
    free(set);
}

static void draw_machine(struct buf *out, const struct grant *grant)
{
    const struct topo *topo = grant->node->topo;
    char *hosts = hostlist_encode_short(grant->hosts, 60), *machine = phrase_machine(topo);
    char *line = mem_format("%s: %s", hosts, machine);
    struct idset *all = topo_cores(topo);
    draw_wrapped(out, line, 2);
    if (idset_count(all) > PICTURE_MAX_CORES)
        buf_printf(out, "    more than %d cores are not drawn\n", PICTURE_MAX_CORES);
    else
        text_alloc_draw_cores(out, grant->node);
    draw_gpus(out, grant->node);
    idset_free(all);
    free(line);
    free(hosts);
    free(machine);
}

void draw_topo(struct buf *out, const struct drawing *drawing)
{
    const struct layout_request *request = drawing->request;
    bool all = true;
    for (uint32_t i = 0; i < request->nnodes; i++) {
        const struct topo *topo = request->nodes[i].topo;
        all = all && idset_count(request->nodes[i].cores) > topo_core(topo, topo->npus - 1);
    }
    buf_printf(out, "Topology%s\n", all ? "" : " (- is a core that is not allocated)");
    draw_grants(out, drawing, draw_machine);
}
