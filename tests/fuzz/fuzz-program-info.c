/* What a host reads of the program: it is whole, or nothing; and what the hub asks of nodes. */
#include <stdlib.h>
#include <string.h>

#include "pmi-server/protocol/program_info.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct view *view)
{
    for (uint32_t i = 0; i < view->njobs; i++) {
        const struct hub_job *job = &view->jobs[i].description->job;
        if (!view_job(view, job->name) || (view->jobs[i].ntasks && !view->jobs[i].told))
            abort();
        for (uint32_t k = 0; k < view->jobs[i].ntasks; k++) {
            uint32_t rank = view->jobs[i].tasks[k].rank;
            if (taskmap_node(job->map, rank) >= job->map->nnodes)
                abort();
            view_app(job, rank);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct packet in = packet_of(data, size);
    struct view *view = view_read(&in);
    uint64_t number;
    char *job;
    if (view)
        check(view);
    view_free(view);
    if (tasks_wanted(data, size, &number, &job))
        free(job);
    return 0;
}
