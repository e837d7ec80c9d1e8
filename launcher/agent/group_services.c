/* What PMI servers, openpmix and the fence ask of a group and its tasks. */
#include "launcher/agent/group_services.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"

struct group_services {
    struct group_services_config config;
    struct group_fence *fence;
    struct pmi_sockets *pmi; /* NULL: neither PMI-1 nor PMI-2 is offered here */
    struct group_pmix_job *pmix;
    struct spawn_and_names *requests;
};

/* ---- of all of them ---- */

static void group_on_abort(void *owner, uint32_t rank, int status, const char *message)
{
    struct group_services *serves = owner;
    exit_report_ended_rank(serves->config.shared->report,
                           serves->config.shared->launch->first_rank + rank, "abort",
                           W_EXITCODE(status & 0xff, 0), message);
}

static void report_stuck(struct group_services *serves, const char *what, uint32_t missing,
                         uint32_t waiting)
{
    uint32_t first = serves->config.shared->launch->first_rank;
    if (local_tasks_are_ending(serves->config.shared))
        return;
    char *text = mem_format("ended without entering the %s that rank %u waits in: every rank has "
                            "to call MPI_Init, or none",
                            what, first + waiting);
    exit_report_ended_rank(serves->config.shared->report, first + missing, "pmi", W_EXITCODE(1, 0),
                           text);
    free(text);
}

/* ---- the fence ---- */

_Static_assert(PMIX_SERVER_ROUND > PMI_GROUP_HASH, "rounds of PMI and of PMIx are told apart");

/* What no single task is to blame for. */
static void group_fence_failed(void *owner, const struct error *err)
{
    struct group_services *serves = owner;
    if (!local_tasks_are_ending(serves->config.shared))
        exit_report_ended(serves->config.shared->report, NULL, "pmi", W_EXITCODE(1, 0),
                          error_text(err));
}

static void group_fence_done(void *owner, uint64_t id, const void *bytes, size_t len)
{
    struct group_services *serves = owner;
    struct error err = ERROR_INIT;
    int rc = id & PMIX_SERVER_ROUND ? pmix_job_exchanged(serves->pmix, id, bytes, len, &err)
             : serves->pmi          ? pmi_sockets_exchanged(serves->pmi, id, bytes, len, &err)
                                    : 0;
    if (rc < 0)
        group_fence_failed(serves, &err);
    error_clear(&err);
}

static const struct group_fence_ops group_fence_ops = {group_fence_done, group_fence_failed};

/* ---- PMI-1 and PMI-2 ---- */

static void group_pmi_broken(void *owner, uint32_t rank, const struct error *err)
{
    struct group_services *serves = owner;
    exit_report_ended_rank(serves->config.shared->report,
                           serves->config.shared->launch->first_rank + rank, "pmi",
                           W_EXITCODE(1, 0), error_text(err));
}

static void group_pmi_limited(void *owner, uint32_t rank, const char *what)
{
    struct group_services *serves = owner;
    uplink_note(serves->config.shared->services->uplink, "rank %u on %s: PMI: %s",
                serves->config.shared->launch->first_rank + rank,
                serves->config.shared->services->host, what);
}

static void group_pmi_stuck(void *owner, uint32_t missing, uint32_t waiting)
{
    report_stuck(owner, "PMI barrier", missing, waiting);
}

static const struct pmi_sockets_ops group_pmi_ops = {.abort = group_on_abort,
                                                     .broken = group_pmi_broken,
                                                     .limited = group_pmi_limited,
                                                     .stuck = group_pmi_stuck};

/* ---- PMIx ---- */

static void group_pmix_stuck(void *owner, uint32_t missing, uint32_t waiting)
{
    report_stuck(owner, "PMIx fence", missing, waiting);
}

static void group_pmix_spawn(void *owner, uint32_t rank, uint64_t token,
                             const struct spawn_request *spawn)
{
    struct group_services *serves = owner;
    spawn_and_names_on_pmix_spawn(serves->requests, rank, token, spawn);
}

static void group_pmix_failed(void *owner, const struct error *err)
{
    struct group_services *serves = owner;
    exit_report_ended(serves->config.shared->report, NULL, "pmi", W_EXITCODE(1, 0),
                      error_text(err));
}

static const struct group_pmix_job_ops group_pmix_ops = {.abort = group_on_abort,
                                                         .stuck = group_pmix_stuck,
                                                         .spawn = group_pmix_spawn,
                                                         .failed = group_pmix_failed};

/* ---- life ---- */

struct group_services *group_services_new(const struct group_services_config *config)
{
    const struct local_tasks *shared = config->shared;
    const struct local_services *services = shared->services;
    struct group_services *serves = mem_alloc(sizeof(*serves));
    serves->config = *config;
    serves->fence = group_fence_new(services->uplink, services->downlink, shared->launch,
                                    config->nodes, &group_fence_ops, serves);
    const struct group_pmix_job_config pmix = {.host = services->pmix,
                                               .fence = serves->fence,
                                               .launch = shared->launch,
                                               .ops = &group_pmix_ops,
                                               .owner = serves,
                                               .task_ops = config->task_ops,
                                               .group = config->tasks,
                                               .post = config->post,
                                               .sender = config->sender};
    serves->pmix = pmix_job_new(&pmix);
    serves->requests = spawn_and_names_new(services->uplink, shared->launch, serves->pmix,
                                           services->topology_file);
    return serves;
}

void group_services_free(struct group_services *serves, struct group_pmix_job **retained)
{
    if (!serves)
        return;
    if (retained && !local_tasks_are_ending(serves->config.shared))
        pmix_job_retain(retained, serves->pmix);
    else
        pmix_job_free(serves->pmix);
    pmi_sockets_free(serves->pmi);
    group_fence_free(serves->fence);
    spawn_and_names_free(serves->requests);
    free(serves);
}

/* What may be more than a program needs, since nothing is known of it, need not be there. */
int group_services_open(struct group_services *serves, unsigned offered, bool needs_pmix,
                        struct error *err)
{
    struct launch *launch = serves->config.shared->launch;
    const struct pmi_sockets_config pmi = {.loop = serves->config.shared->services->loop,
                                           .launch = launch,
                                           .fence = serves->fence,
                                           .requests = serves->requests,
                                           .ops = &group_pmi_ops,
                                           .owner = serves};
    serves->pmi = pmi_sockets_new(&pmi, offered);
    if (pmix_job_open(serves->pmix, offered, err) < 0 && (needs_pmix || launch->spec->tools))
        return -1;
    error_clear(err);
    return 0;
}

struct group_fence *group_services_fence(const struct group_services *serves)
{
    return serves ? serves->fence : NULL;
}

struct pmi_sockets *group_services_pmi(const struct group_services *serves)
{
    return serves ? serves->pmi : NULL;
}

struct group_pmix_job *group_services_pmix(const struct group_services *serves)
{
    return serves ? serves->pmix : NULL;
}

struct spawn_and_names *group_services_requests(const struct group_services *serves)
{
    return serves ? serves->requests : NULL;
}
