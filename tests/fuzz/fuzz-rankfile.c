/* A rank file is refused with a sentence, or places each of its ranks on the host that it names, on
 * threads that were allocated there; and without --oversubscribe no two share one. */
#include <stdlib.h>
#include <string.h>

#include "affinity/layout/layout.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

static struct topo *machine(uint32_t at)
{
    static const char *const texts[] = {"package:2 numa:2 l3:1 l2:2 core:1 pu:2", "core:3 pu:1"};
    static struct topo *topos[2];
    if (!topos[at])
        topos[at] = topo_load_synthetic(texts[at], NULL);
    return topos[at];
}

static void check_layout(const struct layout *layout, const struct layout_request *request)
{
    struct idset *taken[3] = {idset_new(), idset_new(), idset_new()};
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        uint32_t node = layout->nodes[task->node].source;
        const struct idset *cpus = layout->bindings[task->binding].cpus;
        struct idset *have = topo_cpus_of_cores(machine(node % 2), request->nodes[node].cores);
        if (idset_empty(cpus) || !idset_within(cpus, have) ||
            !idset_has(cpus, machine(node % 2)->os[task->place]))
            abort();
        struct idset *both = idset_intersect(taken[node], cpus);
        if (!idset_empty(both) && !layout->oversubscribed)
            abort();
        struct idset *all = idset_union(taken[node], cpus);
        idset_free(taken[node]);
        idset_free(both);
        idset_free(have);
        taken[node] = all;
    }
    for (int i = 0; i < 3; i++)
        idset_free(taken[i]);
}

static void place(const struct rankfile *file, unsigned how)
{
    struct error err = ERROR_INIT;
    struct idset *cores[2] = {idset_decode("0-2,5-7", NULL), topo_cores(machine(1))};
    struct layout_node nodes[] = {
        {.host = "a", .topo = machine(0), .cores = cores[0]},
        {.host = "b.c", .topo = machine(1), .cores = cores[1], .limit = 3},
        {.host = "c", .topo = machine(0), .cores = cores[0]}};
    struct layout_part parts[] = {
        {.ntasks = how >> 1 & 3, .rankfile = file, .oversubscribe = how & 1},
        {.ntasks = 1, .map = "hwthread"}};
    struct layout_request request = {.nodes = nodes,
                                     .nnodes = 3,
                                     .node_count = how >> 3 & 3,
                                     .parts = parts,
                                     .nparts = 1 + (how >> 5 & 1)};
    struct layout *layout = layout_make(&request, &err);
    if (layout)
        check_layout(layout, &request);
    else if (!err.text)
        abort();
    layout_free(layout);
    error_clear(&err);
    idset_free(cores[0]);
    idset_free(cores[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct error err = ERROR_INIT;
    struct rankfile *file = rankfile_parse("f", (const char *)data + 1, size - 1, &err);
    if (file)
        place(file, data[0]);
    else if (!err.text || err.kind != ERROR_USAGE)
        abort();
    rankfile_free(file);
    error_clear(&err);
    return 0;
}
