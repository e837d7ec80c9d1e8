/* A launch from another machine is refused with a sentence, or an agent can run what it read: every
 * task has a part and a set of processors. The input is one member of an otherwise good launch, which
 * its first byte chooses: JSON, or else the characters of a text. */
#include <stdlib.h>
#include <string.h>

#include "launcher/protocol/launch.h"
#include "tests/fuzz/fuzz.h"

static const char good[] =
    "{\"group\":2,\"first_rank\":4,\"spawner\":0,\"spawner_rank\":1,\"preput\":[[\"k\",\"v\"]],"
    "\"spec\":{\"version\":1,\"parts\":[{\"argv\":[\"a\"]},{\"argv\":[\"b\"]}]},\"program\":"
    "\"f1\","
    "\"instance\":\"/i\",\"taskmap\":{\"version\":1,\"map\":[[0,2,2,1]]},\"sizes\":[1,3],"
    "\"tree_nodes\":[7,8],\"hosts\":\"a,b\",\"kinds\":[{\"cpus\":{\"0\":\"0-1\",\"3\":\"2\"},"
    "\"tasks\":\"0:1,3:1\",\"gpus\":\"2:1,0:1\",\"gpu_sets\":{\"2\":\"0,4\"},\"nodes\":\"0-1\"}]}";

static void check_launch(const struct launch *launch)
{
    uint32_t last = 0;
    if (launch->nlocal && launch->node >= launch->nnodes)
        abort();
    for (uint32_t i = 0; i < launch->nlocal; i++) {
        const struct launch_task *task = &launch->tasks[i];
        if (task->local_rank != i || task->rank >= launch->ntasks || (i && task->rank <= last) ||
            task->app >= launch->spec->nparts || task->binding >= launch->ncpus ||
            (task->gpus != LAYOUT_NO_GPUS && task->gpus >= launch->ngpus))
            abort();
        last = task->rank;
        launch_reads_input(launch->spec, launch->input_ranks, task->rank);
    }
    for (uint32_t i = 0; i < launch->ncpus; i++)
        free(idset_encode(launch->cpus[i]));
    for (size_t i = 0; i < launch->npreput; i++)
        if (!launch->preput[i].key || !launch->preput[i].value)
            abort();
    if (launch->first_rank > INT32_MAX - launch->ntasks)
        abort();
    if (launch->claim)
        free(idset_encode(launch->claim));
    for (uint32_t i = 0; i < launch->ngpus; i++)
        free(idset_encode(launch->gpus[i]));
    idset_free(launch_input_nodes(launch->spec, launch->map, launch->tree_node, launch->nnodes));
    for (uint32_t i = 0; i < launch->nnodes; i++)
        if (!launch->hosts[i])
            abort();
}

/* "cpus" and those after it are inside the first of "kinds". */
static json_t *variant(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {"spec",  "taskmap", "sizes",      "tree_nodes", "hosts",
                                       "kinds", "group",   "first_rank", "spawner",    "preput",
                                       "cpus",  "tasks",   "nodes",      "claim"};
    json_t *value = json_loads(good, 0, NULL);
    size_t key = data[0] % (sizeof(keys) / sizeof(keys[0]));
    json_t *into = key < 10 ? value : json_array_get(json_object_get(value, "kinds"), 0);
    json_t *member = json_loadb((const char *)data + 1, size - 1, JSON_DECODE_ANY, NULL);
    if (!member)
        member = json_stringn((const char *)data + 1, size - 1);
    json_object_set_new(into, keys[key], member ? member : json_null());
    return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    json_t *value = variant(data, size);
    for (uint32_t node = 6; node <= 8; node++) { /* 6 only relays */
        struct error err = ERROR_INIT;
        struct launch *launch = launch_from_json(value, node, &err);
        if (launch)
            check_launch(launch);
        else if (!err.text)
            abort();
        launch_free(launch);
        error_clear(&err);
    }
    json_decref(value);
    return 0;
}
