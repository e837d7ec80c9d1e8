/* Nodes in classes, and the tables of a class: its rows, and the object of each level for each row. */
#include "affinity/layout/node_class.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/gpu_locality.h"

#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"

uint32_t node_class_core(const struct node_class *class, uint32_t row)
{
    return topo_core(class->topo, class->rows[row]);
}

struct idset *node_class_cpus(const struct node_class *class, uint32_t first, uint32_t end)
{
    struct idset *set = idset_new();
    for (uint32_t row = first; row < end; row++)
        idset_add(set, class->topo->os[class->rows[row]]);
    return set;
}

struct idset *node_class_cores(const struct node_class *class, uint32_t first, uint32_t end)
{
    struct idset *set = idset_new();
    for (uint32_t row = first; row < end; row++)
        if (row == first || class->object[TOPO_CORE][row] != class->object[TOPO_CORE][row - 1])
            idset_add(set, node_class_core(class, row));
    return set;
}

uint32_t node_class_number(uint32_t **object, enum topo_level level, const uint64_t *tag,
                           uint32_t n)
{
    uint32_t count = 0, *own = object[level] = mem_array(n, sizeof(*own));
    for (uint32_t i = 0; i < n; i++) {
        count += i == 0 || tag[i] != tag[i - 1];
        own[i] = count - 1;
    }
    /* Unlike nodes may be many, and their levels often coincide: those share one array. */
    for (int other = 0; other < TOPO_NLEVELS; other++)
        if (object[other] && other != (int)level &&
            memcmp(object[other], own, n * sizeof(*own)) == 0) {
            free(own);
            object[level] = object[other];
            break;
        }
    return count;
}

void node_class_free_levels(uint32_t **object)
{
    for (int level = 0; level < TOPO_NLEVELS; level++) {
        bool shared = false;
        for (int other = level + 1; other < TOPO_NLEVELS; other++)
            shared = shared || object[other] == object[level];
        if (!shared)
            free(object[level]);
    }
}

/* A row that a level lacks goes by its object of the level `below` instead, or by the node. */
static void number_levels(struct node_class *class)
{
    static const struct {
        enum topo_level level, below;
    } order[] = {
        {TOPO_HWTHREAD, TOPO_NODE}, {TOPO_CORE, TOPO_HWTHREAD}, {TOPO_L1, TOPO_CORE},
        {TOPO_L2, TOPO_L1},         {TOPO_L3, TOPO_L2},         {TOPO_NODE, TOPO_NODE},
        {TOPO_BOARD, TOPO_NODE},    {TOPO_NUMA, TOPO_NODE},     {TOPO_SOCKET, TOPO_NODE},
    };
    uint64_t *tag = mem_array(class->nrows, sizeof(*tag));
    for (size_t i = 0; i < TOPO_NLEVELS; i++) {
        enum topo_level level = order[i].level;
        const uint32_t *object = class->topo->object[level];
        const uint32_t *below = order[i].below == TOPO_NODE ? NULL : class->object[order[i].below];
        for (uint32_t row = 0; row < class->nrows; row++) {
            uint32_t id = object[class->rows[row]];
            tag[row] = id != TOPO_ABSENT ? id : 1ull << 32 | (below ? below[row] : 0);
        }
        class->count[level] = node_class_number(class->object, level, tag, class->nrows);
    }
    free(tag);
}

static int node_class_make(struct node_class *class, const struct layout_request *request,
                           uint32_t node, const struct node_class_gpus *gpus, struct error *err)
{
    const struct topo *topo = request->nodes[node].topo;
    const char *host = request->nodes[node].host;
    *class =
        (struct node_class){.example = node, .topo = topo, .cores = request->nodes[node].cores};
    class->rows = mem_array(topo->npus, sizeof(*class->rows));
    for (uint32_t row = 0; row < topo->npus; row++)
        if (topo->allowed[row] && idset_has(class->cores, topo_core(topo, row)))
            class->rows[class->nrows++] = row;
    if (class->nrows)
        class->rows = mem_resize(class->rows, class->nrows, sizeof(*class->rows));
    number_levels(class);
    if (class->count[TOPO_CORE] != idset_count(class->cores)) { /* each has a row at least */
        struct idset *have = topo_allowed_cores(topo);
        char *want_text = idset_encode(class->cores), *have_text = idset_encode(have);
        error_set(err,
                  "%s: cores %s were allocated, but this machine offers only cores %s "
                  "(logical numbers)",
                  host, want_text, have_text);
        free(want_text);
        free(have_text);
        idset_free(have);
        return -1;
    }
    class->busy = gpus && gpus->busy ? idset_copy(gpus->busy) : NULL;
    return gpus ? node_class_find_gpus(class, gpus->gpus, host, err) : 0;
}

/* ---- which nodes are of one class ---- */

struct wanted {
    const struct layout_request *request;
    const struct node_class_gpus *gpus; /* by node, or NULL */
    uint32_t node;
};

static bool node_class_is_wanted(const void *owner, uint32_t number, const void *thing)
{
    const struct wanted *wanted = thing;
    const struct node_class *class = &((const struct node_classes *)owner)->classes[number];
    const struct layout_node *node = &wanted->request->nodes[wanted->node];
    if (node->topo != class->topo || !idset_equal(node->cores, class->cores))
        return false;
    if (!wanted->gpus)
        return true;
    const struct node_class_gpus *a = &wanted->gpus[wanted->node],
                                 *b = &wanted->gpus[class->example];
    return idset_equal(a->gpus, b->gpus) && idset_equal(a->busy, b->busy);
}

int node_classes_make(struct node_classes *classes, const struct layout_request *request,
                      const struct node_class_gpus *gpus, struct error *err)
{
    struct hash_table numbers = {.count = 0};
    int rc = 0;
    *classes = (struct node_classes){.of = mem_array(request->nnodes, sizeof(*classes->of))};
    for (uint32_t node = 0; node < request->nnodes && rc == 0; node++) {
        struct wanted wanted = {request, gpus, node};
        const struct layout_node *given = &request->nodes[node];
        uint64_t hash = idset_hash(hash_table_hash(0, (uintptr_t)given->topo), given->cores);
        if (gpus) {
            hash = hash_table_hash(idset_hash(hash, gpus[node].gpus), 0);
            hash = idset_hash(hash, gpus[node].busy);
        }
        classes->of[node] =
            hash_table_intern(&numbers, hash, node_class_is_wanted, classes, &wanted);
        if (classes->of[node] < classes->nclasses)
            continue;
        classes->classes =
            array_grow(classes->classes, classes->nclasses, sizeof(*classes->classes));
        rc = node_class_make(&classes->classes[classes->nclasses++], request, node,
                             gpus ? &gpus[node] : NULL, err);
    }
    hash_table_free(&numbers);
    return rc;
}

void node_classes_free(struct node_classes *classes)
{
    for (uint32_t i = 0; i < classes->nclasses; i++) {
        node_class_free_levels(classes->classes[i].object);
        free(classes->classes[i].rows);
        free(classes->classes[i].gpus);
        idset_free(classes->classes[i].busy);
    }
    free(classes->classes);
    free(classes->of);
}
