/* A layout for drawing: ranks by node, equal bindings, and nodes that look alike. */
#include "affinity/picture/node_groups.h"

#include <stdlib.h>

#include "affinity/sets/short_text.h"
#include "base/hash_table.h"
#include "base/mem.h"

struct drawing_index {
    uint32_t *same;  /* by binding: the first one with equal sets */
    uint32_t *ranks; /* by node, ascending: node i has ranks[at[i]] to ranks[at[i + 1]] */
    uint32_t *at;
    uint32_t *look_of; /* by node: index into looks */
};

const struct layout_node *drawing_node(const struct drawing *drawing, uint32_t node)
{
    return &drawing->request->nodes[drawing->layout->nodes[node].source];
}

const struct layout_task *drawing_task(const struct drawing *drawing, uint32_t node, uint32_t i)
{
    return &drawing->layout->tasks[drawing->index->ranks[drawing->index->at[node] + i]];
}

uint32_t drawing_rank(const struct drawing *drawing, uint32_t node, uint32_t i)
{
    return drawing->index->ranks[drawing->index->at[node] + i];
}

uint32_t drawing_look(const struct drawing *drawing, uint32_t node)
{
    return drawing->index->look_of[node];
}

uint32_t drawing_binding(const struct drawing *drawing, const struct layout_task *task)
{
    return drawing->index->same[task->binding];
}

const struct idset *drawing_gpus(const struct drawing *drawing, const struct layout_task *task)
{
    return task->gpus == LAYOUT_NO_GPUS ? NULL : drawing->layout->gpu_sets[task->gpus];
}

bool drawing_same_grant(const struct layout_node *a, const struct layout_node *b)
{
    return a->topo == b->topo && idset_equal(a->cores, b->cores) && idset_equal(a->gpus, b->gpus);
}

/* ---- equal bindings ---- */

struct binding_names {
    const struct layout *layout;
    uint32_t *first; /* of equal bindings, by their number */
};

static bool same_binding(const void *owner, uint32_t number, const void *thing)
{
    const struct binding_names *names = owner;
    const struct layout_binding *a = &names->layout->bindings[names->first[number]], *b = thing;
    return idset_equal(a->cpus, b->cpus) && idset_equal(a->cores, b->cores);
}

static void join_bindings(struct drawing *drawing)
{
    const struct layout *layout = drawing->layout;
    struct hash_table table = {.count = 0};
    struct binding_names names = {layout, mem_array(layout->nbindings, sizeof(*names.first))};
    drawing->index->same = mem_array(layout->nbindings, sizeof(*drawing->index->same));
    for (uint32_t i = 0; i < layout->nbindings; i++) {
        const struct layout_binding *binding = &layout->bindings[i];
        uint64_t hash = idset_hash(idset_hash(0, binding->cpus), binding->cores);
        uint32_t known = table.count;
        uint32_t number = hash_table_intern(&table, hash, same_binding, &names, binding);
        if (number == known)
            names.first[number] = i;
        drawing->index->same[i] = names.first[number];
    }
    free(names.first);
    hash_table_free(&table);
}

/* ---- parts ---- */

static void collect_parts(struct drawing *drawing)
{
    const struct layout *layout = drawing->layout;
    const struct layout_part *asked = drawing->request->parts;
    struct part_view *parts = mem_array(drawing->request->nparts, sizeof(*parts));
    for (uint32_t part = 0; part < drawing->request->nparts; part++) {
        struct part_view *view = &parts[part];
        view->owner = part && !policy_is_own(&asked[part]) ? view[-1].owner : part;
        policy_parse(&asked[view->owner], &view->policy, NULL);
    }
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        struct part_view *view = &parts[layout->tasks[rank].app];
        if (!view->count++)
            view->first = rank;
    }
    drawing->parts = parts;
}

/* ---- looks ---- */

static uint64_t look_hash(const struct drawing *drawing, uint32_t node)
{
    const struct layout_node *source = drawing_node(drawing, node);
    uint32_t n = drawing->layout->nodes[node].ntasks;
    uint64_t hash = idset_hash(hash_table_hash((uintptr_t)source->topo, n), source->cores);
    for (uint32_t i = 0; i < n; i++) {
        const struct layout_task *task = drawing_task(drawing, node, i);
        hash = hash_table_hash(hash, task->place ^ (uint64_t)drawing_binding(drawing, task) << 32);
        hash = hash_table_hash(hash, task->gpus);
    }
    return hash;
}

static bool look_alike(const void *owner, uint32_t number, const void *thing)
{
    const struct drawing *drawing = owner;
    uint32_t a = drawing->looks[number].first, b = *(const uint32_t *)thing;
    const struct layout_node *x = drawing_node(drawing, a), *y = drawing_node(drawing, b);
    uint32_t n = drawing->layout->nodes[a].ntasks;
    if (!drawing->folded || n != drawing->layout->nodes[b].ntasks || !drawing_same_grant(x, y))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct layout_task *s = drawing_task(drawing, a, i), *t = drawing_task(drawing, b, i);
        if (s->place != t->place || s->app != t->app || s->gpus != t->gpus ||
            drawing_binding(drawing, s) != drawing_binding(drawing, t))
            return false;
    }
    return true;
}

static void look_join(const struct drawing *drawing, struct node_group *look, uint32_t node)
{
    int64_t shift = (int64_t)drawing_rank(drawing, node, 0) - drawing_rank(drawing, look->last, 0);
    if (look->count == 1)
        look->shift = shift;
    look->shifted = look->shifted && shift == look->shift;
    for (uint32_t i = 0; i < drawing->layout->nodes[node].ntasks && look->shifted; i++)
        look->shifted =
            (int64_t)drawing_rank(drawing, node, i) - drawing_rank(drawing, look->last, i) == shift;
    look->last = node;
    look->count++;
    hostlist_append(look->others, drawing_node(drawing, node)->host);
}

static void collect_looks(struct drawing *drawing)
{
    uint32_t nnodes = drawing->layout->nnodes;
    struct hash_table table = {.count = 0};
    struct node_group *looks = mem_array(nnodes, sizeof(*looks));
    drawing->looks = looks;
    drawing->index->look_of = mem_array(nnodes, sizeof(*drawing->index->look_of));
    for (uint32_t node = 0; node < nnodes; node++) {
        uint32_t look =
            hash_table_intern(&table, look_hash(drawing, node), look_alike, drawing, &node);
        if (look < drawing->nlooks)
            look_join(drawing, &looks[look], node);
        else
            looks[drawing->nlooks++] = (struct node_group){node, node, 1, true, 0, hostlist_new()};
        drawing->index->look_of[node] = look;
    }
    hash_table_free(&table);
}

void drawing_open(struct drawing *drawing, const struct layout *layout,
                  const struct layout_request *request, bool folded)
{
    struct drawing_index *index = mem_alloc(sizeof(*index));
    *drawing =
        (struct drawing){.layout = layout, .request = request, .folded = folded, .index = index};
    join_bindings(drawing);
    /* Ranks by node. */
    index->ranks = mem_array(layout->ntasks, sizeof(*index->ranks));
    index->at = mem_array(layout->nnodes + 1ul, sizeof(*index->at));
    for (uint32_t node = 0; node < layout->nnodes; node++)
        index->at[node + 1] = index->at[node] + layout->nodes[node].ntasks;
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        index->ranks[index->at[task->node] + task->local_rank] = rank;
    }
    collect_parts(drawing);
    collect_looks(drawing);
}

void drawing_close(struct drawing *drawing)
{
    for (uint32_t i = 0; i < drawing->nlooks; i++)
        hostlist_free(drawing->looks[i].others);
    free((void *)(uintptr_t)drawing->looks);
    free((void *)(uintptr_t)drawing->parts);
    free(drawing->index->look_of);
    free(drawing->index->ranks);
    free(drawing->index->at);
    free(drawing->index->same);
    free(drawing->index);
}

/* ---- what is said of the others ---- */

struct idset *node_group_ranks(const struct drawing *drawing, uint32_t look, uint32_t first,
                               uint32_t last)
{
    struct idset *set = idset_new();
    for (uint32_t node = first; node <= last; node++) {
        uint32_t n =
            drawing->index->look_of[node] == look ? drawing->layout->nodes[node].ntasks : 0;
        for (uint32_t i = 0; i < n; i++)
            idset_add(set, drawing_rank(drawing, node, i));
    }
    return set;
}

char *node_group_hosts(const struct drawing *drawing, uint32_t look, size_t max)
{
    const struct node_group *one = &drawing->looks[look];
    struct hostlist *hosts = hostlist_new();
    hostlist_append(hosts, drawing_node(drawing, one->first)->host);
    for (size_t i = 0; i < hostlist_count(one->others); i++)
        hostlist_append(hosts, hostlist_nth(one->others, i));
    char *text = hostlist_encode_short(hosts, max);
    hostlist_free(hosts);
    return text;
}

char *phrase_shift(const struct drawing *drawing, const struct node_group *look)
{
    if (look->shifted)
        return mem_format("ranks %lld %s%s", llabs(look->shift),
                          look->shift < 0 ? "lower" : "higher",
                          look->count > 2 ? " from node to node" : "");
    uint32_t index = drawing->index->look_of[look->first];
    struct idset *ranks = node_group_ranks(drawing, index, look->first + 1, look->last);
    char *set = idset_encode_short(ranks, 40), *text = mem_format("with ranks %s in all", set);
    free(set);
    idset_free(ranks);
    return text;
}

char *drawing_others(const struct drawing *drawing, const struct node_group *look)
{
    if (look->count == 1)
        return mem_copy_text("");
    char *hosts = hostlist_encode_short(look->others, 60), *shift = phrase_shift(drawing, look);
    char *text =
        mem_format("%s: as %s, %s", hosts, drawing_node(drawing, look->first)->host, shift);
    free(shift);
    free(hosts);
    return text;
}
