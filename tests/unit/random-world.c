#include "tests/unit/random-world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define ENOUGH_ROWS 40 /* from here on nothing has more than one child */

static bool one_in(uint64_t *seed, uint32_t n)
{
    return random_below(seed, n) == 0;
}

/* ---- a machine ---- */

struct growth {
    uint64_t *seed;
    enum topo_level order[TOPO_NLEVELS]; /* from the outermost in */
    bool mixed;                          /* each branch has an order of its own */
    json_t *runs[TOPO_NLEVELS];          /* as topo_from_json wants them */
    uint32_t nrows;
};

static void choose_order(struct growth *growth)
{
    static const enum topo_level middles[][3] = {{TOPO_NUMA, TOPO_SOCKET, TOPO_L3},
                                                 {TOPO_SOCKET, TOPO_NUMA, TOPO_L3},
                                                 {TOPO_SOCKET, TOPO_L3, TOPO_NUMA}};
    static const enum topo_level all[] = {TOPO_NODE, TOPO_BOARD, TOPO_NUMA, TOPO_SOCKET,  TOPO_L3,
                                          TOPO_L2,   TOPO_L1,    TOPO_CORE, TOPO_HWTHREAD};
    memcpy(growth->order, all, sizeof(all));
    memcpy(growth->order + 2, middles[random_below(growth->seed, 3)], sizeof(middles[0]));
}

/* One object and all that is in it. */
static void grow(struct growth *growth, uint32_t depth)
{
    enum topo_level level = growth->order[depth];
    uint32_t first = growth->nrows;
    if (level == TOPO_HWTHREAD) {
        growth->nrows++;
        return;
    }
    uint32_t children = growth->nrows < ENOUGH_ROWS ? 1 + random_below(growth->seed, 5) / 2 : 1;
    for (uint32_t i = 0; i < children; i++) {
        if (level == TOPO_BOARD && growth->mixed)
            choose_order(growth);
        grow(growth, depth + 1);
    }
    int rows = (int)(growth->nrows - first);
    bool lacking = level >= TOPO_L3 && level <= TOPO_L1 && one_in(growth->seed, 8);
    json_array_append_new(growth->runs[level], json_integer(lacking ? -rows : rows));
    json_array_append_new(growth->runs[level], json_integer(1));
}

static json_t *shuffled(uint64_t *seed, uint32_t n)
{
    uint32_t ids[64];
    json_t *blocks = json_array();
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = random_below(seed, i + 1);
        ids[i] = ids[j];
        ids[j] = i;
    }
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(blocks, json_pack("[i]", (int)ids[i]));
    return blocks;
}

static bool has_object(const json_t *runs)
{
    size_t i;
    json_t *run;
    json_array_foreach(runs, i, run) if (i % 2 == 0 && json_integer_value(run) > 0) return true;
    return false;
}

static struct topo *random_topo(uint64_t *seed)
{
    struct growth growth = {.seed = seed, .mixed = one_in(seed, 8)};
    json_t *levels = json_object();
    struct error err = ERROR_INIT;
    for (enum topo_level level = TOPO_NODE; level < TOPO_NLEVELS; level++)
        growth.runs[level] = json_array();
    choose_order(&growth);
    grow(&growth, 0);
    for (enum topo_level level = TOPO_BOARD; level < TOPO_HWTHREAD; level++)
        if (!one_in(seed, 4) && has_object(growth.runs[level]))
            json_object_set(levels, topo_level_name(level), growth.runs[level]);
    json_t *value = json_pack("{s:i,s:o,s:o}", "version", 1, "os", shuffled(seed, growth.nrows),
                              "levels", levels);
    struct topo *topo = topo_from_json(value, &err);
    if (!topo) {
        fprintf(stderr, "random topology: %s\n", error_text(&err));
        abort();
    }
    json_decref(value);
    for (enum topo_level level = TOPO_NODE; level < TOPO_NLEVELS; level++)
        json_decref(growth.runs[level]);
    return topo;
}

static struct idset *random_cores(const struct topo *topo, uint64_t *seed)
{
    struct idset *cores = topo_cores(topo), *some = idset_new();
    bool whole = one_in(seed, 2), none = one_in(seed, 16);
    IDSET_FOREACH(core, cores)
    {
        if (!none && (whole || !one_in(seed, 4)))
            idset_add(some, core);
    }
    idset_free(cores);
    return some;
}

/* ---- a policy ---- */

static void random_map(char *map, uint64_t *seed)
{
    static const char *const words[] = {"core",    "hwthread", "l1cache",   "l2cache",
                                        "numa",    "socket",   "board",     "node",
                                        "l3cache", "slot",     "numa:span", "core:span"};
    uint32_t n = one_in(seed, 2) ? 9 : 2 + random_below(seed, 7);
    if (one_in(seed, 4))
        strcpy(map, words[random_below(seed, 12)]);
    else
        random_loops(seed, n, map);
}

static const char *random_bind(struct random_world *world, uint64_t *seed)
{
    static const char *const letters[] = {"b", "N", "s", "L3", "L2", "L1", "c", "h"};
    if (one_in(seed, 4))
        return NULL;
    if (one_in(seed, 5))
        return "none";
    if (one_in(seed, 8))
        return "1n";
    snprintf(world->bind, sizeof(world->bind), "%u%s", 1 + random_below(seed, 5) / 2,
             letters[random_below(seed, 8)]);
    return world->bind;
}

static const char *random_mppr(struct random_world *world, uint64_t *seed)
{
    static const char *const letters[] = {"n", "b", "N", "s", "L3", "L2", "L1", "c", "h"};
    if (one_in(seed, 3))
        return NULL;
    if (one_in(seed, 5))
        return "none";
    uint32_t first = random_below(seed, 9), second = random_below(seed, 9);
    int len = snprintf(world->mppr, sizeof(world->mppr), "%u:%s", 1 + random_below(seed, 4),
                       letters[first]);
    if (second != first && one_in(seed, 2))
        snprintf(world->mppr + len, sizeof(world->mppr) - (size_t)len, ",%u:%s",
                 1 + random_below(seed, 6), letters[second]);
    return world->mppr;
}

static void random_policy(struct random_world *world, uint64_t *seed)
{
    random_map(world->map, seed);
    world->part = (struct layout_part){
        .ntasks = 1 + random_below(seed, one_in(seed, 4) ? 100 : 20),
        .cores_per_task = one_in(seed, 5) ? 1 + random_below(seed, 5) : 0,
        .map = one_in(seed, 12) ? NULL : world->map,
        .bind = random_bind(world, seed),
        .mppr = random_mppr(world, seed),
        .order = one_in(seed, 4) ? "sequential" : NULL,
        .oversubscribe = one_in(seed, 3),
    };
}

/* Takes a reference of the topo. */
static void add_node(struct random_world *world, struct topo *topo, uint64_t *seed)
{
    static const char *const hosts[RANDOM_NODES] = {"node0", "node1", "node2", "node3"};
    uint32_t i = world->request.nnodes++;
    world->topos[i] = topo;
    world->cores[i] = random_cores(topo, seed);
    world->nodes[i] =
        (struct layout_node){.host = hosts[i], .target = i, .topo = topo, .cores = world->cores[i]};
}

static void start(struct random_world *world)
{
    *world = (struct random_world){
        .request = {.nodes = world->nodes, .parts = &world->part, .nparts = 1}};
}

void random_world_make(struct random_world *world, uint64_t *seed)
{
    uint32_t nnodes = 1 + random_below(seed, RANDOM_NODES);
    start(world);
    for (uint32_t i = 0; i < nnodes; i++)
        add_node(world, i && one_in(seed, 2) ? topo_ref(world->topos[i - 1]) : random_topo(seed),
                 seed);
    random_policy(world, seed);
}

void random_world_make_of(struct random_world *world, struct topo *topo, uint64_t *seed)
{
    uint32_t nnodes = 1 + random_below(seed, RANDOM_NODES);
    start(world);
    for (uint32_t i = 0; i < nnodes; i++)
        add_node(world, topo_ref(topo), seed);
    random_policy(world, seed);
}

void random_world_free(struct random_world *world)
{
    for (uint32_t i = 0; i < world->request.nnodes; i++) {
        topo_free(world->topos[i]);
        idset_free(world->cores[i]);
    }
}

static const char *or_none(const char *text)
{
    return text ? text : "(not given)";
}

char *random_world_text(const struct random_world *world)
{
    const struct layout_part *part = &world->part;
    struct buf out = BUF_INIT;
    buf_printf(&out, "-n %u -c %u --map-by %s --bind-to %s --mppr %s --order %s%s", part->ntasks,
               part->cores_per_task, or_none(part->map), or_none(part->bind), or_none(part->mppr),
               or_none(part->order), part->oversubscribe ? " --oversubscribe" : "");
    if (world->request.node_count)
        buf_printf(&out, " -N %u", world->request.node_count);
    for (uint32_t i = 0; i < world->request.nnodes; i++) {
        json_t *topo = topo_to_json(world->topos[i]);
        char *text = json_dumps(topo, JSON_COMPACT), *cores = idset_encode(world->cores[i]);
        buf_printf(&out, "\nnode%u: cores %s (limit %u) of %s", i, cores, world->nodes[i].limit,
                   text);
        free(text);
        free(cores);
        json_decref(topo);
    }
    return buf_take_text(&out);
}
