/*
 * Tasks that have ended. The last that one said may still be on its way through openpmix then: a busy
 * server keeps nobody from ending, as clients wait for its answer to PMIx_Finalize for 2 s only. So
 * who seems not to have finalized is looked at again when openpmix has gone through what it has.
 */
#include "pmi-server/pmix/task_exit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "pmi-server/pmix/direct_modex_serve.h"
#include "pmi-server/pmix/events.h"
#include "pmi-server/pmix/fence_private.h"
#include "pmi-server/pmix/namespace.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/service_requests.h"
#include "pmi-server/pmix/task_exit_private.h"

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

/*
 * Deaths: what the service is told of tasks that ended badly here, and what it tells of those of all
 * nodes. Tasks with a handler for that hear of it, as if the dead one had said it.
 */

/* ---- here ---- */

void pmix_namespace_died(struct pmix_job *job, uint32_t local_rank, int status, bool goes_on)
{
    struct buf rest = BUF_INIT;
    const pmix_proc_t proc = namespace_proc(job, job->clients[local_rank].rank);
    struct upcall *event = upcall_new(NULL, &proc);
    enum pmi_state said = pmix_namespace_state(job, local_rank);
    struct termination death = {
        .how = WIFSIGNALED(status)     ? ENDED_SIGNALED
               : said == PMI_FINALIZED ? ENDED_FAILED
               : WEXITSTATUS(status)   ? ENDED_EXITED
                                       : ENDED_LEFT,
        .code = (uint32_t)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)),
        .goes_on = goes_on,
    };
    message_put_death(&rest, &death);
    service_request(job->host, event, REQUEST_DIED, &rest, NULL);
    if (goes_on && pmix_namespace_state(job, local_rank) != PMI_RUNNING)
        fences_count_out(job); /* it is connected to nothing that openpmix could lose */
    buf_free(&rest);
    upcall_free(event);
}

/* ---- anywhere ---- */

static void bury(struct pmix_host *host, struct upcall *event)
{
    host->library->deregister_client(&event->proc, library_ignore_end, NULL);
}

struct audience {
    pmix_proc_t *procs; /* all of some jobs */
    size_t count;
};

/* Default handlers are left alone: Open MPI 4.1's ends its task, whatever the event. */
static void task_exit_notify(struct pmix_host *host, pmix_status_t status, const pmix_proc_t *dead,
                             const struct termination *death, const struct audience *audience)
{
    /* openpmix waits for the dead one in fences that list it, and does not call, until it has forgotten
     * it. That has to be after it has told the tasks: then it has seen the end of the dead one's
     * connection. */
    const struct pmix_job *job = namespace_find(host, dead->nspace);
    bool here = death->goes_on && job && namespace_client(job, dead->rank);
    struct info_list infos = {0};
    info_proc(&infos, PMIX_EVENT_AFFECTED_PROC, dead->nspace, dead->rank);
    if (death->how != ENDED_LOST)
        info_int(&infos, PMIX_EXIT_CODE,
                 (int)(death->how == ENDED_SIGNALED ? 128 + death->code : death->code));
    info_bool(&infos, PMIX_EVENT_NON_DEFAULT, true);
    info_procs(&infos, PMIX_EVENT_CUSTOM_RANGE, audience->procs, audience->count);
    event_tell(host, status, dead, PMIX_RANGE_CUSTOM, &infos, here ? upcall_new(bury, dead) : NULL);
}

static void notify_all(struct pmix_host *host, const char *name, const struct termination *death,
                       const struct audience *audience)
{
    static const pmix_status_t statuses[ENDED_NENDS] = {
        [ENDED_SIGNALED] = PMIX_ERR_PROC_ABORTED, /* Open MPI looks for this one */
        [ENDED_EXITED] = PMIX_ERR_PROC_ABORTED,      [ENDED_LEFT] = PMIX_ERR_PROC_TERM_WO_SYNC,
        [ENDED_FAILED] = PMIX_ERR_EXIT_NONZERO_TERM, [ENDED_LOST] = PMIX_ERR_PROC_ABORTED,
    };
    pmix_proc_t dead = {.rank = PMIX_RANK_UNDEF};
    strncpy(dead.nspace, name, sizeof(dead.nspace) - 1);
    IDSET_FOREACH(rank, death->ranks)
    {
        dead.rank = rank;
        if (death->how == ENDED_LOST)
            task_exit_notify(host, PMIX_ERR_NODE_DOWN, &dead, death, audience);
        task_exit_notify(host, statuses[death->how], &dead, death, audience);
    }
}

static struct audience read_audience(struct pack *in)
{
    uint32_t count = pack_count(in, 4);
    struct audience audience = {mem_array(count, sizeof(*audience.procs)), count};
    for (uint32_t i = 0; i < count; i++) {
        char *name = pack_get_text(in);
        strncpy(audience.procs[i].nspace, name, sizeof(audience.procs[i].nspace) - 1);
        audience.procs[i].rank = PMIX_RANK_WILDCARD;
        free(name);
    }
    return audience;
}

int terminations_receive(struct pmix_host *host, struct message_down *talk)
{
    char *name = pack_get_text(&talk->rest);
    struct termination death = message_death(&talk->rest);
    death.ranks = message_ranks(&talk->rest);
    struct audience audience = read_audience(&talk->rest);
    int rc = pack_ends(&talk->rest) ? 0 : -1;
    if (rc == 0) {
        notify_all(host, name, &death, &audience);
        if (death.goes_on && namespace_find(host, name))
            fences_fail_ranks(namespace_find(host, name), death.ranks);
    }
    free(audience.procs);
    idset_free(death.ranks);
    free(name);
    return rc;
}
