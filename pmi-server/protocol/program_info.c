#include "pmi-server/protocol/program_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define JOB_BYTES 40 /* no description is shorter */

static void read_jobs(struct packet *in, struct view *view)
{
    view->njobs = packet_count(in, JOB_BYTES);
    view->jobs = mem_array(view->njobs, sizeof(*view->jobs));
    for (uint32_t i = 0; i < view->njobs && !in->bad; i++) {
        view->jobs[i].description = describe_read(in);
        if (!view->jobs[i].description)
            in->bad = true;
    }
}

static int compare(const void *a, const void *b)
{
    const struct hub_task *one = a, *other = b;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

static bool ranks_are_in(const struct hub_job *job, const struct hub_task *tasks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (tasks[i].rank >= job->map->ntasks || (i && tasks[i].rank == tasks[i - 1].rank))
            return false;
    return true;
}

/* Of a job that is not over. */
static void read_table(struct packet *in, struct view *view)
{
    uint32_t count;
    char *name = packet_text(in);
    struct hub_task *tasks = tasks_read(in, &count);
    struct view_job *job = (struct view_job *)(uintptr_t)(*name ? view_job(view, name) : NULL);
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

struct view *view_read(struct packet *in)
{
    struct view *view = mem_alloc(sizeof(*view));
    view->slots = packet_u32(in);
    view->left = packet_u64(in);
    view->hosts = packet_text(in);
    read_jobs(in, view);
    uint32_t count = in->bad ? 0 : packet_count(in, 8);
    for (uint32_t i = 0; i < count && !in->bad; i++)
        read_table(in, view);
    if (packet_ends(in))
        return view;
    view_free(view);
    return NULL;
}

void view_free(struct view *view)
{
    if (!view)
        return;
    for (uint32_t i = 0; i < view->njobs; i++) {
        describe_free(view->jobs[i].description);
        free(view->jobs[i].tasks);
    }
    free(view->jobs);
    free(view->hosts);
    free(view);
}

const struct view_job *view_job(const struct view *view, const char *name)
{
    if (!*name)
        return view->njobs == 1 ? &view->jobs[0] : NULL;
    for (uint32_t i = 0; i < view->njobs; i++)
        if (!strcmp(view->jobs[i].description->job.name, name))
            return &view->jobs[i];
    return NULL;
}

const struct hub_app *view_app(const struct hub_job *job, uint32_t rank)
{
    for (uint32_t i = 0; i < job->napps; i++)
        if (rank >= job->apps[i].first_rank && rank - job->apps[i].first_rank < job->apps[i].ntasks)
            return &job->apps[i];
    return NULL;
}
