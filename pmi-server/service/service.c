/* The service: its features, and which of them takes which message. */
#include "pmi-server/service/service.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "pmi-server/service/collective.h"
#include "pmi-server/service/context.h"
#include "pmi-server/service/direct_modex.h"
#include "pmi-server/service/events_control.h"
#include "pmi-server/service/iof.h"
#include "pmi-server/service/namespaces.h"
#include "pmi-server/service/publish_lookup.h"
#include "pmi-server/service/query.h"

static const struct service_feature features[] = {
    {.name = "published names",
     .open = publish_lookup_open,
     .close = publish_lookup_close,
     .forget = publish_lookup_forget,
     .task_ended = publish_lookup_task_ended,
     .job_removed = publish_lookup_job_removed},
    {.name = "collectives",
     .open = collectives_open,
     .close = collectives_close,
     .forget = collectives_forget,
     .task_ended = collectives_task_ended,
     .job_removed = collectives_job_removed},
    {.name = "direct modexes",
     .open = direct_modexes_open,
     .close = direct_modexes_close,
     .forget = direct_modexes_forget,
     .job_removed = direct_modexes_job_removed},
    {.name = "namespaces", .job_removed = namespaces_tell_removed},
    {.name = "queries",
     .open = queries_open,
     .close = queries_close,
     .forget = queries_forget,
     .job_removed = queries_job_removed},
    {.name = "iof", .open = iof_open, .close = iof_close},
    {.name = "terminations", .nodes_lost = terminations_nodes_lost},
    {0},
};

/* ---- what the owner says ---- */

void pmi_service_add(struct pmi_service *service, const struct namespace_facts *job)
{
    namespaces_add(service, job);
}

void pmi_service_remove(struct pmi_service *service, const char *name)
{
    struct job *job = namespaces_take(service, name);
    if (!job)
        return;
    for (const struct service_feature *feature = features; feature->name; feature++)
        if (feature->job_removed)
            feature->job_removed(service, job);
    namespaces_untie_all(service, job);
    if (!collectives_keep(service, job))
        namespaces_free_job(job);
}

void pmi_service_ended(struct pmi_service *service, const char *name, uint32_t rank)
{
    struct job *job = namespaces_find(service, name);
    if (job && rank < job->map->ntasks)
        namespaces_task_ended(service, job, rank);
}

void pmi_service_lost(struct pmi_service *service, const struct idset *nodes)
{
    for (const struct service_feature *feature = features; feature->name; feature++)
        if (feature->nodes_lost)
            feature->nodes_lost(service, nodes);
}

/* ---- what hosts say ---- */

/* Each feature that keeps questions looks for it. */
static int forget(struct pmi_service *service, const struct requester *asked,
                  struct message_up *talk)
{
    for (const struct service_feature *feature = features; feature->name; feature++)
        if (feature->forget)
            feature->forget(service, asked);
    return pack_ends(&talk->rest) ? 0 : -1;
}

/* -1: malformed. */
static int (*const take[REQUEST_NKINDS])(struct pmi_service *service, const struct requester *asked,
                                         struct message_up *talk) = {
    [REQUEST_FORGET] = forget,
    [REQUEST_PUBLISH] = publish_lookup_take_publish,
    [REQUEST_LOOKUP] = publish_lookup_take_lookup,
    [REQUEST_UNPUBLISH] = publish_lookup_take_unpublish,
    [REQUEST_FINALIZED] = publish_lookup_take_finalized,
    [REQUEST_GATHER] = collectives_take,
    [REQUEST_DESCRIBE] = namespaces_take_describe,
    [REQUEST_MODEX] = direct_modexes_take,
    [REQUEST_FOUND] = direct_modexes_take_found,
    [REQUEST_QUERY] = queries_take,
    [REQUEST_TASKS] = queries_take_tasks,
    [REQUEST_PULL] = iof_take_pull,
    [REQUEST_UNPULL] = iof_take_unpull,
    [REQUEST_TAKEN] = iof_take_taken,
    [REQUEST_PUSH] = iof_take_push,
    [REQUEST_PUSHED] = iof_take_pushed,
    [REQUEST_NOTIFY] = events_take,
    [REQUEST_DIED] = terminations_take,
    [REQUEST_CONTROL] = control_take,
};

int pmi_service_take(struct pmi_service *service, uint32_t node, const void *bytes, size_t len,
                     struct error *err)
{
    struct message_up talk;
    int rc = message_read_up(&talk, bytes, len);
    if (rc == 0) {
        struct requester asked = {node, talk.token};
        rc = take[talk.kind](service, &asked, &talk);
        free(talk.from.job);
    }
    return rc < 0 ? error_set(err, "a malformed message of the PMIx host of node %" PRIu32, node)
                  : 0;
}

/* ---- life ---- */

struct pmi_service *pmi_service_new(const struct pmi_service_ops *ops, void *arg)
{
    struct pmi_service *service = mem_alloc(sizeof(*service));
    service->ops = ops;
    service->arg = arg;
    service->features = features;
    for (const struct service_feature *feature = features; feature->name; feature++)
        if (feature->open)
            feature->open(service);
    return service;
}

void pmi_service_free(struct pmi_service *service)
{
    if (!service)
        return;
    for (const struct service_feature *feature = features; feature->name; feature++)
        if (feature->close)
            feature->close(service);
    while (service->jobs) {
        struct job *next = service->jobs->next;
        namespaces_untie_all(service, service->jobs);
        namespaces_free_job(service->jobs);
        service->jobs = next;
    }
    free(service);
}
