/*
 * Deaths: what the service is told of tasks that ended badly here, and what it tells of those of all
 * nodes. Tasks with a handler for that hear of it, as if the dead one had said it.
 *
 * Where the program goes on, openpmix has to stop waiting for the dead one. It does so in two steps:
 * 1. When it reads the end of the dead one's connection, it counts the task off in the fences that are open, and in
 *    later ones of all. It does not if it has forgotten the task before. Tasks whose fence fails then know of the
 *    death.
 * 2. When it has forgotten the task, it does not wait for it in later fences that list its rank. It still does in those
 *    that were entered between the two.
 * So nothing may come between the two, in this order:
 * - openpmix does not read the end of a connection before the host knows that the task is dead (a task that closes its
 *   connection and lives on: for HOLD);
 * - when it does, it is told to forget the task in the same turn of its loop, before it answers anybody;
 * - then the service hears of the death, and by it all tasks. Fences that the host is asked for until then stay
 *   open, and fail when the death is told.
 * A dead task without a connection, or whose connection is kept open by a child, is forgotten when openpmix has no end
 * of a connection to read.
 */
#include "pmi-server/pmix/task_death.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/mem.h"
#include "pmi-server/pmix/events.h"
#include "pmi-server/pmix/fence_private.h"
#include "pmi-server/pmix/listeners.h"
#include "pmi-server/pmix/namespace.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/service_requests.h"
#include "pmi-server/pmix/task_death_private.h"
#include "pmi-server/pmix/tcp_peers.h"

#define HOLD 1.0         /* s, that the end of a connection is not read */
#define ASK_AGAIN 50000  /* ns, until openpmix asks again */
#define LOOK_AGAIN 0.005 /* s, until openpmix may have read the ends of connections */
#define PATIENCE 20.0    /* s, with openpmix, which may have much to read */

/* ---- here ---- */

struct task_death {
    struct task_death *next;
    struct pmix_job *job;
    uint32_t local_rank;
    int status;
    double again, end; /* when to look, and when to give up; 0: openpmix forgets it */
};

static void death_tell(struct pmix_job *job, uint32_t local_rank, int status, bool goes_on)
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
    buf_free(&rest);
    upcall_free(event);
}

/* Who had no connection, or has one still, is counted off now. */
static void death_forgotten(struct pmix_host *host, struct upcall *event)
{
    struct task_death **at = &host->deaths, *death;
    while ((death = *at) && (strcmp(death->job->name, event->proc.nspace) != 0 ||
                             death->job->clients[death->local_rank].rank != event->proc.rank))
        at = &death->next;
    if (!death)
        return;
    *at = death->next;
    fences_count_out(death->job);
    death_tell(death->job, death->local_rank, death->status, true);
    free(death);
}

/* openpmix's thread. */
static void death_forgets(pmix_status_t status, void *event)
{
    (void)status;
    upcall_queue_push(event);
}

/* Any thread: openpmix does it in a later event of its loop. */
static void death_forget(const struct client *client)
{
    const pmix_proc_t proc = namespace_proc(client->job, client->rank);
    client->job->host->library->deregister_client(&proc, death_forgets,
                                                  upcall_new(death_forgotten, &proc));
}

/* Either this one sees that the client is dead, or task_deaths_look() sees that it has no connection; or both: then it
 * is forgotten twice, which does no harm. */
bool task_death_may_be_read(struct client *client)
{
    static const struct timespec pause = {.tv_nsec = ASK_AGAIN};
    double now = pending_requests_clock();
    if (!client->held)
        client->held = now;
    if (client->job->goes_on && !client->dead && client->state == PMI_RUNNING &&
        now < client->held + HOLD) {
        nanosleep(&pause, NULL);
        return false;
    }
    client->held = 0;
    if (--client->connections == 0 && client->dead)
        death_forget(client);
    return true;
}

void task_deaths_look(struct pmix_host *host)
{
    double now = host->deaths ? pending_requests_clock() : 0;
    struct task_death *due = host->deaths;
    while (due && !(due->again && due->again <= now))
        due = due->next;
    if (!due)
        return;
    bool unread = tcp_peers_have_ended(listeners_port());
    for (struct task_death *death = host->deaths; death; death = death->next) {
        const struct client *client = &death->job->clients[death->local_rank];
        if (!death->again)
            continue;
        death->again = unread && client->connections && now < death->end ? now + LOOK_AGAIN : 0;
        if (!death->again)
            death_forget(client);
    }
}

void pmix_namespace_died(struct pmix_job *job, uint32_t local_rank, int status, bool goes_on)
{
    if (!goes_on) {
        death_tell(job, local_rank, status, goes_on);
        return;
    }
    struct task_death *death = mem_alloc(sizeof(*death));
    double now = pending_requests_clock();
    *death = (struct task_death){job->host->deaths,    job, local_rank, status, .again = now,
                                 .end = now + PATIENCE};
    job->host->deaths = death;
    job->clients[local_rank].dead = true;
    task_deaths_look(job->host);
}

double task_deaths_end(const struct pmix_host *host)
{
    double soonest = 0;
    for (const struct task_death *death = host->deaths; death; death = death->next)
        if (death->again && (!soonest || death->again < soonest))
            soonest = death->again;
    return soonest;
}

void task_deaths_free(struct pmix_job *job)
{
    struct task_death **at = &job->host->deaths, *death;
    while ((death = *at)) {
        if (death->job != job) {
            at = &death->next;
            continue;
        }
        *at = death->next;
        free(death);
    }
}

/* ---- anywhere ---- */

struct audience {
    pmix_proc_t *procs; /* all of some jobs */
    size_t count;
};

/* Default handlers are left alone: Open MPI 4.1's ends its task, whatever the event. */
static void death_notify(struct pmix_host *host, pmix_status_t status, const pmix_proc_t *dead,
                         const struct termination *death, const struct audience *audience)
{
    struct info_list infos = {0};
    info_proc(&infos, PMIX_EVENT_AFFECTED_PROC, dead->nspace, dead->rank);
    if (death->how != ENDED_LOST)
        info_int(&infos, PMIX_EXIT_CODE,
                 (int)(death->how == ENDED_SIGNALED ? 128 + death->code : death->code));
    info_bool(&infos, PMIX_EVENT_NON_DEFAULT, true);
    info_procs(&infos, PMIX_EVENT_CUSTOM_RANGE, audience->procs, audience->count);
    event_tell(host, status, dead, PMIX_RANGE_CUSTOM, &infos);
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
            death_notify(host, PMIX_ERR_NODE_DOWN, &dead, death, audience);
        death_notify(host, statuses[death->how], &dead, death, audience);
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
