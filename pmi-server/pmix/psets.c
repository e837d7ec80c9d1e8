/*
 * Process sets of a job: parts of it that have a name. Several parts may have the same one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/inside.h"

static bool named(const struct hub_app *app, const char *name)
{
    return app->pset && !strcmp(app->pset, name);
}

static bool is_first(const struct pmix_job_config *config, uint32_t part)
{
    for (uint32_t i = 0; i < part; i++)
        if (named(&config->apps[i], config->apps[part].pset))
            return false;
    return true;
}

/* openpmix 4.2.0 to 4.2.2: what it returns is not set. */
static void define(const struct pmix_job *job, const struct pmix_job_config *config,
                   const char *name)
{
    size_t count = 0;
    pmix_proc_t *procs = mem_array((size_t)config->map->ntasks, sizeof(*procs));
    for (uint32_t i = 0; i < config->napps; i++) {
        const struct hub_app *app = &config->apps[i];
        for (uint32_t k = 0; named(app, name) && k < app->ntasks && count < config->map->ntasks;
             k++) {
            strcpy(procs[count].nspace, job->name); /* as long */
            procs[count++].rank = app->first_rank + k;
        }
    }
    job->host->library->define_process_set(procs, count, name);
    free(procs);
}

void psets_define(struct pmix_job *job, const struct pmix_job_config *config)
{
    size_t count = 0;
    job->psets = mem_array(config->napps + 1, sizeof(*job->psets));
    for (uint32_t i = 0; i < config->napps; i++) {
        const char *name = config->apps[i].pset;
        if (!name || !is_first(config, i))
            continue;
        define(job, config, name);
        job->psets[count++] = mem_copy_text(name);
    }
}

void psets_delete(struct pmix_job *job)
{
    for (char **at = job->psets; at && *at; at++) {
        job->host->library->delete_process_set(*at);
        free(*at);
    }
    free(job->psets);
    job->psets = NULL;
}
