#include "affinity/layout/kind.h"

#include <stdlib.h>

#include "base/mem.h"

uint32_t kind_core(const struct kind *kind, uint32_t row)
{
    return topo_core(kind->topo, kind->rows[row]);
}

struct idset *kind_cpus(const struct kind *kind, uint32_t first, uint32_t end)
{
    struct idset *set = idset_new();
    for (uint32_t row = first; row < end; row++)
        idset_add(set, kind->topo->os[kind->rows[row]]);
    return set;
}

struct idset *kind_cores(const struct kind *kind, uint32_t first, uint32_t end)
{
    struct idset *set = idset_new();
    for (uint32_t row = first; row < end; row++)
        if (row == first || kind->object[TOPO_CORE][row] != kind->object[TOPO_CORE][row - 1])
            idset_add(set, kind_core(kind, row));
    return set;
}

uint32_t kind_number(uint32_t *object, const uint64_t *tag, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        count += i == 0 || tag[i] != tag[i - 1];
        object[i] = count - 1;
    }
    return count;
}

/* What a row that a level lacks goes by instead: an object of `below`, or the node for NULL. */
static void number_level(struct kind *kind, enum topo_level level, const uint32_t *below,
                         uint64_t *tag)
{
    const uint32_t *object = kind->topo->object[level];
    for (uint32_t row = 0; row < kind->nrows; row++) {
        uint32_t id = object[kind->rows[row]];
        tag[row] = id != TOPO_ABSENT ? id : 1ull << 32 | (below ? below[row] : 0);
    }
    kind->object[level] = mem_array(kind->nrows, sizeof(*kind->object[level]));
    kind->count[level] = kind_number(kind->object[level], tag, kind->nrows);
}

static void number_levels(struct kind *kind)
{
    static const struct {
        enum topo_level level, below;
    } order[] = {
        {TOPO_HWTHREAD, TOPO_NODE}, {TOPO_CORE, TOPO_HWTHREAD}, {TOPO_L1, TOPO_CORE},
        {TOPO_L2, TOPO_L1},         {TOPO_L3, TOPO_L2},         {TOPO_NODE, TOPO_NODE},
        {TOPO_BOARD, TOPO_NODE},    {TOPO_NUMA, TOPO_NODE},     {TOPO_SOCKET, TOPO_NODE},
    };
    uint64_t *tag = mem_array(kind->nrows, sizeof(*tag));
    for (size_t i = 0; i < TOPO_NLEVELS; i++)
        number_level(kind, order[i].level,
                     order[i].below == TOPO_NODE ? NULL : kind->object[order[i].below], tag);
    free(tag);
}

static int check_cores(const struct kind *kind, const char *host, struct error *err)
{
    struct idset *have = topo_cores(kind->topo);
    int rc = 0;
    if (!idset_within(kind->cores, have)) {
        char *want_text = idset_encode(kind->cores), *have_text = idset_encode(have);
        rc = error_set(err,
                       "%s: cores %s were allocated, but this machine has only cores %s "
                       "(logical numbers)",
                       host, want_text, have_text);
        free(want_text);
        free(have_text);
    }
    idset_free(have);
    return rc;
}

static int kind_make(struct kind *kind, const struct layout_request *request, uint32_t node,
                     struct error *err)
{
    const struct topo *topo = request->nodes[node].topo;
    *kind = (struct kind){.example = node, .topo = topo, .cores = request->nodes[node].cores};
    if (check_cores(kind, request->nodes[node].host, err) < 0)
        return -1;
    kind->rows = mem_array(topo->npus, sizeof(*kind->rows));
    for (uint32_t row = 0; row < topo->npus; row++)
        if (idset_has(kind->cores, topo_core(topo, row)))
            kind->rows[kind->nrows++] = row;
    number_levels(kind);
    return 0;
}

/* ---- which nodes are of one kind ---- */

static size_t node_hash(const struct layout_node *node)
{
    uint64_t hash = (uintptr_t)node->topo;
    const uint32_t parts[] = {(uint32_t)idset_count(node->cores), idset_first(node->cores),
                              idset_last(node->cores)};
    for (size_t i = 0; i < 3; i++)
        hash = (hash ^ parts[i]) * 0x9e3779b97f4a7c15u;
    return hash >> 16;
}

static bool node_is_of(const struct layout_node *node, const struct kind *kind)
{
    return node->topo == kind->topo &&
           (node->cores == kind->cores || idset_equal(node->cores, kind->cores));
}

/* An open hash table of kind numbers + 1; at least half of it stays empty. */
static uint32_t *find_slot(const struct kinds *kinds, uint32_t *table, size_t size,
                           const struct layout_node *node)
{
    size_t at = node_hash(node) & (size - 1);
    while (table[at] && !node_is_of(node, &kinds->kinds[table[at] - 1]))
        at = (at + 1) & (size - 1);
    return &table[at];
}

static int assign_kinds(struct kinds *kinds, const struct layout_request *request, uint32_t *table,
                        size_t size, struct error *err)
{
    for (uint32_t node = 0; node < request->nnodes; node++) {
        uint32_t *slot = find_slot(kinds, table, size, &request->nodes[node]);
        if (!*slot) {
            if ((kinds->nkinds & (kinds->nkinds - 1)) == 0) /* room doubles */
                kinds->kinds = mem_resize(kinds->kinds, kinds->nkinds ? kinds->nkinds * 2ul : 1,
                                          sizeof(*kinds->kinds));
            *slot = ++kinds->nkinds;
            if (kind_make(&kinds->kinds[*slot - 1], request, node, err) < 0)
                return -1;
        }
        kinds->of[node] = *slot - 1;
    }
    return 0;
}

int kinds_make(struct kinds *kinds, const struct layout_request *request, struct error *err)
{
    size_t size = 4;
    while (size < request->nnodes * 2ul)
        size *= 2;
    uint32_t *table = mem_array(size, sizeof(*table));
    *kinds = (struct kinds){.of = mem_array(request->nnodes, sizeof(*kinds->of))};
    int rc = assign_kinds(kinds, request, table, size, err);
    free(table);
    return rc;
}

void kinds_free(struct kinds *kinds)
{
    for (uint32_t i = 0; i < kinds->nkinds; i++) {
        for (int level = 0; level < TOPO_NLEVELS; level++)
            free(kinds->kinds[i].object[level]);
        free(kinds->kinds[i].rows);
    }
    free(kinds->kinds);
    free(kinds->of);
}
