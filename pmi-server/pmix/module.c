/* The upcalls, and the table of them as the loaded openpmix reads it. */
#include "pmi-server/pmix/module.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "base/mem.h"
#include "pmi-server/pmix/client_connections.h"
#include "pmi-server/pmix/direct_modex_request_private.h"
#include "pmi-server/pmix/events.h"
#include "pmi-server/pmix/fence_private.h"
#include "pmi-server/pmix/group_connect.h"
#include "pmi-server/pmix/iof_private.h"
#include "pmi-server/pmix/job_control.h"
#include "pmi-server/pmix/log.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/publish_lookup.h"
#include "pmi-server/pmix/query.h"
#include "pmi-server/pmix/spawn_private.h"
#include "pmi-server/pmix/tools_private.h"
#include "pmi-server/pmix/upcall_queue.h"

/* Up to here the struct is the same in all versions from 4.1 on. */
#define COMMON (offsetof(pmix_server_module_t, client_connected2) / sizeof(module_upcall *) + 1)
_Static_assert(COMMON == 28, "the same place in the headers of all versions");

#define UNKNOWN 64 /* slots for a version whose struct may be larger */

/*
 * What openpmix calls, in its own thread: copied and queued. Nothing is answered from inside, which
 * can block that thread for ever. What is not here openpmix answers itself: not supported.
 */

/* openpmix 4.2 to 5.0.7: client_connected2 has no callback, so the answer is given at once. */
static pmix_status_t set_state(void *client, enum pmi_state state)
{
    if (client)
        atomic_store(&((struct client *)client)->state, state);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t client_connected2(const pmix_proc_t *proc, void *client, pmix_info_t info[],
                                       size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    (void)info, (void)ninfo, (void)done, (void)cbdata;
    struct pmix_job *job = client ? ((struct client *)client)->job : NULL;
    if (job && !atomic_exchange(&job->connected, true)) {
        /* Programs that speak no PMIx, after all, leave no directory to be removed. openpmix outlives the
         * owner: who connects once that has left gets none, as nobody would remove it. */
        struct pmix_host *host = job->host;
        pthread_mutex_lock(&host->owner_lock);
        if (host->owner_left)
            ;
        else if (host->ops->make_directory(host->arg) < 0)
            upcall_queue_push(log_no_directory(proc, host->tmpdir, errno));
        else if (job->tmpdir && directory_make_private(job->tmpdir) < 0)
            upcall_queue_push(log_no_directory(proc, job->tmpdir, errno));
        pthread_mutex_unlock(&host->owner_lock);
    }
    client_connections_opened(client);
    return set_state(client, PMI_RUNNING);
}

static pmix_status_t client_finalized(const pmix_proc_t *proc, void *client, pmix_op_cbfunc_t done,
                                      void *cbdata)
{
    (void)done, (void)cbdata;
    publish_lookup_finalized(proc);
    return set_state(client, PMI_FINALIZED);
}

static void log_text(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                     const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t done,
                     void *cbdata)
{
    (void)directives, (void)ndirs;
    for (size_t i = 0; i < ndata; i++) {
        struct upcall *event = log_line_text(client, &data[i]);
        if (event)
            upcall_queue_push(event);
    }
    struct upcall *end = upcall_new(log_done, client);
    end->done = done;
    end->cbdata = cbdata;
    upcall_queue_push(end);
}

pmix_status_t log2_upcall(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                          const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t done,
                          void *cbdata)
{
    log_text(client, data, ndata, directives, ndirs, done, cbdata);
    return PMIX_SUCCESS;
}

pmix_status_t tool_connected2_upcall(pmix_info_t *info, size_t ninfo,
                                     pmix_tool_connection_cbfunc_t done, void *cbdata)
{
    tools_connected_upcall(info, ninfo, done, cbdata);
    return PMIX_SUCCESS;
}

const pmix_server_module_t pmix_upcalls = {
    .client_connected2 = client_connected2,
    .client_finalized = client_finalized,
    .abort = job_control_abort_upcall,
    .fence_nb = fence_upcall,
    .direct_modex = direct_modex_upcall,
    .connect = connect_upcall,
    .disconnect = disconnect_upcall,
    .group = group_upcall,
    .publish = publish_upcall,
    .lookup = lookup_upcall,
    .unpublish = unpublish_upcall,
    .log = log_text,
    .job_control = job_control_upcall,
    .register_events = events_register_upcall,
    .deregister_events = events_deregister_upcall,
    .notify_event = events_notify_upcall,
    .spawn = spawn_upcall,
    .query = query_upcall,
    .tool_connected = tools_connected_upcall,
    .iof_pull = iof_pull_upcall,
    .push_stdin = iof_push_upcall,
};

/* ---- the table, by version ---- */

static void module_put(const struct module_slots *slots, size_t at, module_upcall *upcall)
{
    if (at)
        slots->at[at] = upcall;
}

struct module_slots module_make(const struct pmix_version *version)
{
    const struct module_layout *layout = pmix_version_layout(version);
    struct module_slots slots = {.count = layout ? layout->count : UNKNOWN};
    slots.at = mem_array(slots.count, sizeof(*slots.at));
    memcpy(slots.at, &pmix_upcalls, COMMON * sizeof(*slots.at));
    if (layout) {
        module_put(&slots, layout->tool_connected2, (module_upcall *)tool_connected2_upcall);
        module_put(&slots, layout->log2, (module_upcall *)log2_upcall);
        module_put(&slots, layout->session_control, (module_upcall *)job_control_session_upcall);
    }
    return slots;
}
