/*
 * Deaths: what the service is told of tasks that ended badly here, and what it tells of those of all
 * nodes. Tasks with a handler for that hear of it, as if the dead one had said it.
 */
#include "pmi-server/pmix/task_death.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "pmi-server/pmix/events.h"
#include "pmi-server/pmix/fence_private.h"
#include "pmi-server/pmix/namespace.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/service_requests.h"
#include "pmi-server/pmix/task_death_private.h"

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
static void death_notify(struct pmix_host *host, pmix_status_t status, const pmix_proc_t *dead,
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
