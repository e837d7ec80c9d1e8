#include "affinity/layout/build.h"

#include <stdlib.h>

#include "base/mem.h"

void layout_build_start(struct layout_build *builder, const struct layout_request *request)
{
    *builder =
        (struct layout_build){.request = request, .layout = mem_alloc(sizeof(struct layout))};
    builder->runs = mem_array(request->nparts, sizeof(*builder->runs));
    builder->run_of = mem_array(request->nparts, sizeof(*builder->run_of));
    builder->part_tasks = mem_array(request->nparts, sizeof(*builder->part_tasks));
    builder->node_tasks = mem_array(request->nnodes, sizeof(*builder->node_tasks));
    builder->node_gpus = mem_array(request->nnodes, sizeof(*builder->node_gpus));
    builder->chosen = mem_array(request->nnodes, sizeof(*builder->chosen));
    for (uint32_t node = 0; node < request->nnodes; node++)
        builder->chosen[builder->nchosen++] = node;
}

void layout_build_end(struct layout_build *builder)
{
    node_classes_free(&builder->kinds);
    for (uint32_t i = 0; i < builder->nruns; i++)
        taskmap_scheme_free(&builder->runs[i].deal);
    free(builder->runs);
    free(builder->run_of);
    free(builder->part_tasks);
    free(builder->bindings);
    free(builder->spans);
    hash_table_free(&builder->binding_numbers);
    for (uint32_t node = 0; node < builder->request->nnodes; node++)
        idset_free(builder->node_gpus[node]);
    free(builder->node_gpus);
    hash_table_free(&builder->set_numbers);
    free(builder->node_tasks);
    free(builder->chosen);
}

const struct policy *layout_build_policy(const struct layout_build *builder,
                                         const struct layout_task *task)
{
    return &builder->runs[builder->run_of[task->app]].policy;
}

const struct node_class *layout_build_kind(const struct layout_build *builder, uint32_t node)
{
    return &builder->kinds.kinds[builder->kinds.of[node]];
}
