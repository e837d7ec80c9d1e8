/*
 * Who is missing: a task that ended well without ever connecting, or after it had finalized. It
 * enters no fence any more, and openpmix would wait for it for ever. It is counted out, so that
 * fences of all come here even where all who are left are of this node.
 *
 * One that tasks of this node alone have entered by then stays openpmix's own, and nothing tells that
 * it is open. But who has committed something did so for the others, and meets them in a fence: that
 * is what is waited for in vain.
 */
#include <string.h>

#include "pmi-server/pmix/internal.h"

static bool is_running(const struct client *client)
{
    return !client->gone && atomic_load(&client->state) == PMI_RUNNING;
}

bool client_of(const struct pmix_job *job, const struct idset *ranks, uint32_t *rank)
{
    for (uint32_t i = 0; i < job->nclients; i++)
        if (is_running(&job->clients[i]) && idset_has(ranks, job->clients[i].rank)) {
            *rank = job->clients[i].rank;
            return true;
        }
    return false;
}

/* One that never connected is missing everywhere, and so are all fences of all. */
static bool commits_in_vain(const struct pmix_job *job, uint32_t *waiting)
{
    for (uint32_t i = 0; job->missing_from == 0 && i < job->nclients; i++)
        if (job->clients[i].committed && is_running(&job->clients[i])) {
            *waiting = job->clients[i].rank;
            return true;
        }
    return false;
}

void missing_check(struct pmix_job *job)
{
    uint32_t waiting;
    if (!job->is_missing || job->told_stuck)
        return;
    if (!fences_stuck(job, &waiting) && !commits_in_vain(job, &waiting))
        return;
    job->told_stuck = true;
    job->host->ops->stuck(job->host->arg, job, job->missing, waiting);
}

/* ---- commits ---- */

static struct client *job_client(struct pmix_job *job, uint32_t rank)
{
    for (uint32_t i = 0; i < job->nclients; i++)
        if (job->clients[i].rank == rank)
            return &job->clients[i];
    return NULL;
}

static void committed(struct pmix_host *host, struct upcall *event);

/* openpmix's thread. */
static void found(pmix_status_t status, char *data, size_t len, void *cbdata)
{
    struct upcall *event = cbdata;
    (void)data, (void)len;
    event->status = status;
    upcall_queue_push(event);
}

static void watch_commit(const struct pmix_job *job, uint32_t rank)
{
    pmix_proc_t proc = {.rank = rank};
    strcpy(proc.nspace, job->name); /* as long */
    struct upcall *event = upcall_new(committed, &proc);
    if (job->host->library->dmodex_request(&proc, found, event) != PMIX_SUCCESS)
        upcall_free(event);
}

/* PMIX_ERR_NOT_FOUND: a task has committed nothing for other nodes, or, from openpmix 7.0 on, it
 * finalizes without having committed. The second question is answered after the host has heard of
 * the finalize. */
static void committed(struct pmix_host *host, struct upcall *event)
{
    struct pmix_job *job = server_job(host, event->proc.nspace);
    struct client *client = job ? job_client(job, event->proc.rank) : NULL;
    if (!client)
        return;
    if (event->status != PMIX_SUCCESS && !client->watched_again) {
        client->watched_again = true;
        watch_commit(job, client->rank);
        return;
    }
    client->committed = true;
    missing_check(job);
}

/* What is put can be fetched once it is committed, and openpmix tells when. For a task that never
 * commits, openpmix before 7.0 keeps the event for ever. */
static void watch_commits(struct pmix_job *job)
{
    for (uint32_t i = 0; i < job->nclients; i++) {
        struct client *client = &job->clients[i];
        if (client->gone || client->watched)
            continue;
        client->watched = true;
        watch_commit(job, client->rank);
    }
}

/* ---- who is missing ---- */

static void counted_out(pmix_status_t status, void *cbdata)
{
    (void)status, (void)cbdata;
}

void missing_count_out(struct pmix_job *job)
{
    static pmix_info_t nothing = {.key = PMIX_REGISTER_NODATA}; /* openpmix keeps a pointer to it */
    uint32_t left = 0;
    for (uint32_t i = 0; i < job->nclients; i++)
        left += !job->clients[i].gone;
    if (left)
        job->host->library->register_nspace(job->name, (int)left, &nothing, 1, counted_out, NULL);
}

void pmix_namespace_missing(struct pmix_job *job, uint32_t rank, uint64_t from)
{
    if (rank >= job->map->ntasks || (job->is_missing && from >= job->missing_from))
        return;
    job->is_missing = true;
    job->missing = rank;
    job->missing_from = from;
    if (from == 0)
        watch_commits(job);
    missing_check(job);
}

bool pmix_namespace_gone(struct pmix_job *job, uint32_t local_rank, uint64_t *from)
{
    struct client *client = &job->clients[local_rank];
    enum pmi_state state = pmix_namespace_state(job, local_rank);
    client->gone = true;
    if (state == PMI_RUNNING)
        return false;
    missing_count_out(job);
    *from = state == PMI_SILENT ? 0 : job->fenced + 1;
    pmix_namespace_missing(job, client->rank, *from);
    return true;
}
