#include "pmi-server/pmix/module.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "base/mem.h"
#include "pmi-server/pmix/internal.h"
#include "pmi-server/pmix/log.h"

#define V(major, minor, release) ((major) << 16 | (minor) << 8 | (release))

/* Up to here the struct is the same in all versions from 4.1 on. */
#define COMMON (offsetof(pmix_server_module_t, client_connected2) / sizeof(module_upcall *) + 1)
_Static_assert(COMMON == 28, "the same place in the headers of all versions");

#define UNKNOWN 64 /* slots for a version whose struct may be larger */

/* Of the versions `first` to `last`, whose headers say it; 0 where they do not have an upcall. */
static const struct layout {
    unsigned first, last;
    size_t count;
    size_t tool_connected2, log2, session_control;
} layouts[] = {
    {V(4, 2, 0), V(4, 2, 9), 28, 0, 0, 0},    {V(5, 0, 0), V(5, 0, 11), 29, 0, 0, 28},
    {V(6, 0, 0), V(6, 0, 0), 30, 0, 0, 28},   {V(6, 1, 0), V(6, 1, 1), 32, 28, 29, 30},
    {V(7, 0, 0), V(7, 0, 0), 32, 28, 29, 30},
};
#define NLAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

/* Some candidates of these releases have the struct of a later version. */
static const unsigned doubtful[] = {V(4, 2, 3), V(5, 0, 10)};

static unsigned number_of(const struct pmix_version *version)
{
    return V(version->major, version->minor, version->release);
}

struct pmix_version pmix_version_of(const char *text)
{
    struct pmix_version version = {0};
    unsigned *const parts[] = {&version.major, &version.minor, &version.release};
    text += strcspn(text, "0123456789(");
    size_t len = strcspn(text, " ,("), at = 0;
    if (len >= sizeof(version.text))
        len = sizeof(version.text) - 1;
    memcpy(version.text, text, len);
    for (size_t i = 0; i < 3; i++) {
        char *end;
        unsigned long part = strtoul(version.text + at, &end, 10);
        *parts[i] = part > 255 ? 255 : (unsigned)part;
        at = (size_t)(end - version.text) + (*end == '.');
    }
    version.candidate = version.text[at] != '\0';
    return version;
}

bool module_knows(const struct pmix_version *version)
{
    return number_of(version) >= layouts[0].first &&
           version->major <= layouts[NLAYOUTS - 1].first >> 16;
}

static bool is_doubtful(const struct pmix_version *version)
{
    bool doubt = false;
    for (size_t i = 0; i < sizeof(doubtful) / sizeof(doubtful[0]); i++)
        doubt |= version->candidate && number_of(version) == doubtful[i];
    return doubt;
}

static const struct layout *layout_of(const struct pmix_version *version)
{
    unsigned number = number_of(version);
    for (size_t i = 0; i < NLAYOUTS; i++)
        if (number >= layouts[i].first && number <= layouts[i].last)
            return is_doubtful(version) ? NULL : &layouts[i];
    return NULL;
}

static void module_put(const struct module_slots *slots, size_t at, module_upcall *upcall)
{
    if (at)
        slots->at[at] = upcall;
}

struct module_slots module_make(const struct pmix_version *version)
{
    const struct layout *layout = layout_of(version);
    struct module_slots slots = {.count = layout ? layout->count : UNKNOWN};
    slots.at = mem_array(slots.count, sizeof(*slots.at));
    memcpy(slots.at, &pmix_upcalls, COMMON * sizeof(*slots.at));
    if (layout) {
        module_put(&slots, layout->tool_connected2, (module_upcall *)upcall_tool_connected2);
        module_put(&slots, layout->log2, (module_upcall *)upcall_log2);
        module_put(&slots, layout->session_control, (module_upcall *)job_control_session);
    }
    return slots;
}

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

/* Programs that speak no PMIx, after all, leave no directory to be removed. */
static void make_directories(const pmix_proc_t *proc, struct pmix_job *job)
{
    const struct pmix_host *host = job->host;
    if (atomic_exchange(&job->connected, true))
        return;
    if (host->ops->make_directory(host->arg) < 0)
        upcall_queue_push(log_no_directory(proc, host->tmpdir, errno));
    else if (job->tmpdir && directory_make_private(job->tmpdir) < 0)
        upcall_queue_push(log_no_directory(proc, job->tmpdir, errno));
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
        struct upcall *event = log_line_text(client, &data[i]);
        if (event)
            upcall_queue_push(event);
    }
    struct upcall *end = upcall_new(log_done, client);
    end->done = done;
    end->cbdata = cbdata;
    upcall_queue_push(end);
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
    .abort = job_control_abort,
    .fence_nb = upcall_fence,
    .direct_modex = upcall_modex,
    .connect = upcall_connect,
    .disconnect = upcall_disconnect,
    .group = upcall_group,
    .publish = names_publish_upcall,
    .lookup = names_lookup_upcall,
    .unpublish = names_unpublish_upcall,
    .log = log_text,
    .job_control = job_control_asked,
    .register_events = events_register,
    .deregister_events = events_deregister,
    .notify_event = events_notify,
    .spawn = spawn_asked,
    .query = query_asked,
    .tool_connected = tool_connected,
    .iof_pull = output_pull,
    .push_stdin = input_push,
};
