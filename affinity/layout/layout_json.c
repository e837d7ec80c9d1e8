#include <stdlib.h>

#include "affinity/layout/layout.h"
#include "base/mem.h"

/* Texts that many tasks share, made once. */
struct binding_texts {
    json_t *cpus, *cores;
};

static json_t *set_text(const struct idset *set)
{
    char *text = idset_encode(set);
    json_t *value = json_string(text);
    free(text);
    return value;
}

static json_t *nodes_to_json(const struct layout *layout, const struct layout_request *request)
{
    json_t *nodes = json_array();
    for (uint32_t i = 0; i < layout->nnodes; i++) {
        const struct layout_node *node = &request->nodes[layout->nodes[i].source];
        json_array_append_new(nodes, json_pack("{s:I,s:s,s:I}", "id", (json_int_t)i, "host",
                                               node->host, "target", (json_int_t)node->target));
    }
    return nodes;
}

static json_t *task_to_json(const struct layout_task *task, uint32_t rank,
                            const struct binding_texts *texts)
{
    return json_pack("{s:I,s:I,s:I,s:I,s:O,s:O,s:s}", "rank", (json_int_t)rank, "node",
                     (json_int_t)task->node, "local_rank", (json_int_t)task->local_rank, "app",
                     (json_int_t)task->app, "cpus", texts[task->binding].cpus, "cores",
                     texts[task->binding].cores, "gpus", "");
}

static json_t *tasks_to_json(const struct layout *layout)
{
    struct binding_texts *texts = mem_array(layout->nbindings, sizeof(*texts));
    for (uint32_t i = 0; i < layout->nbindings; i++)
        texts[i] = (struct binding_texts){set_text(layout->bindings[i].cpus),
                                          set_text(layout->bindings[i].cores)};
    json_t *tasks = json_array();
    for (uint32_t rank = 0; rank < layout->ntasks; rank++)
        json_array_append_new(tasks, task_to_json(&layout->tasks[rank], rank, texts));
    for (uint32_t i = 0; i < layout->nbindings; i++) {
        json_decref(texts[i].cpus);
        json_decref(texts[i].cores);
    }
    free(texts);
    return tasks;
}

json_t *layout_to_json(const struct layout *layout, const struct layout_request *request)
{
    char *mapping = taskmap_encode_pmi(layout->map);
    json_t *value =
        json_pack("{s:i,s:I,s:o,s:s?,s:o,s:o}", "version", 1, "ntasks", (json_int_t)layout->ntasks,
                  "taskmap", taskmap_to_json(layout->map), "PMI_process_mapping", mapping, "nodes",
                  nodes_to_json(layout, request), "tasks", tasks_to_json(layout));
    free(mapping);
    return value;
}
