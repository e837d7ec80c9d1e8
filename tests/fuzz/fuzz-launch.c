/* A launch from another machine is refused with a sentence, or an agent can run what it read: every
 * task has a part and a set of processors. What the input leaves out is taken from a good launch, so
 * that a few members suffice to get far. */
#include <stdlib.h>
#include <string.h>

#include "launcher/program/launch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char good[] =
    "{\"spec\":{\"version\":1,\"parts\":[{\"argv\":[\"a\"]},{\"argv\":[\"b\"]}]},\"program\":"
    "\"f1\","
    "\"instance\":\"/i\",\"taskmap\":{\"version\":1,\"map\":[[0,2,2,1]]},\"sizes\":[1,3],"
    "\"tree_nodes\":[7,8],\"hosts\":\"a,b\",\"kinds\":[{\"cpus\":{\"0\":\"0-1\",\"3\":\"2\"},"
    "\"tasks\":\"0:1,3:1\",\"nodes\":\"0-1\"}],\"bound\":true}";

static void check(const struct launch *launch)
{
    uint32_t last = 0;
    if (launch->nlocal && launch->node >= launch->nnodes)
        abort();
    for (uint32_t i = 0; i < launch->nlocal; i++) {
        const struct launch_task *task = &launch->tasks[i];
        if (task->local_rank != i || task->rank >= launch->ntasks || (i && task->rank <= last) ||
            task->app >= launch->spec->nparts || task->binding >= launch->ncpus)
            abort();
        last = task->rank;
        launch_reads_input(launch->spec, launch->input_ranks, task->rank);
    }
    for (uint32_t i = 0; i < launch->ncpus; i++)
        free(idset_encode(launch->cpus[i]));
    idset_free(launch_input_nodes(launch->spec, launch->map, launch->tree_node, launch->nnodes));
    for (uint32_t i = 0; i < launch->nnodes; i++)
        if (!launch->hosts[i])
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *value = json_loadb((const char *)data, size, 0, NULL);
    if (!value)
        return 0;
    json_t *rest = json_loads(good, 0, NULL);
    json_object_update_missing(value, rest);
    json_decref(rest);
    for (uint32_t node = 6; node <= 8; node++) { /* 6 only relays */
        struct error err = ERROR_INIT;
        struct launch *launch = launch_from_json(value, node, &err);
        if (launch)
            check(launch);
        else if (!err.text)
            abort();
        launch_free(launch);
        error_clear(&err);
    }
    json_decref(value);
    return 0;
}
