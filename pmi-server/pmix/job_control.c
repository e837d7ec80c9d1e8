/*
 * Control: what a task wants done to tasks of its program, brought to the service; what the service orders,
 * brought to the owner. An abort of some tasks is of that kind, too.
 */
#include "pmi-server/pmix/job_control.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/log.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/service_requests.h"
#include "pmi-server/pmix/tools_private.h"

/* ---- asked for here ---- */

static void put_control(struct buf *rest, const struct upcall *event, enum control_action action)
{
    pack_put_u8(rest, (uint8_t)action);
    pack_put_u32(rest, (uint32_t)event->status);
    service_put_procs(rest, event);
}

struct answer {
    pmix_info_cbfunc_t done;
    void *cbdata;
    pmix_status_t status;
};

/* openpmix's thread, as with what is looked up (publish_lookup.c). */
static void job_control_deliver(pmix_status_t status, void *arg)
{
    struct answer *answer = arg;
    (void)status;
    answer->done(answer->status, NULL, 0, answer->cbdata, NULL, NULL);
    free(answer);
}

static void give_answer(struct pmix_host *host, const struct upcall *event, pmix_status_t status)
{
    struct answer *answer = mem_alloc(sizeof(*answer));
    *answer = (struct answer){event->info_done, event->cbdata, status};
    library_in_progress_thread(host->library, job_control_deliver, answer);
}

static void control_answered(struct pmix_host *host, struct upcall *event, enum reply_status status,
                             struct pack *rest)
{
    (void)rest;
    if (event->info_done && caller_is_known(host, event->proc.nspace))
        give_answer(host, event, service_status(status));
}

static void control_ask(struct pmix_host *host, struct upcall *event)
{
    struct buf rest = BUF_INIT;
    put_control(&rest, event, (enum control_action)event->number);
    service_request(host, event, REQUEST_CONTROL, &rest, control_answered);
    buf_free(&rest);
}

/* A program is a session of its own. */
static void session_ask(struct pmix_host *host, struct upcall *event)
{
    const struct pmix_job *job = host->jobs;
    if (job && event->token != UINT32_MAX && event->token != job->session)
        give_answer(host, event, PMIX_ERR_NOT_FOUND);
    else
        control_ask(host, event);
}

/* All of its job, or all but itself: that is the program's end, as where nobody is named. */
static bool names_all(const struct pmix_job *job, const struct upcall *event)
{
    struct idset *left = idset_new();
    idset_add_range(left, 0, (uint32_t)job->map->ntasks - 1);
    idset_remove(left, event->proc.rank);
    bool all = event->nprocs == 0;
    for (size_t i = 0; i < event->nprocs; i++) {
        if (strcmp(event->procs[i].nspace, job->name) != 0)
            continue;
        all |= event->procs[i].rank == PMIX_RANK_WILDCARD;
        idset_remove(left, event->procs[i].rank);
    }
    all |= idset_empty(left);
    idset_free(left);
    return all;
}

static void abort_ask(struct pmix_host *host, struct upcall *event)
{
    const struct pmix_job *job = namespace_find(host, event->proc.nspace);
    struct buf rest = BUF_INIT;
    if (!job || !job->goes_on || names_all(job, event)) {
        log_abort(host, event);
        return;
    }
    put_control(&rest, event, CONTROL_ABORT);
    service_request(host, event, REQUEST_CONTROL, &rest, NULL);
    buf_free(&rest);
}

/* ---- ordered ---- */

int job_control_receive(struct pmix_host *host, struct message_down *talk)
{
    struct process_name from = message_proc(&talk->rest);
    char *name = pack_get_text(&talk->rest);
    struct idset *ranks = message_ranks(&talk->rest);
    uint8_t action = pack_u8(&talk->rest);
    uint32_t number = pack_u32(&talk->rest);
    struct pmix_job *job = namespace_find(host, name);
    int rc = pack_ends(&talk->rest) && action < CONTROL_NACTIONS ? 0 : -1;
    const struct pmix_control control = {action, number, ranks, from.job, from.rank};
    if (rc == 0 && job)
        host->ops->control(host->arg, job, &control);
    idset_free(ranks);
    free(name);
    free(from.job);
    return rc;
}

/* ---- upcalls: openpmix's thread ---- */

#ifndef PMIX_SESSION_PAUSE /* 5.0 and later */
#define PMIX_SESSION_CTRL_ID "pmix.ssnctrl.id"
#define PMIX_SESSION_PAUSE "pmix.ssn.pause"
#define PMIX_SESSION_RESUME "pmix.ssn.resume"
#define PMIX_SESSION_TERMINATE "pmix.ssn.terminate"
#define PMIX_SESSION_SIGNAL "pmix.ssn.sig"
#endif

enum { OF_JOB, OF_SESSION };

static const struct {
    const char *key[2]; /* OF_JOB, OF_SESSION */
    enum control_action action;
} actions[] = {
    {{PMIX_JOB_CTRL_SIGNAL, PMIX_SESSION_SIGNAL}, CONTROL_SIGNAL},
    {{PMIX_JOB_CTRL_KILL, NULL}, CONTROL_KILL},
    {{PMIX_JOB_CTRL_TERMINATE, PMIX_SESSION_TERMINATE}, CONTROL_TERMINATE},
    {{PMIX_JOB_CTRL_PAUSE, PMIX_SESSION_PAUSE}, CONTROL_PAUSE},
    {{PMIX_JOB_CTRL_RESUME, PMIX_SESSION_RESUME}, CONTROL_RESUME},
};

/* What to remove at a task's end is openpmix's own business, which it has seen to when it asks; and
 * what is only told about the job needs nothing done. */
static const char *const heeded[] = {
    PMIX_REGISTER_CLEANUP, PMIX_REGISTER_CLEANUP_DIR, PMIX_CLEANUP_RECURSIVE,
    PMIX_CLEANUP_EMPTY,    PMIX_CLEANUP_IGNORE,       PMIX_CLEANUP_LEAVE_TOPDIR,
    PMIX_JOB_CTRL_ID,      PMIX_JOB_CTRL_PREEMPTIBLE, PMIX_JOB_CTRL_CHECKPOINT_METHOD,
    PMIX_SESSION_CTRL_ID,
};

/* PMIX_SUCCESS: *action is set. PMIX_OPERATION_SUCCEEDED: there is nothing to do for this key. */
static pmix_status_t action_of(const pmix_info_t *info, int whose, uint32_t *action)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (actions[i].key[whose] && !strcmp(info->key, actions[i].key[whose])) {
            *action = actions[i].action;
            return PMIX_SUCCESS;
        }
    for (size_t i = 0; i < sizeof(heeded) / sizeof(heeded[0]); i++)
        if (!strcmp(info->key, heeded[i]))
            return PMIX_OPERATION_SUCCEEDED;
    return PMIX_ERR_NOT_SUPPORTED;
}

/* A number for a signal, else yes or no, where nothing is yes: 1, 0, or -1 for what is neither. */
static int job_control_is_wanted(const pmix_info_t *info, uint32_t action, pmix_status_t *number)
{
    const pmix_value_t *value = &info->value;
    if (action != CONTROL_SIGNAL)
        return value->type == PMIX_UNDEF ? 1 : value->type == PMIX_BOOL ? value->data.flag : -1;
    *number = value->data.integer;
    return value->type == PMIX_INT && *number > 0 && *number <= 64 ? 1 : -1;
}

/* At most one action; event->number is CONTROL_NACTIONS where there is none. */
static pmix_status_t read_directives(struct upcall *event, int whose, const pmix_info_t infos[],
                                     size_t count)
{
    event->number = CONTROL_NACTIONS;
    for (size_t i = 0; i < count; i++) {
        uint32_t action;
        pmix_status_t known = action_of(&infos[i], whose, &action);
        if (known == PMIX_ERR_NOT_SUPPORTED)
            return known;
        if (known == PMIX_OPERATION_SUCCEEDED)
            continue;
        int wanted = job_control_is_wanted(&infos[i], action, &event->status);
        if (wanted < 0 || (wanted && event->number != CONTROL_NACTIONS))
            return PMIX_ERR_BAD_PARAM;
        if (wanted)
            event->number = action;
    }
    return event->number == CONTROL_NACTIONS ? PMIX_OPERATION_SUCCEEDED : PMIX_SUCCESS;
}

pmix_status_t job_control_upcall(const pmix_proc_t *client, const pmix_proc_t targets[],
                                 size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                                 pmix_info_cbfunc_t done, void *cbdata)
{
    struct upcall *event = upcall_new(control_ask, client);
    pmix_status_t status = read_directives(event, OF_JOB, directives, ndirs);
    if (ntargets > PMIX_SERVER_TARGETS_MAX)
        status = PMIX_ERR_BAD_PARAM;
    if (status != PMIX_SUCCESS) {
        upcall_free(event);
        return status;
    }
    pmix_proc_t all = *client; /* of its job */
    all.rank = PMIX_RANK_WILDCARD;
    if (!targets || !ntargets)
        targets = &all;
    upcall_set_procs(event, targets, targets == &all ? 1 : ntargets);
    event->info_done = done;
    event->cbdata = cbdata;
    upcall_queue_push(event);
    return PMIX_SUCCESS;
}

/* Nobody is named: all jobs of the session, which the service knows. */
pmix_status_t job_control_session_upcall(const pmix_proc_t *client, uint32_t session,
                                         const pmix_info_t directives[], size_t ndirs,
                                         pmix_info_cbfunc_t done, void *cbdata)
{
    struct upcall *event = upcall_new(session_ask, client);
    pmix_status_t status = read_directives(event, OF_SESSION, directives, ndirs);
    if (status != PMIX_SUCCESS) {
        upcall_free(event);
        return status;
    }
    event->token = session;
    event->info_done = done;
    event->cbdata = cbdata;
    upcall_queue_push(event);
    return PMIX_SUCCESS;
}

/* An answer might find a client that was ended meanwhile: it is given at once. */
pmix_status_t job_control_abort_upcall(const pmix_proc_t *proc, void *client, int status,
                                       const char message[], pmix_proc_t procs[], size_t nprocs,
                                       pmix_op_cbfunc_t done, void *cbdata)
{
    (void)client, (void)done, (void)cbdata;
    struct upcall *event = upcall_new(abort_ask, proc);
    event->status = status;
    event->bytes = mem_copy_text(message);
    upcall_set_procs(event, procs, procs && nprocs <= PMIX_SERVER_TARGETS_MAX ? nprocs : 0);
    upcall_queue_push(event);
    return PMIX_OPERATION_SUCCEEDED;
}
