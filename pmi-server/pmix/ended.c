/*
 * Tasks that have ended. The last that one said may still be on its way through openpmix then: a busy
 * server keeps nobody from ending, as clients wait for its answer to PMIx_Finalize for 2 s only. So
 * who seems not to have finalized is looked at again when openpmix has gone through what it has.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/inside.h"

#define ROUNDS 5      /* through openpmix's loop: to read what came, to handle it, to call back */
#define PAUSE 0.02    /* s, between them */
#define PATIENCE 20.0 /* s, with one that does not answer: 64 MB in keys keep it busy for many */

struct doubt {
    struct doubt *next;
    struct pmix_job *job;
    uint32_t local_rank;
    uint64_t token;
    unsigned rounds;
    double again; /* by host_clock(): when to go round; 0: it is on its way */
    double end;
};

static void settle(struct pmix_host *host, struct doubt *doubt)
{
    struct doubt **at = &host->doubts;
    while (*at != doubt)
        at = &(*at)->next;
    *at = doubt->next;
    struct pmix_job *job = doubt->job;
    uint32_t local_rank = doubt->local_rank;
    free(doubt);
    host->ops->settled(host->arg, job, local_rank);
}

static void came_round(struct pmix_host *host, struct event *event)
{
    struct doubt *doubt = host->doubts;
    while (doubt && doubt->token != event->token)
        doubt = doubt->next;
    if (!doubt)
        return;
    if (++doubt->rounds == ROUNDS || pmix_job_state(doubt->job, doubt->local_rank) != PMI_RUNNING)
        settle(host, doubt);
    else
        doubt->again = host_clock() + PAUSE;
}

static void answered(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    (void)status, (void)value;
    queue_push(cbdata);
}

/* What is asked for is of no interest. */
static void go_round(struct pmix_host *host, struct doubt *doubt)
{
    static const pmix_info_t here_only = {.key = PMIX_OPTIONAL,
                                          .value = {.type = PMIX_BOOL, .data.flag = true}};
    struct event *event = event_new(came_round, NULL);
    strcpy(event->proc.nspace, doubt->job->name); /* as long */
    event->proc.rank = doubt->job->clients[doubt->local_rank].rank;
    event->token = doubt->token;
    doubt->again = 0;
    if (host->library->get_nb(&event->proc, "tprun.round", &here_only, 1, answered, event) !=
        PMIX_SUCCESS)
        queue_push(event);
}

bool pmix_job_ended(struct pmix_job *job, uint32_t local_rank)
{
    struct client *client = &job->clients[local_rank];
    client->gone = true;
    committed_ended(job, client->rank);
    if (pmix_job_state(job, local_rank) != PMI_RUNNING)
        return false;
    struct doubt *doubt = mem_alloc(sizeof(*doubt));
    doubt->job = job;
    doubt->local_rank = local_rank;
    doubt->token = ++job->host->tokens;
    doubt->end = host_clock() + PATIENCE;
    doubt->next = job->host->doubts;
    job->host->doubts = doubt;
    go_round(job->host, doubt);
    return true;
}

void doubts_look(struct pmix_host *host)
{
    struct doubt *next;
    double now = host->doubts ? host_clock() : 0;
    for (struct doubt *doubt = host->doubts; doubt; doubt = next) {
        next = doubt->next;
        if (doubt->end <= now)
            settle(host, doubt);
        else if (doubt->again && doubt->again <= now)
            go_round(host, doubt);
    }
}

double doubts_end(const struct pmix_host *host)
{
    double soonest = 0;
    for (const struct doubt *doubt = host->doubts; doubt; doubt = doubt->next) {
        double end = doubt->again ?: doubt->end;
        if (!soonest || end < soonest)
            soonest = end;
    }
    return soonest;
}

void doubts_free(const struct pmix_job *job)
{
    struct doubt **at = &job->host->doubts, *doubt;
    while ((doubt = *at)) {
        if (doubt->job != job) {
            at = &doubt->next;
            continue;
        }
        *at = doubt->next;
        free(doubt);
    }
}
