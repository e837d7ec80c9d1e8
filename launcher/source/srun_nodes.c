#include "launcher/source/srun_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/process/exec.h"
#include "launcher/source/batch_nodelist.h"
#include "launcher/source/batch_system_private.h"

struct slurm_job {
    struct hostfile *hosts;
    char *text;
    size_t next; /* of the hosts: the one behind the last that was found */
};

static const char *first_of(const char *one, const char *other)
{
    return batch_system_get(one) ? batch_system_get(one) : batch_system_get(other);
}

struct slurm_job *slurm_job_new(struct error *err)
{
    const char *id = first_of("SLURM_JOB_ID", "SLURM_JOBID");
    const char *list = first_of("SLURM_JOB_NODELIST", "SLURM_NODELIST");
    if (!id || !list) {
        error_set(err,
                  id ? "Slurm job %s does not say which nodes it has: SLURM_JOB_NODELIST is not set"
                     : "this is not inside a job of Slurm: SLURM_JOB_ID is not set (auto takes ssh "
                       "where there is no job)",
                  id);
        return NULL;
    }
    char *srun = exec_find("srun", getenv("PATH"), NULL);
    if (!srun) {
        error_set(err, "Slurm job %s: cannot find srun in PATH", id);
        return NULL;
    }
    free(srun);
    struct hostfile *hosts = batch_slurm_hosts(list, err);
    if (!hosts) {
        error_prefix(err, "SLURM_JOB_NODELIST of Slurm job %s", id);
        return NULL;
    }
    struct slurm_job *job = mem_alloc(sizeof(*job));
    job->hosts = hosts;
    job->text = mem_format("Slurm job %s (%s)", id, list);
    return job;
}

void slurm_job_free(struct slurm_job *job)
{
    if (!job)
        return;
    hostfile_free(job->hosts);
    free(job->text);
    free(job);
}

bool slurm_job_has(struct slurm_job *job, const char *host)
{
    for (size_t i = 0; i < job->hosts->count; i++) {
        size_t at = (job->next + i) % job->hosts->count;
        if (strcmp(job->hosts->entries[at].login, host) != 0)
            continue;
        job->next = at + 1;
        return true;
    }
    return false;
}

const char *slurm_job_text(const struct slurm_job *job)
{
    return job->text;
}
