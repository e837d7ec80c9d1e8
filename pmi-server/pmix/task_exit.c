/*
 * Tasks that have ended. The last that one said may still be on its way through openpmix then: a busy
 * server keeps nobody from ending, as clients wait for its answer to PMIx_Finalize for 2 s only. So
 * who seems not to have finalized is looked at again when openpmix has gone through what it has.
 */
#include "pmi-server/pmix/task_exit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "pmi-server/pmix/direct_modex_serve.h"
#include "pmi-server/pmix/namespace.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/task_exit_private.h"
#include "pmi-server/pmix/upcall_queue.h"

#define ROUNDS 5      /* through openpmix's loop: to read what came, to handle it, to call back */
#define PAUSE 0.02    /* s, between them */
#define PATIENCE 20.0 /* s, with one that does not answer: 64 MB in keys keep it busy for many */

struct exit_check {
    struct exit_check *next;
    struct pmix_job *job;
    uint32_t local_rank;
    uint64_t token;
    unsigned rounds;
    double again; /* by pending_requests_clock(): when to go round; 0: it is on its way */
    double end;
};

static void task_exit_settle(struct pmix_host *host, struct exit_check *check)
{
    struct exit_check **at = &host->exit_checks;
    while (*at != check)
        at = &(*at)->next;
    *at = check->next;
    struct pmix_job *job = check->job;
    uint32_t local_rank = check->local_rank;
    free(check);
    host->ops->settled(host->arg, job, local_rank);
}

static void came_round(struct pmix_host *host, struct upcall *event)
{
    struct exit_check *check = host->exit_checks;
    while (check && check->token != event->token)
        check = check->next;
    if (!check)
        return;
    if (++check->rounds == ROUNDS ||
        pmix_namespace_state(check->job, check->local_rank) != PMI_RUNNING)
        task_exit_settle(host, check);
    else
        check->again = pending_requests_clock() + PAUSE;
}

static void task_exit_answered(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    (void)status, (void)value;
    upcall_queue_push(cbdata);
}

/* What is asked for is of no interest. */
static void go_round(struct pmix_host *host, struct exit_check *check)
{
    static const pmix_info_t here_only = {.key = PMIX_OPTIONAL,
                                          .value = {.type = PMIX_BOOL, .data.flag = true}};
    const pmix_proc_t proc =
        namespace_proc(check->job, check->job->clients[check->local_rank].rank);
    struct upcall *event = upcall_new(came_round, &proc);
    event->token = check->token;
    check->again = 0;
    if (host->library->get_nb(&event->proc, "tprun.round", &here_only, 1, task_exit_answered,
                              event) != PMIX_SUCCESS)
        upcall_queue_push(event);
}

bool pmix_namespace_ended(struct pmix_job *job, uint32_t local_rank)
{
    struct client *client = &job->clients[local_rank];
    client->gone = true;
    direct_modex_serve_ended(job, client->rank);
    if (pmix_namespace_state(job, local_rank) != PMI_RUNNING)
        return false;
    struct exit_check *check = mem_alloc(sizeof(*check));
    check->job = job;
    check->local_rank = local_rank;
    check->token = pending_requests_token(job->host->requests);
    check->end = pending_requests_clock() + PATIENCE;
    check->next = job->host->exit_checks;
    job->host->exit_checks = check;
    go_round(job->host, check);
    return true;
}

void task_exits_look(struct pmix_host *host)
{
    struct exit_check *next;
    double now = host->exit_checks ? pending_requests_clock() : 0;
    for (struct exit_check *check = host->exit_checks; check; check = next) {
        next = check->next;
        if (check->end <= now)
            task_exit_settle(host, check);
        else if (check->again && check->again <= now)
            go_round(host, check);
    }
}

double task_exits_end(const struct pmix_host *host)
{
    double soonest = 0;
    for (const struct exit_check *check = host->exit_checks; check; check = check->next) {
        double end = check->again ?: check->end;
        if (!soonest || end < soonest)
            soonest = end;
    }
    return soonest;
}

void task_exits_free(struct pmix_job *job)
{
    struct exit_check **at = &job->host->exit_checks, *check;
    while ((check = *at)) {
        if (check->job != job) {
            at = &check->next;
            continue;
        }
        *at = check->next;
        free(check);
    }
}
