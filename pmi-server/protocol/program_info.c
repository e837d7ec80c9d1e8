/* The answer to REQUEST_QUERY, read. The service writes it (service/query.c). */
#include "pmi-server/protocol/program_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define JOB_BYTES 40 /* no description is shorter */

static int compare(const void *a, const void *b)
{
    const struct task_info *one = a, *other = b;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

static bool ranks_are_in(const struct namespace_facts *job, const struct task_info *tasks,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (tasks[i].rank >= job->map->ntasks || (i && tasks[i].rank == tasks[i - 1].rank))
            return false;
    return true;
}

/* Of a job that is not over. */
static void read_table(struct pack *in, struct program_info *view)
{
    uint32_t count;
    char *name = pack_get_text(in);
    struct task_info *tasks = task_states_read(in, &count);
    struct program_info_job *job =
        (struct program_info_job *)(uintptr_t)(*name ? program_info_job(view, name) : NULL);
    if (count)
        qsort(tasks, count, sizeof(*tasks), compare);
    if (job && !job->told && ranks_are_in(&job->description->job, tasks, count)) {
        job->told = true;
        job->tasks = tasks;
        job->ntasks = count;
    } else {
        in->bad = in->bad || job;
        free(tasks);
    }
    free(name);
}

struct program_info *program_info_read(struct pack *in)
{
    struct program_info *view = mem_alloc(sizeof(*view));
    view->slots = pack_u32(in);
    view->left = pack_u64(in);
    view->hosts = pack_get_text(in);
    view->njobs = pack_count(in, JOB_BYTES);
    view->jobs = mem_array(view->njobs, sizeof(*view->jobs));
    for (uint32_t i = 0; i < view->njobs && !in->bad; i++) {
        view->jobs[i].description = namespace_info_read(in);
        if (!view->jobs[i].description)
            in->bad = true;
    }
    uint32_t count = in->bad ? 0 : pack_count(in, 8);
    for (uint32_t i = 0; i < count && !in->bad; i++)
        read_table(in, view);
    if (pack_ends(in))
        return view;
    program_info_free(view);
    return NULL;
}

void program_info_free(struct program_info *view)
{
    if (!view)
        return;
    for (uint32_t i = 0; i < view->njobs; i++) {
        namespace_info_free(view->jobs[i].description);
        free(view->jobs[i].tasks);
    }
    free(view->jobs);
    free(view->hosts);
    free(view);
}

const struct program_info_job *program_info_job(const struct program_info *view, const char *name)
{
    if (!*name)
        return view->njobs == 1 ? &view->jobs[0] : NULL;
    for (uint32_t i = 0; i < view->njobs; i++)
        if (!strcmp(view->jobs[i].description->job.name, name))
            return &view->jobs[i];
    return NULL;
}

const struct namespace_app *program_info_app(const struct namespace_facts *job, uint32_t rank)
{
    for (uint32_t i = 0; i < job->napps; i++)
        if (rank >= job->apps[i].first_rank && rank - job->apps[i].first_rank < job->apps[i].ntasks)
            return &job->apps[i];
    return NULL;
}
