/* A job of Slurm: its nodes with their cores and GPUs, which R is made of (node_list.c), and those that its srun
 * can start agents on. */
#include "launcher/source/slurm_job.h"

#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/mem.h"
#include "launcher/process/exec.h"
#include "launcher/source/batch_system_private.h"
#include "launcher/source/slurm_nodelist.h"

#define SLURM_MAX_COMPONENTS 128 /* MAX_HET_JOB_COMPS of Slurm */

struct slurm_job {
    struct hostfile *hosts;
    char *text;
    size_t next; /* of the hosts: the one behind the last that was found */
};

static const char *const slurm_lists[] = {"SLURM_JOB_NODELIST", "SLURM_NODELIST", NULL};

/* The first of these that is set, or NULL. */
static const char *first_set(const char *const *variables)
{
    while (*variables && !batch_system_get(*variables))
        variables++;
    return *variables;
}

/* Nodes of the components of a heterogeneous job behind the first, whose nodes are `used`: an srun
 * reaches those of one component. NULL: no component has others. Caller frees. */
static char *components_note(const struct batch_system *source, const struct hostfile *used)
{
    const char *size = batch_system_get("SLURM_HET_SIZE");
    unsigned long count = size ? strtoul(size, NULL, 10) : 0;
    struct hostlist *first = hostlist_new(), *others = hostlist_new();
    for (size_t k = 0; k < used->count; k++)
        hostlist_append(first, used->entries[k].login);
    for (unsigned i = 1; i < count && i < SLURM_MAX_COMPONENTS; i++) {
        char *name = mem_format("SLURM_JOB_NODELIST_HET_GROUP_%u", i);
        const char *list = batch_system_get(name);
        struct hostfile *hosts = list ? slurm_nodelist_hosts(list, NULL) : NULL;
        for (size_t k = 0; hosts && k < hosts->count; k++) {
            const char *host = hosts->entries[k].login;
            if (hostlist_find(first, host) < 0 && hostlist_find(others, host) < 0)
                hostlist_append(others, host);
        }
        hostfile_free(hosts);
        free(name);
    }
    char *names = hostlist_encode(others), *job = batch_system_identity(source);
    bool any = hostlist_count(others) > 0;
    char *note =
        any ? mem_format("%s has %lu components: the nodes of the first are used, %s %s not", job,
                         count, names, hostlist_count(others) > 1 ? "are" : "is")
            : NULL;
    hostlist_free(first);
    hostlist_free(others);
    free(names);
    free(job);
    return note;
}

/* The limit is the CPUs that were granted, not SLURM_TASKS_PER_NODE, which is what srun(1) would
 * start: a job of one task with eight CPUs has room for eight tasks of one core. Where Slurm counts
 * hardware threads the mask and the cgroup say what that means in cores. */
struct node_list *slurm_nodes(const struct batch_system *source, double now, struct error *err)
{
    static const char *const counts[] = {"SLURM_JOB_CPUS_PER_NODE", "SLURM_TASKS_PER_NODE", NULL};
    const char *list = first_set(slurm_lists), *count = first_set(counts);
    (void)now;
    if (!list)
        return batch_refuse(source, slurm_lists[0], err);
    struct hostfile *file = slurm_nodelist_hosts(batch_system_get(list), err);
    if (file && count && slurm_nodelist_counts(file, batch_system_get(count), err) < 0) {
        hostfile_free(file);
        return batch_broken(source, count, err);
    }
    char *note = file ? components_note(source, file) : NULL;
    struct node_list *nodes = batch_nodes(source, file, list, true, err);
    if (nodes)
        nodes->note = note;
    else
        free(note);
    return nodes;
}

struct slurm_job *slurm_job_new(struct error *err)
{
    static const char *const ids[] = {"SLURM_JOB_ID", "SLURM_JOBID", NULL};
    const char *id = first_set(ids), *list = first_set(slurm_lists);
    id = id ? batch_system_get(id) : NULL;
    if (!id || !list) {
        error_set(err,
                  id ? "Slurm job %s does not say which nodes it has: SLURM_JOB_NODELIST is not set"
                     : "this is not inside a job of Slurm: SLURM_JOB_ID is not set (auto takes ssh "
                       "where there is no job)",
                  id);
        return NULL;
    }
    list = batch_system_get(list);
    char *srun = exec_find("srun", getenv("PATH"), NULL);
    if (!srun) {
        error_set(err, "Slurm job %s: cannot find srun in PATH", id);
        return NULL;
    }
    free(srun);
    struct hostfile *hosts = slurm_nodelist_hosts(list, err);
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
