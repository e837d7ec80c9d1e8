/*
 * What openpmix calls, in its own thread: copied and queued. Nothing is answered from inside, which
 * can block that thread for ever. What is not here openpmix answers itself: not supported.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "base/mem.h"
#include "pmi-server/pmix/inside.h"
#include "pmi-server/pmix/say.h"

/* openpmix 4.2 to 5.0.7: client_connected2 has no callback, so the answer is given at once. */
static pmix_status_t set_state(void *client, enum pmi_state state)
{
    if (client)
        atomic_store(&((struct client *)client)->state, state);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Programs that speak no PMIx, after all, leave no directory to be removed. */
static void make_directories(const pmix_proc_t *proc, struct pmix_job *job)
{
    const struct pmix_host *host = job->host;
    if (atomic_exchange(&job->connected, true))
        return;
    if (host->ops->make_directory(host->arg) < 0)
        queue_push(say_no_directory(proc, host->tmpdir, errno));
    else if (job->tmpdir && directory_make_private(job->tmpdir) < 0)
        queue_push(say_no_directory(proc, job->tmpdir, errno));
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

pmix_status_t upcall_log2(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                          const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t done,
                          void *cbdata)
{
    log_text(client, data, ndata, directives, ndirs, done, cbdata);
    return PMIX_SUCCESS;
}

pmix_status_t upcall_tool_connected2(pmix_info_t *info, size_t ninfo,
                                     pmix_tool_connection_cbfunc_t done, void *cbdata)
{
    tool_connected(info, ninfo, done, cbdata);
    return PMIX_SUCCESS;
}

const pmix_server_module_t pmix_upcalls = {
    .client_connected2 = client_connected2,
    .client_finalized = client_finalized,
    .abort = control_abort,
    .fence_nb = upcall_fence,
    .direct_modex = upcall_modex,
    .connect = upcall_connect,
    .disconnect = upcall_disconnect,
    .group = upcall_group,
    .publish = names_publish_upcall,
    .lookup = names_lookup_upcall,
    .unpublish = names_unpublish_upcall,
    .log = log_text,
    .job_control = control_asked,
    .register_events = events_register,
    .deregister_events = events_deregister,
    .notify_event = events_notify,
    .spawn = spawn_asked,
    .query = query_asked,
    .tool_connected = tool_connected,
    .iof_pull = output_pull,
    .push_stdin = input_push,
};
