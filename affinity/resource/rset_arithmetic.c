/* Resource sets out of resource sets: copy, select, subtract, overlap, union. */
#include <stdlib.h>
#include <string.h>

#include "affinity/resource/rset_private.h"
#include "affinity/resource/rset.h"
#include "base/mem.h"

struct rset_draft rset_draft_new(const struct rset *from)
{
    return (struct rset_draft){from, rset_new(),
                               mem_array(from->priv->nshared, sizeof(struct rset_children *))};
}

void rset_draft_keep(struct rset_draft *draft, const struct rset_node *node)
{
    const struct rset_children **twin = &draft->twins[rset_children_index(node->children)];
    if (!*twin)
        *twin = rset_share(draft->set, node->children->cores, node->children->gpus);
    hostlist_append(draft->set->priv->hosts, node->host);
    const char *host = hostlist_nth(draft->set->priv->hosts, draft->set->nnodes);
    rset_push(draft->set, node->rank, host, *twin);
}

struct rset *rset_draft_done(struct rset_draft *draft, bool same)
{
    struct rset *set = draft->set;
    set->starttime = draft->from->starttime;
    set->expiration = draft->from->expiration;
    set->nslots = same ? draft->from->nslots : 0;
    set->scheduling = json_incref(draft->from->scheduling);
    set->properties =
        same ? json_incref(draft->from->properties) : rset_trim_properties(draft->from, set);
    free(draft->twins);
    return set;
}

struct rset *rset_select(const struct rset *set,
                         bool (*keep)(const struct rset_node *node, void *arg), void *arg)
{
    struct rset_draft draft = rset_draft_new(set);
    for (size_t i = 0; i < set->nnodes; i++)
        if (!keep || keep(&set->nodes[i], arg))
            rset_draft_keep(&draft, &set->nodes[i]);
    return rset_draft_done(&draft, draft.set->nnodes == set->nnodes);
}

struct rset *rset_copy(const struct rset *set)
{
    return rset_select(set, NULL, NULL);
}

static int rset_compare_hosts(const void *a, const void *b)
{
    const struct rset_node *x = *(const struct rset_node *const *)a;
    const struct rset_node *y = *(const struct rset_node *const *)b;
    int order = strcmp(x->host, y->host);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

struct rset_index rset_index_new(const struct rset *set)
{
    struct rset_index index = {mem_array(set->nnodes, sizeof(*index.nodes)), set->nnodes};
    for (size_t i = 0; i < set->nnodes; i++)
        index.nodes[i] = &set->nodes[i];
    qsort(index.nodes, index.count, sizeof(*index.nodes), rset_compare_hosts);
    return index;
}

size_t rset_index_find(const struct rset_index *index, const char *host)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(index->nodes[middle]->host, host) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->count && strcmp(index->nodes[low]->host, host) == 0 ? low : index->count;
}

bool rset_index_same(const struct rset_index *index, size_t at, const char *host)
{
    return at < index->count && strcmp(index->nodes[at]->host, host) == 0;
}

static void idset_take_away(struct idset **from, const struct idset *what)
{
    struct idset *rest = idset_subtract(*from, what);
    idset_free(*from);
    *from = rest;
}

/* One node less what the nodes at `at` of the index hold. */
static void rset_draft_subtract(struct rset_draft *draft, const struct rset_node *node,
                                const struct rset_index *held, size_t at)
{
    struct idset *cores = idset_copy(node->children->cores);
    struct idset *gpus = idset_copy(node->children->gpus);
    for (; rset_index_same(held, at, node->host); at++) {
        idset_take_away(&cores, held->nodes[at]->children->cores);
        idset_take_away(&gpus, held->nodes[at]->children->gpus);
    }
    if (!idset_empty(cores))
        rset_append(draft->set, node->rank, node->host, cores, gpus);
    idset_free(cores);
    idset_free(gpus);
}

struct rset *rset_subtract_hosts(const struct rset *set, const struct rset *held)
{
    struct rset_draft draft = rset_draft_new(set);
    struct rset_index index = rset_index_new(held);
    bool same = true;
    for (size_t i = 0; i < set->nnodes; i++) {
        size_t at = rset_index_find(&index, set->nodes[i].host);
        if (at == index.count) {
            rset_draft_keep(&draft, &set->nodes[i]);
            continue;
        }
        rset_draft_subtract(&draft, &set->nodes[i], &index, at);
        same = false;
    }
    free(index.nodes);
    return rset_draft_done(&draft, same);
}

/* Add to `all` what two sets have in common. */
static void rset_add_common(struct idset **all, const struct idset *a, const struct idset *b)
{
    struct idset *both = idset_intersect(a, b);
    struct idset *sum = idset_union(*all, both);
    idset_free(both);
    idset_free(*all);
    *all = sum;
}

void rset_free_children(struct rset_children *children)
{
    idset_free(children->cores);
    idset_free(children->gpus);
}

struct rset_children rset_common(const struct rset_node *node, const struct rset_index *index,
                                 size_t at)
{
    struct rset_children all = {idset_new(), idset_new()};
    for (; rset_index_same(index, at, node->host); at++) {
        const struct rset_children *other = index->nodes[at]->children;
        rset_add_common(&all.cores, node->children->cores, other->cores);
        rset_add_common(&all.gpus, node->children->gpus, other->gpus);
    }
    return all;
}

const char *rset_overlap(const struct rset *a, const struct rset *b, struct rset_children *common)
{
    struct rset_index index = rset_index_new(b);
    const char *host = NULL;
    for (size_t i = 0; i < a->nnodes && !host; i++) {
        size_t at = rset_index_find(&index, a->nodes[i].host);
        if (at == index.count)
            continue;
        struct rset_children both = rset_common(&a->nodes[i], &index, at);
        if (!idset_empty(both.cores) || !idset_empty(both.gpus))
            host = a->nodes[i].host;
        if (host && common)
            *common = both;
        else
            rset_free_children(&both);
    }
    free(index.nodes);
    return host;
}

/* The two sets of one host, over all of its nodes. */
static size_t rset_merge_host(struct rset *sum, const struct rset_index *index, size_t at)
{
    const char *host = index->nodes[at]->host;
    struct idset *cores = idset_new(), *gpus = idset_new();
    for (; rset_index_same(index, at, host); at++) {
        struct idset *c = idset_union(cores, index->nodes[at]->children->cores);
        struct idset *g = idset_union(gpus, index->nodes[at]->children->gpus);
        idset_free(cores);
        idset_free(gpus);
        cores = c;
        gpus = g;
    }
    rset_append(sum, (uint32_t)sum->nnodes, host, cores, gpus);
    idset_free(cores);
    idset_free(gpus);
    return at;
}

struct rset *rset_union_hosts(const struct rset *const *sets, size_t nsets)
{
    struct rset_index index = {NULL, 0};
    size_t at = 0;
    for (size_t i = 0; i < nsets; i++)
        index.count += sets[i]->nnodes;
    index.nodes = mem_array(index.count, sizeof(*index.nodes));
    for (size_t i = 0; i < nsets; i++)
        for (size_t j = 0; j < sets[i]->nnodes; j++)
            index.nodes[at++] = &sets[i]->nodes[j];
    qsort(index.nodes, index.count, sizeof(*index.nodes), rset_compare_hosts);
    struct rset *sum = rset_new();
    for (at = 0; at < index.count;)
        at = rset_merge_host(sum, &index, at);
    free(index.nodes);
    return sum;
}
