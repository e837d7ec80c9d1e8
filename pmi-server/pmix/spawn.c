/*
 * Tasks that a task wants started: told to the owner, who says what became of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/internal.h"
#include "pmi-server/pmix/log.h"
#include "pmi-server/pmix/spawn_directives.h"

#define SPAWNINGS_MAX 1024 /* of a job on this node that are not answered */

struct request { /* what an event of this kind owns */
    struct spawn_request *spawn;
    struct error err; /* why it was refused at once */
    pmix_spawn_cbfunc_t done;
};

struct spawning {
    struct spawning *next;
    uint64_t token;
    pmix_spawn_cbfunc_t done;
    void *cbdata;
};

/* ---- asked: openpmix's thread ---- */

static void request_free(void *more)
{
    struct request *request = more;
    spawn_request_free(request->spawn);
    error_clear(&request->err);
    free(request);
}

static void spawn_begin(struct pmix_host *host, struct upcall *event);

pmix_status_t spawn_asked(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
                          const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done,
                          void *cbdata)
{
    struct upcall *event = upcall_new(spawn_begin, proc);
    struct request *request = mem_alloc(sizeof(*request));
    request->spawn = spawn_request_new();
    request->done = done;
    event->status = PMIX_SUCCESS;
    spawn_directives_read(request->spawn, job_info, ninfo, apps, napps, &event->status,
                          &request->err);
    event->more = request;
    event->free_more = request_free;
    event->cbdata = cbdata;
    upcall_queue_push(event);
    return PMIX_SUCCESS;
}

/* ---- told to the owner ---- */

static void refuse(struct pmix_host *host, const struct upcall *event, pmix_status_t status,
                   const char *why)
{
    const struct request *request = event->more;
    log_line(host, &event->proc, log_own("spawn refused: %s", why));
    request->done(status, NULL, event->cbdata);
}

static void spawn_begin(struct pmix_host *host, struct upcall *event)
{
    const struct request *request = event->more;
    struct pmix_job *job = server_job(host, event->proc.nspace);
    if (!job) { /* a tool */
        refuse(host, event, PMIX_ERR_NOT_SUPPORTED, "no task of the program asks for it");
        return;
    }
    if (event->status != PMIX_SUCCESS) {
        refuse(host, event, event->status, error_text(&request->err));
        return;
    }
    if (job->nspawnings == SPAWNINGS_MAX) {
        refuse(host, event, PMIX_ERR_OUT_OF_RESOURCE, "too many are under way");
        return;
    }
    struct spawning *spawning = mem_alloc(sizeof(*spawning));
    *spawning = (struct spawning){job->spawnings, ++host->tokens, request->done, event->cbdata};
    job->spawnings = spawning;
    job->nspawnings++;
    host->ops->spawn(host->arg, job, event->proc.rank, spawning->token, request->spawn);
}

/* ---- answered ---- */

static struct spawning *spawn_take(struct pmix_job *job, uint64_t token)
{
    struct spawning **at = &job->spawnings, *spawning;
    while (*at && (*at)->token != token)
        at = &(*at)->next;
    if ((spawning = *at)) {
        *at = spawning->next;
        job->nspawnings--;
    }
    return spawning;
}

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
    struct spawning *spawning = spawn_take(job, token);
    if (!spawning)
        return;
    struct started *started = mem_alloc(sizeof(*started));
    *started = (struct started){spawning->done, spawning->cbdata, statuses[fate], ""};
    if (fate == SPAWN_STARTED)
        strncpy(started->name, name, sizeof(started->name) - 1);
    library_in_progress_thread(job->host->library, spawn_deliver, started);
    free(spawning);
}

void spawnings_free(struct pmix_job *job)
{
    while (job->spawnings) {
        struct spawning *next = job->spawnings->next;
        free(job->spawnings);
        job->spawnings = next;
    }
}
