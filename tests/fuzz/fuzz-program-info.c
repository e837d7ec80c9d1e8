/* What a host reads of the program: it is whole, or nothing; and what the service asks of nodes. */
#include <stdlib.h>
#include <string.h>

#include "pmi-server/protocol/program_info.h"
#include "tests/fuzz/fuzz.h"

static void check_info(const struct program_info *view)
{
    for (uint32_t i = 0; i < view->njobs; i++) {
        const struct namespace_facts *job = &view->jobs[i].description->job;
        if (!program_info_job(view, job->name) || (view->jobs[i].ntasks && !view->jobs[i].told))
            abort();
        for (uint32_t k = 0; k < view->jobs[i].ntasks; k++) {
            uint32_t rank = view->jobs[i].tasks[k].rank;
            if (taskmap_node(job->map, rank) >= job->map->nnodes)
                abort();
            program_info_app(job, rank);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pack in = pack_of(data, size);
    struct program_info *view = program_info_read(&in);
    uint64_t number;
    char *job;
    if (view)
        check_info(view);
    program_info_free(view);
    if (task_states_wanted(data, size, &number, &job))
        free(job);
    return 0;
}
