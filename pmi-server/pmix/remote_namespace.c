/*
 * Remote namespaces: namespaces of the program that have no task on this node. Who wants to know of one is
 * told by the service, and so is openpmix, which keeps it until the job is over.
 */
#include "pmi-server/pmix/remote_namespace.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/direct_modex_waiting.h"
#include "pmi-server/pmix/job_info.h"
#include "pmi-server/pmix/namespace.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/service_requests.h"
#include "pmi-server/protocol/namespace_info.h"

struct remote_namespace {
    struct remote_namespace *next;
    pmix_nspace_t name;
};

static struct remote_namespace **remote_namespace_find(struct pmix_host *host, const char *name)
{
    struct remote_namespace **at = &host->remotes;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static bool remote_namespace_is_known(struct pmix_host *host, const char *name)
{
    return namespace_find(host, name) || *remote_namespace_find(host, name);
}

/* ---- registered ---- */

static pmix_status_t remote_namespace_add(struct pmix_host *host, const struct namespace_facts *job)
{
    const struct pmix_namespace_config config = {
        .name = job->name,
        .spawner = job->spawner,
        .spawner_rank = job->spawner_rank,
        .session = job->session,
        .universe_size = job->universe_size,
        .map = job->map,
        .hosts = job->hosts,
        .apps = job->apps,
        .napps = job->napps,
        .map_by = job->map_by,
        .rank_by = job->rank_by,
        .bind_to = job->bind_to,
    };
    struct library_calls calls = LIBRARY_CALLS_INIT;
    struct job_data data = {0};
    job_info_register(host, &config, &data, &calls);
    pmix_status_t status = library_calls_wait(&calls);
    job_info_free(&data, host->library);
    if (status != PMIX_SUCCESS)
        return status;
    struct remote_namespace *remote = mem_alloc(sizeof(*remote));
    strcpy(remote->name, job->name); /* as long at most */
    remote->next = host->remotes;
    host->remotes = remote;
    return PMIX_SUCCESS;
}

static void described(struct pmix_host *host, struct upcall *event, enum reply_status status,
                      struct pack *rest)
{
    event->status = service_status(status);
    while (event->status == PMIX_SUCCESS && !pack_ends(rest)) {
        struct namespace_info *description = namespace_info_read(rest);
        if (!description)
            event->status = PMIX_ERR_BAD_PARAM;
        else if (!remote_namespace_is_known(host, description->job.name)) /* else asked twice */
            event->status = remote_namespace_add(host, &description->job);
        namespace_info_free(description);
    }
    event->run(host, event);
}

/* ---- asked about ---- */

/* "": nobody's. */
static void put_unknown(struct pmix_host *host, const char *name, struct buf *names,
                        uint32_t *count)
{
    if (!name[0] || remote_namespace_is_known(host, name))
        return;
    pack_put_text(names, name);
    ++*count;
}

void remote_namespace_need(struct pmix_host *host, struct upcall *event,
                           void (*then)(struct pmix_host *host, struct upcall *event))
{
    struct buf names = BUF_INIT, rest = BUF_INIT;
    const char *last = event->proc.nspace;
    uint32_t count = 0;
    put_unknown(host, last, &names, &count);
    for (size_t i = 0; i < event->nprocs; last = event->procs[i++].nspace)
        if (strcmp(event->procs[i].nspace, last) != 0) /* openpmix sorts them */
            put_unknown(host, event->procs[i].nspace, &names, &count);
    event->run = then;
    event->status = PMIX_SUCCESS;
    pack_put_u32(&rest, count);
    buf_add(&rest, buf_bytes(&names), names.len);
    if (count)
        service_request(host, event, REQUEST_DESCRIBE, &rest, described);
    else
        then(host, event);
    buf_free(&names);
    buf_free(&rest);
}

/* ---- over ---- */

static bool remote_namespace_forget(struct pmix_host *host, const char *name)
{
    struct remote_namespace **at = remote_namespace_find(host, name), *remote = *at;
    if (!remote)
        return false;
    *at = remote->next;
    free(remote);
    return true;
}

void remote_namespace_comes(struct pmix_job *job)
{
    remote_namespace_forget(job->host, job->name);
}

/* openpmix from 4.2.2 on (still so in 7.0.0 rc1): a namespace whose task it was told does not exist is noted as
 * one that is still to be told of; from then on who asks for one of its tasks waits for ever. */
void remote_namespace_deny(struct pmix_host *host, const char *name)
{
    if (!remote_namespace_is_known(host, name))
        waiting_deregister(host->library, name, NULL, NULL);
}

int remote_namespace_removed(struct pmix_host *host, struct message_down *talk)
{
    char *name = pack_get_text(&talk->rest);
    int rc = pack_ends(&talk->rest) ? 0 : -1;
    if (rc == 0 && remote_namespace_forget(host, name))
        waiting_deregister(host->library, name, NULL, NULL);
    free(name);
    return rc;
}

void remote_namespaces_free(struct pmix_host *host)
{
    while (host->remotes)
        remote_namespace_forget(host, host->remotes->name);
}
