/* Namespaces with tasks on this node: registered, found and freed. */
#include "pmi-server/pmix/namespace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "pmi-server/pmix/direct_modex_waiting.h"
#include "pmi-server/pmix/job_info.h"
#include "pmi-server/pmix/listeners.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/upcall_queue.h"

struct pmix_job *namespace_find(const struct pmix_host *host, const char *name)
{
    struct pmix_job *job = host->jobs;
    while (job && strcmp(job->name, name) != 0)
        job = job->next;
    return job;
}

struct client *namespace_client(const struct pmix_job *job, uint32_t rank)
{
    for (uint32_t i = 0; i < job->nclients; i++)
        if (job->clients[i].rank == rank)
            return &job->clients[i];
    return NULL;
}

static struct pmix_job *job_make(struct pmix_host *host, const struct pmix_namespace_config *config,
                                 void *data)
{
    struct pmix_job *job = mem_alloc(sizeof(*job));
    job->host = host;
    job->data = data;
    job->session = config->session;
    strncpy(job->name, config->name, sizeof(job->name) - 1);
    job->map = taskmap_copy(config->map);
    job->node = config->node;
    job->tmpdir = mem_copy_text(config->tmpdir);
    job->goes_on = config->goes_on;
    job->nclients = config->nlocals;
    job->clients = mem_array(config->nlocals, sizeof(*job->clients));
    for (uint32_t i = 0; i < config->nlocals; i++)
        job->clients[i].rank = config->locals[i].rank;
    return job;
}

pmix_proc_t namespace_proc(const struct pmix_job *job, uint32_t rank)
{
    pmix_proc_t proc = {.rank = rank};
    strcpy(proc.nspace, job->name); /* as long */
    return proc;
}

static pmix_status_t job_register(struct pmix_job *job, const struct pmix_namespace_config *config)
{
    const struct pmix_library *library = job->host->library;
    struct library_calls calls = LIBRARY_CALLS_INIT;
    struct job_data data = {0};
    job_info_register(job->host, config, &data, &calls);
    library_calls_begin(&calls);
    library_calls_begun(
        &calls, library->setup_local_support(job->name, NULL, 0, library_calls_end, &calls));
    for (uint32_t i = 0; i < job->nclients; i++) {
        struct client *client = &job->clients[i];
        pmix_proc_t proc = namespace_proc(job, client->rank);
        client->job = job;
        library_calls_begin(&calls);
        library_calls_begun(&calls, library->register_client(&proc, geteuid(), getegid(), client,
                                                             library_calls_end, &calls));
    }
    pmix_status_t status = library_calls_wait(&calls);
    for (uint32_t i = 0; status == PMIX_SUCCESS && i < job->nclients; i++)
        waiting_forget(job->name, job->clients[i].rank);
    job_info_free(&data, library);
    for (uint32_t i = 0; status == PMIX_SUCCESS && i < job->nclients; i++) {
        struct client *client = &job->clients[i];
        pmix_proc_t proc = namespace_proc(job, client->rank);
        /* A list, if an empty one: openpmix takes what equals `environ` for the process's own, and its
         * `environ`, bound deeply, is not the executable's but a NULL. */
        client->environment = mem_array(1, sizeof(*client->environment));
        status = library->setup_fork(&proc, &client->environment);
        listeners_learn_port(client->environment);
    }
    if (status == PMIX_SUCCESS)
        job->psets = process_sets_define(library, config);
    return status;
}

struct pmix_job *pmix_namespace_new(struct pmix_host *host,
                                    const struct pmix_namespace_config *config, void *owner_data,
                                    struct error *err)
{
    if (!config->name[0] || strlen(config->name) > PMIX_MAX_NSLEN) {
        error_set(err, "a PMIx namespace's name has 1 to %d bytes: \"%s\"", PMIX_MAX_NSLEN,
                  config->name);
        return NULL;
    }
    if (namespace_find(host, config->name)) {
        error_set(err, "there is a PMIx namespace \"%s\" already", config->name);
        return NULL;
    }
    if (config->node >= config->map->nnodes) {
        error_set(err, "PMIx namespace \"%s\" has no node %u", config->name, config->node);
        return NULL;
    }
    struct pmix_job *job = job_make(host, config, owner_data);
    job->next = host->jobs;
    host->jobs = job;
    for (const struct pmix_feature *feature = host->features; feature->name; feature++)
        if (feature->namespace_comes)
            feature->namespace_comes(job);
    pmix_status_t status = job_register(job, config);
    if (status == PMIX_SUCCESS)
        return job;
    error_set(err, "openpmix refuses the namespace \"%s\": %s", config->name,
              host->library->error_string(status));
    pmix_namespace_free(job);
    return NULL;
}

static void job_unlink(struct pmix_job **from, struct pmix_job *job)
{
    while (*from && *from != job)
        from = &(*from)->next;
    if (*from)
        *from = job->next;
}

/* openpmix has let go of the job. Its thread may hang for ever in what it has freed (lost_connections.h has one
 * such way). So nothing waits for it without an end: process sets, whose deletion does, go only now. */
static void job_left(struct pmix_host *host, struct upcall *event)
{
    struct pmix_job *job = event->cbdata;
    job_unlink(&host->leaving, job);
    process_sets_delete(host->library, job->psets);
    for (const struct pmix_feature *feature = host->features; feature->name; feature++)
        if (feature->namespace_left)
            feature->namespace_left(job);
    for (uint32_t i = 0; i < job->nclients; i++) {
        for (char **at = job->clients[i].environment; at && *at; at++)
            free(*at);
        free(job->clients[i].environment);
    }
    free(job->clients);
    free(job->tmpdir);
    taskmap_free(job->map);
    free(job);
}

/* openpmix's thread: no upcall will name the job any more. */
static void deregistered(pmix_status_t status, void *job)
{
    (void)status;
    struct upcall *event = upcall_new(job_left, NULL);
    event->cbdata = job;
    upcall_queue_push(event);
}

void pmix_namespace_free(struct pmix_job *job)
{
    if (!job)
        return;
    struct pmix_host *host = job->host;
    for (const struct pmix_feature *feature = host->features; feature->name; feature++)
        if (feature->namespace_leaves)
            feature->namespace_leaves(job);
    job_unlink(&host->jobs, job);
    pending_requests_drop(host->requests, job->name);
    job->next = host->leaving;
    host->leaving = job;
    waiting_deregister(host->library, job->name, deregistered, job);
}

void *pmix_namespace_data(const struct pmix_job *job)
{
    return job->data;
}

char *const *pmix_namespace_environment(struct pmix_job *job, uint32_t local_rank)
{
    return job->clients[local_rank].environment;
}

enum pmi_state pmix_namespace_state(const struct pmix_job *job, uint32_t local_rank)
{
    return (enum pmi_state)atomic_load(&job->clients[local_rank].state);
}
