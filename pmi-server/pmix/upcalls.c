/*
 * What openpmix calls, in its own thread: copied and queued. Nothing is answered from inside, which
 * can block that thread for ever. What is not here openpmix answers itself: not supported.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "pmi-server/pmix/inside.h"
#include "pmi-server/pmix/say.h"

#define TIMEOUT 60.0 /* of a modex that names none */
#define KEY_WAIT 2.0 /* for a key then, when there was a commit: what openpmix waits on one node */

static void *copy(const void *bytes, size_t len)
{
    return len ? memcpy(mem_resize(NULL, len, 1), bytes, len) : NULL;
}

static pmix_status_t set_state(void *client, enum pmi_state state)
{
    if (client)
        atomic_store(&((struct client *)client)->state, state);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Programs that speak no PMIx, after all, leave no directory to be removed. */
static void make_directories(const pmix_proc_t *proc, struct pmix_job *job)
{
    const char *const paths[] = {job->host->tmpdir, job->tmpdir};
    if (atomic_exchange(&job->connected, true))
        return;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (paths[i] && mkdir(paths[i], 0700) < 0 && errno != EEXIST) {
            queue_push(say_no_directory(proc, paths[i], errno));
            return;
        }
}

static pmix_status_t client_connected2(const pmix_proc_t *proc, void *client, pmix_info_t info[],
                                       size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    (void)info, (void)ninfo, (void)done, (void)cbdata;
    if (client)
        make_directories(proc, ((struct client *)client)->job);
    return set_state(client, PMI_RUNNING);
}

static pmix_status_t client_finalized(const pmix_proc_t *proc, void *client, pmix_op_cbfunc_t done,
                                      void *cbdata)
{
    (void)done, (void)cbdata;
    names_finalized_upcall(proc);
    return set_state(client, PMI_FINALIZED);
}

static pmix_status_t abort_job(const pmix_proc_t *proc, void *client, int status,
                               const char message[], pmix_proc_t procs[], size_t nprocs,
                               pmix_op_cbfunc_t done, void *cbdata)
{
    (void)client, (void)procs, (void)nprocs, (void)done, (void)cbdata;
    struct event *event = event_new(say_abort, proc);
    event->status = status;
    event->bytes = mem_copy_text(message);
    queue_push(event);
    return PMIX_OPERATION_SUCCEEDED; /* an answer might find a client that was ended meanwhile */
}

/* `data` is the host's from here on. */
static pmix_status_t fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                           size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t done,
                           void *cbdata)
{
    (void)info, (void)ninfo;
    struct event *event = event_new(fence_entered, NULL);
    event->procs = copy(procs, nprocs * sizeof(*procs));
    event->nprocs = nprocs;
    event->bytes = data;
    event->len = data ? ndata : 0;
    event->modex_done = done;
    event->cbdata = cbdata;
    queue_push(event);
    return PMIX_SUCCESS;
}

/* An int by the standard; openpmix itself reads 32 bits whatever their type is. 0: none. */
static double timeout_of(const pmix_info_t info[], size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++) {
        const pmix_value_t *value = &info[i].value;
        if (strcmp(info[i].key, PMIX_TIMEOUT) != 0)
            continue;
        if ((value->type == PMIX_INT || value->type == PMIX_INT32) && value->data.int32 > 0)
            return value->data.int32;
        if (value->type == PMIX_UINT32 && value->data.uint32 > 0)
            return value->data.uint32;
    }
    return 0;
}

static char *key_of(const pmix_info_t info[], size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++)
        if (!strcmp(info[i].key, PMIX_REQUIRED_KEY) && info[i].value.type == PMIX_STRING)
            return mem_copy_text(info[i].value.data.string);
    return NULL;
}

static pmix_status_t direct_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                  pmix_modex_cbfunc_t done, void *cbdata)
{
    struct event *event = event_new(modex_asked, proc);
    double timeout = timeout_of(info, ninfo);
    event->timeout = timeout ?: TIMEOUT;
    event->wait = timeout ?: KEY_WAIT;
    event->bytes = key_of(info, ninfo);
    event->modex_done = done;
    event->cbdata = cbdata;
    queue_push(event);
    return PMIX_SUCCESS;
}

static void log_text(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                     const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t done,
                     void *cbdata)
{
    (void)directives, (void)ndirs;
    for (size_t i = 0; i < ndata; i++) {
        struct event *event = say_text(client, &data[i]);
        if (event)
            queue_push(event);
    }
    struct event *end = event_new(say_done, client);
    end->done = done;
    end->cbdata = cbdata;
    queue_push(end);
}

/* Files that tasks want removed when they end are the library's own business: it removes them, but
 * asks for this first. Nothing else can be controlled yet. */
static pmix_status_t control(const pmix_proc_t *client, const pmix_proc_t targets[],
                             size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                             pmix_info_cbfunc_t done, void *cbdata)
{
    (void)client, (void)targets, (void)ntargets, (void)directives, (void)ndirs;
    (void)done, (void)cbdata;
    return PMIX_ERR_NOT_SUPPORTED;
}

pmix_server_module_t pmix_upcalls = {
    .client_connected2 = client_connected2,
    .client_finalized = client_finalized,
    .abort = abort_job,
    .fence_nb = fence,
    .direct_modex = direct_modex,
    .publish = names_publish_upcall,
    .lookup = names_lookup_upcall,
    .unpublish = names_unpublish_upcall,
    .log = log_text,
    .job_control = control,
};
