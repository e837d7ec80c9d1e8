/*
 * Tasks that a task wants started: told to the owner, who says what became of it.
 */
#include "pmi-server/pmix/spawn.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/log.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/spawn_private.h"
#include "pmi-server/pmix/spawn_directives.h"
#include "pmi-server/pmix/upcall_queue.h"

#define SPAWNINGS_MAX 1024 /* of a job on this node that are not answered */

struct spawn_asked { /* what an event of this kind owns */
    struct spawn_request *spawn;
    struct error err; /* why it was refused at once */
    pmix_spawn_cbfunc_t done;
};

struct spawning {
    struct pending_request request;
    pmix_spawn_cbfunc_t done;
    void *cbdata;
};

/* ---- asked: openpmix's thread ---- */

static void spawn_asked_free(void *more)
{
    struct spawn_asked *request = more;
    spawn_request_free(request->spawn);
    error_clear(&request->err);
    free(request);
}

static void spawn_begin(struct pmix_host *host, struct upcall *event);

pmix_status_t spawn_upcall(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
                           const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done,
                           void *cbdata)
{
    struct upcall *event = upcall_new(spawn_begin, proc);
    struct spawn_asked *request = mem_alloc(sizeof(*request));
    request->spawn = spawn_request_new();
    request->done = done;
    event->status = PMIX_SUCCESS;
    spawn_directives_read(request->spawn, job_info, ninfo, apps, napps, &event->status,
                          &request->err);
    event->more = request;
    event->free_more = spawn_asked_free;
    event->cbdata = cbdata;
    upcall_queue_push(event);
    return PMIX_SUCCESS;
}

/* ---- told to the owner ---- */

static void refuse(struct pmix_host *host, const struct upcall *event, pmix_status_t status,
                   const char *why)
{
    const struct spawn_asked *request = event->more;
    log_line(host, &event->proc, log_own("spawn refused: %s", why));
    request->done(status, NULL, event->cbdata);
}

static void spawning_free(struct pending_request *request)
{
    free(request);
}

static const struct pending_request_kind spawning_kind = {
    .free = spawning_free}; /* they take their time */

static void spawn_begin(struct pmix_host *host, struct upcall *event)
{
    const struct spawn_asked *request = event->more;
    struct pmix_job *job = namespace_find(host, event->proc.nspace);
    if (!job) { /* a tool */
        refuse(host, event, PMIX_ERR_NOT_SUPPORTED, "no task of the program asks for it");
        return;
    }
    if (event->status != PMIX_SUCCESS) {
        refuse(host, event, event->status, error_text(&request->err));
        return;
    }
    if (pending_requests_count(host->requests, &spawning_kind, job->name) == SPAWNINGS_MAX) {
        refuse(host, event, PMIX_ERR_OUT_OF_RESOURCE, "too many are under way");
        return;
    }
    struct spawning *spawning = mem_alloc(sizeof(*spawning));
    spawning->done = request->done;
    spawning->cbdata = event->cbdata;
    pending_requests_add(host->requests, &spawning->request, &spawning_kind, job->name, 0);
    host->ops->spawn(host->arg, job, event->proc.rank, spawning->request.token, request->spawn);
}

/* ---- answered ---- */

struct started {
    pmix_spawn_cbfunc_t done;
    void *cbdata;
    pmix_status_t status;
    pmix_nspace_t name;
};

/* openpmix's thread: with it the output of the new tasks is looked after. */
static void spawn_deliver(pmix_status_t status, void *arg)
{
    struct started *started = arg;
    (void)status;
    started->done(started->status, started->status == PMIX_SUCCESS ? started->name : NULL,
                  started->cbdata);
    free(started);
}

void pmix_namespace_spawned(struct pmix_job *job, uint64_t token, enum spawn_fate fate,
                            const char *name)
{
    static const pmix_status_t statuses[] = {
        [SPAWN_STARTED] = PMIX_SUCCESS,
        [SPAWN_BAD] = PMIX_ERR_BAD_PARAM,
        [SPAWN_NO_ROOM] = PMIX_ERR_JOB_FAILED_TO_MAP,
        [SPAWN_NO_PROGRAM] = PMIX_ERR_JOB_EXE_NOT_FOUND,
        [SPAWN_NOT_PROGRAM] = PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
        [SPAWN_FAILED] = PMIX_ERR_JOB_FAILED_TO_LAUNCH,
    };
    struct spawning *spawning = (struct spawning *)pending_requests_take(
        job->host->requests, &spawning_kind, job->name, token);
    if (!spawning)
        return;
    struct started *started = mem_alloc(sizeof(*started));
    *started = (struct started){spawning->done, spawning->cbdata, statuses[fate], ""};
    if (fate == SPAWN_STARTED)
        strncpy(started->name, name, sizeof(started->name) - 1);
    library_in_progress_thread(job->host->library, spawn_deliver, started);
    free(spawning);
}
