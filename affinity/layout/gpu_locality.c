/* The rows next to each GPU, at each level that it may share with a task. */
#include "affinity/layout/gpu_locality.h"

#include <stdlib.h>

#include "affinity/layout/node_class.h"
#include "base/mem.h"

/* Finer levels have more objects; which of two is the finer one is the machine's. */
void node_class_near_levels(const struct topo *topo, enum topo_level levels[NODE_CLASS_NEAR_LEVELS])
{
    static const enum topo_level order[NODE_CLASS_NEAR_LEVELS] = {TOPO_L3, TOPO_NUMA, TOPO_SOCKET,
                                                                  TOPO_BOARD, TOPO_NODE};
    for (uint32_t n = 0; n < NODE_CLASS_NEAR_LEVELS; n++) {
        uint32_t at = n;
        for (;
             order[n] != TOPO_NODE && at > 0 && topo->count[levels[at - 1]] < topo->count[order[n]];
             at--)
            levels[at] = levels[at - 1];
        levels[at] = order[n];
    }
}

/* Rows of the topology [first, end) that lie in one object of a level: all rows of the object. */
static struct rows object_rows(const struct topo *topo, enum topo_level level, struct rows within)
{
    const uint32_t *object = topo->object[level];
    struct rows rows = within;
    if (object[within.first] == TOPO_ABSENT || object[within.first] != object[within.end - 1])
        return (struct rows){0, 0};
    while (rows.first > 0 && object[rows.first - 1] == object[within.first])
        rows.first--;
    while (rows.end < topo->npus && object[rows.end] == object[within.first])
        rows.end++;
    return rows;
}

static void gpu_make(struct node_class_gpu *gpu, const struct node_class *class,
                     const struct idset *cpus, uint32_t id)
{
    const struct topo *topo = class->topo;
    /* From the first to the last thread next to it; without one, all. */
    struct rows near = {0, topo->npus};
    while (cpus && near.first < near.end && !idset_has(cpus, topo->os[near.first]))
        near.first++;
    while (cpus && near.first < near.end && !idset_has(cpus, topo->os[near.end - 1]))
        near.end--;
    if (near.first == near.end)
        near = (struct rows){0, topo->npus};
    enum topo_level levels[NODE_CLASS_NEAR_LEVELS];
    node_class_near_levels(topo, levels);
    *gpu = (struct node_class_gpu){.id = id};
    for (uint32_t i = 0; i < NODE_CLASS_NEAR_LEVELS; i++) {
        struct rows rows = object_rows(topo, levels[i], near);
        gpu->rows[levels[i]] =
            (struct rows){node_class_row(class, rows.first), node_class_row(class, rows.end)};
    }
}

static int refuse_gpus(const struct node_class *class, const struct idset *gpus, const char *host,
                       struct error *err)
{
    struct idset *have = idset_new();
    for (size_t i = 0; i < class->topo->ngpus; i++)
        idset_add(have, class->topo->gpus[i].id);
    char *want_text = idset_encode(gpus), *have_text = idset_encode(have);
    error_set(err, "%s: GPUs %s were allocated, but this machine has only GPUs %s", host, want_text,
              have_text);
    free(want_text);
    free(have_text);
    idset_free(have);
    return -1;
}

/* A topology that shows no GPU at all (a synthetic one, or that of a container) does not say that
 * there are none: where those of R are is not known then. */
int node_class_find_gpus(struct node_class *class, const struct idset *gpus, const char *host,
                         struct error *err)
{
    const struct topo *topo = class->topo;
    size_t count = gpus ? idset_count(gpus) : 0, at = 0;
    if (!count)
        return 0;
    if (count > TOPO_MAX_GPUS)
        return error_set(err, "%s: %zu GPUs were allocated; %d are the most that a node may have",
                         host, count, TOPO_MAX_GPUS);
    class->gpus = mem_array(count, sizeof(*class->gpus));
    IDSET_FOREACH(id, gpus)
    {
        while (at < topo->ngpus && topo->gpus[at].id < id)
            at++;
        bool shown = at < topo->ngpus && topo->gpus[at].id == id;
        if (topo->ngpus && !shown)
            return refuse_gpus(class, gpus, host, err);
        gpu_make(&class->gpus[class->ngpus++], class, shown ? topo->gpus[at].cpus : NULL, id);
    }
    return 0;
}
