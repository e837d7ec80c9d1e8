/* Machines as text, and layouts as text, for tests of the layout engine. */
#ifndef TESTS_UNIT_WORLD_H
#define TESTS_UNIT_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "affinity/layout/layout.h"
#include "base/buf.h"
#include "base/mem.h"
#include "tests/unit/unit.h"

#define MAX_NODES 16
#define SMALL "package:2 core:2 pu:2"

struct world {
    struct topo *topos[MAX_NODES];
    struct idset *cores[MAX_NODES];
    struct layout_node nodes[MAX_NODES];
    uint32_t nnodes;
    struct layout_part parts[4];
    struct layout_request request;
};

static inline void world_add(struct world *world, struct topo *topo, const char *cores,
                             uint32_t limit)
{
    static const char *const hosts[MAX_NODES] = {"node0", "node1", "node2", "node3",
                                                 "node4", "node5", "node6", "node7"};
    uint32_t i = world->nnodes++;
    world->topos[i] = topo;
    world->cores[i] = cores ? idset_decode(cores, NULL) : topo_cores(topo);
    world->nodes[i] = (struct layout_node){
        .host = hosts[i], .target = 10 + i, .topo = topo, .cores = world->cores[i], .limit = limit};
}

/* Machines parted by "|", "MACHINE@CORES" where not all of it is allocated, "3*MACHINE" for equal
 * ones, and "MACHINE#2" where a host file says 2 slots. */
static inline void world_make(struct world *world, const char *machines)
{
    struct error err = ERROR_INIT;
    char *text = mem_copy_text(machines), *rest = text, *machine;
    *world = (struct world){.nnodes = 0};
    while ((machine = strsep(&rest, "|"))) {
        char *star = strchr(machine, '*'), *limit = strchr(machine, '#');
        uint32_t times = star ? (uint32_t)atoi(machine) : 1;
        if (limit)
            *limit++ = '\0';
        char *cores = strchr(machine, '@');
        if (cores)
            *cores++ = '\0';
        struct topo *topo = topo_load_synthetic(star ? star + 1 : machine, &err);
        if (!topo)
            fail_msg("%s", error_text(&err));
        for (uint32_t i = 0; i < times; i++)
            world_add(world, i ? topo_ref(topo) : topo, cores, limit ? (uint32_t)atoi(limit) : 0);
    }
    free(text);
    world->request = (struct layout_request){
        .nodes = world->nodes, .nnodes = world->nnodes, .parts = world->parts, .nparts = 1};
}

static inline void world_free(struct world *world)
{
    for (uint32_t i = 0; i < world->nnodes; i++) {
        topo_free(world->topos[i]);
        idset_free(world->cores[i]);
    }
}

/* "0:0-1 0:2-3 1:0-1", node of the request and OS indexes by rank. */
static inline char *describe(const struct layout *layout)
{
    struct buf out = BUF_INIT;
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        char *cpus = idset_encode(layout->bindings[task->binding].cpus);
        buf_printf(&out, "%s%u:%s", rank ? " " : "", layout->nodes[task->node].source, cpus);
        free(cpus);
    }
    return buf_take_text(&out);
}

static inline char *describe_claims(const struct layout *layout)
{
    struct buf out = BUF_INIT;
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        char *cores = idset_encode(layout->nodes[i].claim);
        buf_printf(&out, "%s%u:%s", i ? " " : "", layout->nodes[i].source, cores);
        free(cores);
    }
    return buf_take_text(&out);
}

static inline struct layout *make(const struct world *world)
{
    struct error err = ERROR_INIT;
    struct layout *layout = layout_make(&world->request, &err);
    if (!layout)
        fail_msg("refused: %s", error_text(&err));
    return layout;
}

#endif
