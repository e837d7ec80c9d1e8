/* A topology as the key `topo` of an R: domains within domains, each with what no domain inside of it has. */
#include "affinity/topology/topo_treepool.h"

#include <stdlib.h>

#include "base/mem.h"

/* Levels that are domains, the outer one first where both have the same objects. */
static const enum topo_level domain_levels[] = {TOPO_SOCKET, TOPO_NUMA};

enum { NDOMAINS = sizeof(domain_levels) / sizeof(domain_levels[0]) };

/* Rows [first, end) of a domain, of the whole node, or of all that a GPU or a memory is next to. */
struct region {
    uint32_t first, end;
};

/* A GPU or the memory of a NUMA node. It is written for the innermost domain around its rows. */
struct thing {
    uint32_t id; /* of the GPU, or GiB */
    struct region rows;
};

struct things {
    struct thing *list;
    size_t count;
};

struct localities {
    const struct topo *topo;
    const struct idset *cores; /* that are wanted; NULL: all */
    struct things gpus, memories;
    enum topo_level levels[NDOMAINS]; /* outermost first */
    size_t nlevels;
};

/* The level divides nothing that `outer` does not. */
static bool same_objects(const struct topo *topo, enum topo_level outer, enum topo_level level)
{
    const uint32_t *a = topo->object[outer], *b = topo->object[level];
    for (uint32_t row = 0; row < topo->npus; row++) {
        bool starts = row > 0 && a[row] != a[row - 1];
        if ((row > 0 && starts != (b[row] != b[row - 1])) ||
            (a[row] == TOPO_ABSENT) != (b[row] == TOPO_ABSENT))
            return false;
    }
    return true;
}

/* Fewer objects hold more. */
static void find_levels(struct localities *all)
{
    const struct topo *topo = all->topo;
    enum topo_level outer = domain_levels[0], inner = domain_levels[1];
    if (topo->count[inner] && topo->count[inner] < topo->count[outer]) {
        outer = domain_levels[1];
        inner = domain_levels[0];
    }
    if (topo->count[outer] && !same_objects(topo, TOPO_NODE, outer))
        all->levels[all->nlevels++] = outer;
    enum topo_level around = all->nlevels ? outer : TOPO_NODE;
    if (topo->count[inner] && !same_objects(topo, around, inner))
        all->levels[all->nlevels++] = inner;
}

/* ---- what a region has ---- */

static struct idset *cores_in(const struct localities *all, struct region in)
{
    struct idset *cores = idset_new();
    for (uint32_t row = in.first; row < in.end; row++) {
        uint32_t core = topo_core(all->topo, row);
        if (!all->cores || idset_has(all->cores, core))
            idset_add(cores, core);
    }
    return cores;
}

/* What lies in these rows is written here, and no more for a domain around them: it leaves the list. */
static void take_inside(struct things *things, struct region in,
                        void (*take)(uint32_t id, void *arg), void *arg)
{
    size_t kept = 0;
    for (size_t i = 0; i < things->count; i++) {
        struct thing one = things->list[i];
        if (one.rows.first >= in.first && one.rows.end <= in.end)
            take(one.id, arg);
        else
            things->list[kept++] = one;
    }
    things->count = kept;
}

static void take_gpu(uint32_t id, void *arg)
{
    idset_add(arg, id);
}

static void take_memory(uint32_t gib, void *arg)
{
    *(uint64_t *)arg += gib;
}

/* ---- domains ---- */

static void say_set(json_t *value, const char *key, const struct idset *set)
{
    if (!idset_empty(set))
        json_object_set_new(value, key, idset_to_json(set));
}

static json_t *say_region(struct localities *all, struct region in, size_t level);

/* The objects of one level in a region, as a list; their cores leave `own`. Those of which no core is
 * wanted take their memory with them. */
static json_t *say_domains(struct localities *all, struct region in, size_t level,
                           struct idset *own)
{
    const uint32_t *object = all->topo->object[all->levels[level]];
    json_t *list = json_array();
    for (struct region at = in; at.first < in.end; at.first = at.end) {
        for (at.end = at.first + 1; at.end < in.end && object[at.end] == object[at.first];)
            at.end++;
        struct idset *cores = cores_in(all, at);
        uint64_t gib = 0;
        if (object[at.first] != TOPO_ABSENT && idset_empty(cores)) {
            take_inside(&all->memories, at, take_memory, &gib);
        } else if (object[at.first] != TOPO_ABSENT) {
            idset_remove_set(own, cores);
            json_array_append_new(list, say_region(all, at, level + 1));
        }
        idset_free(cores);
    }
    return list;
}

static json_t *say_region(struct localities *all, struct region in, size_t level)
{
    json_t *value = json_object(), *list = NULL;
    struct idset *own = cores_in(all, in);
    if (level < all->nlevels)
        list = say_domains(all, in, level, own);
    if (json_array_size(list))
        json_object_set(value, topo_level_name(all->levels[level]), list);
    json_decref(list);
    say_set(value, "cores", own);
    /* What is left after the domains inside. */
    uint64_t gib = 0;
    struct idset *gpus = idset_new();
    take_inside(&all->gpus, in, take_gpu, gpus);
    take_inside(&all->memories, in, take_memory, &gib);
    say_set(value, "gpus", gpus);
    if (gib)
        json_object_set_new(value, "memory", json_integer((json_int_t)gib));
    idset_free(gpus);
    idset_free(own);
    return value;
}

/* ---- all that there is ---- */

static struct things find_gpus(const struct topo *topo, const struct idset *wanted)
{
    struct things gpus = {mem_array(topo->ngpus, sizeof(*gpus.list)), 0};
    for (size_t i = 0; i < topo->ngpus; i++) {
        const struct topo_gpu *gpu = &topo->gpus[i];
        if (wanted && !idset_has(wanted, gpu->id))
            continue;
        struct region rows = {topo->npus, 0}; /* around those next to it */
        for (uint32_t row = 0; row < topo->npus; row++) {
            if (!idset_has(gpu->cpus, topo->os[row]))
                continue;
            rows.first = row < rows.first ? row : rows.first;
            rows.end = row + 1;
        }
        gpus.list[gpus.count++] = (struct thing){gpu->id, rows};
    }
    return gpus;
}

static struct things find_memories(const struct topo *topo)
{
    struct things memories = {mem_array(TOPO_MAX_MEMORIES, sizeof(*memories.list)), 0};
    size_t index[TOPO_MAX_MEMORIES] = {0}; /* in the list, from 1 */
    for (uint32_t row = 0; row < topo->npus; row++) {
        uint32_t memory = topo->memory[row];
        if (memory == TOPO_ABSENT)
            continue;
        if (!index[memory]) {
            memories.list[memories.count++] = (struct thing){topo->gib[row], {row, row + 1}};
            index[memory] = memories.count;
        }
        memories.list[index[memory] - 1].rows.end = row + 1;
    }
    return memories;
}

json_t *topo_to_treepool(const struct topo *topo, const struct idset *cores,
                         const struct idset *gpus)
{
    struct localities all = {.topo = topo,
                             .cores = cores,
                             .gpus = find_gpus(topo, gpus),
                             .memories = find_memories(topo)};
    find_levels(&all);
    json_t *value = say_region(&all, (struct region){0, topo->npus}, 0);
    free(all.gpus.list);
    free(all.memories.list);
    return value;
}
