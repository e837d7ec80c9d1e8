/* Map, bind, limit, order, per and GPU strings and a task map, a line each: refused with a sentence,
 * or placed by on a small machine without harm, each task on a processor of its own node. */
#include <stdlib.h>
#include <string.h>

#include "affinity/layout/layout.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

static struct topo *machine(uint32_t at)
{
    static const char *const texts[] = {"package:2 numa:2 l3:1 l2:2 core:1 pu:2",
                                        "numa:2 package:1 core:3 pu:1"};
    static struct topo *topos[2];
    if (!topos[at])
        topos[at] = topo_load_synthetic(texts[at], NULL);
    return topos[at];
}

static const char *take_line(char **rest)
{
    char *line = strsep(rest, "\n");
    return line && *line ? line : NULL;
}

static void check_layout(const struct layout *layout)
{
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        const struct layout_task *task = &layout->tasks[rank];
        const struct topo *topo = machine(layout->nodes[task->node].source % 2);
        if (!idset_has(layout->bindings[task->binding].cpus, topo->os[task->place]))
            abort();
        if (task->gpus != LAYOUT_NO_GPUS &&
            (task->gpus >= layout->ngpu_sets ||
             !idset_within(layout->gpu_sets[task->gpus], layout->nodes[task->node].gpus)))
            abort();
    }
}

static void place(const struct layout_part *part, uint32_t node_count)
{
    struct error err = ERROR_INIT;
    struct idset *cores[2] = {idset_decode("0-2,5-7", NULL), topo_cores(machine(1))};
    struct idset *gpus = idset_decode("0-3,7", NULL);
    struct layout_node nodes[] = {{"a", 0, machine(0), cores[0], gpus, 0},
                                  {"b", 1, machine(1), cores[1], NULL, 3},
                                  {"c", 2, machine(0), cores[0], gpus, 0}};
    struct layout_part parts[] = {*part, {.ntasks = 2}, {.ntasks = 3, .map = "core"}};
    struct layout_request request = {
        .nodes = nodes, .nnodes = 3, .node_count = node_count, .parts = parts, .nparts = 3};
    struct layout *layout = layout_make(&request, &err);
    if (layout)
        check_layout(layout);
    else if (!err.text)
        abort();
    layout_free(layout);
    error_clear(&err);
    idset_free(cores[0]);
    idset_free(cores[1]);
    idset_free(gpus);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    char *text = mem_copy_text_n((const char *)data + 2, size - 2), *rest = text;
    struct error err = ERROR_INIT;
    struct layout_part part = {.ntasks = data[0] % 32u,
                               .cores_per_task = data[1] % 4u,
                               .oversubscribe = data[1] & 4,
                               .gpus_per_task = data[1] >> 3 & 3};
    part.map = take_line(&rest);
    part.bind = take_line(&rest);
    part.mppr = take_line(&rest);
    part.order = take_line(&rest);
    part.per = take_line(&rest);
    part.gpu_bind = take_line(&rest);
    part.taskmap = take_line(&rest);
    if (layout_check_part(&part, &err) == 0)
        place(&part, data[1] >> 6);
    else if (!err.text || err.kind != ERROR_USAGE)
        abort();
    error_clear(&err);
    free(text);
    return 0;
}
