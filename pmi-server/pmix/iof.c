/*
 * Output: what tasks write, for tools that pull it.
 *
 * openpmix knows which of its clients wants what; the owner is not told who asks, nor whose a
 * request is that ends. So the program's service is told of all requests as they come, and that nothing
 * is wanted any more when as many have ended, or the last tool has left.
 */
#include "pmi-server/pmix/iof.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/info.h"
#include "pmi-server/pmix/iof_private.h"
#include "pmi-server/pmix/log.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/service_requests.h"

#define TAKEN_MIN 65536 /* bytes for which the service is told before the rest has left, too */

struct iof {
    unsigned pulls;        /* that tools have asked for, and not ended */
    unsigned delivering;   /* messages that openpmix has yet to look at */
    size_t owed;           /* bytes that the service may send again */
    bool held;             /* it may not: some tool lags */
    struct pushed *pushed; /* for tasks that are behind */
};

/* There is one host in a process, and openpmix's thread asks for this. */
static atomic_uint tools_present;

struct delivery { /* what openpmix has a pointer to */
    pmix_proc_t source;
    pmix_byte_object_t object;
    size_t owed;
    char bytes[];
};

/* ---- pulled: openpmix's thread ---- */

static void pull_asked(struct pmix_host *host, struct upcall *event);
static void pull_stopped(struct pmix_host *host, struct upcall *event);

/* openpmix 4.2.2 to 6.1: a request that is not answered from inside is forgotten. */
pmix_status_t iof_pull_upcall(const pmix_proc_t procs[], size_t nprocs,
                              const pmix_info_t directives[], size_t ndirs,
                              pmix_iof_channel_t channels, pmix_op_cbfunc_t done, void *cbdata)
{
    bool stop = info_find(directives, ndirs, PMIX_IOF_STOP);
    (void)done, (void)cbdata;
    if (!stop && !tools_present)
        return PMIX_ERR_NOT_SUPPORTED;
    if (!stop && (!nprocs || nprocs > SERVICE_PULL_PROCS))
        return PMIX_ERR_BAD_PARAM;
    struct upcall *event = upcall_new(stop ? pull_stopped : pull_asked, stop ? NULL : &procs[0]);
    upcall_set_procs(event, procs, nprocs);
    event->channels = channels;
    upcall_queue_push(event);
    return PMIX_OPERATION_SUCCEEDED;
}

/* ---- the service ---- */

static pmix_proc_t own_name(const struct pmix_host *host)
{
    pmix_proc_t proc = {.rank = host->rank};
    strncpy(proc.nspace, host->program, sizeof(proc.nspace) - 1);
    return proc;
}

static void iof_ask(struct pmix_host *host, enum service_request kind, const struct buf *rest)
{
    struct upcall event = {.proc = own_name(host)};
    service_request(host, &event, kind, rest, NULL);
}

static void output_stop(struct pmix_host *host)
{
    host->iof->pulls = 0;
    iof_ask(host, REQUEST_UNPULL, NULL);
}

void iof_tools_changed(struct pmix_host *host, unsigned count)
{
    unsigned before = atomic_exchange(&tools_present, count);
    if (before && !count)
        output_stop(host);
}

/* ---- delivered ---- */

static void iof_settle(struct pmix_host *host)
{
    struct iof *iof = host->iof;
    struct buf rest = BUF_INIT;
    if (iof->held || !iof->owed || (iof->delivering && iof->owed < TAKEN_MIN))
        return;
    pack_put_u64(&rest, iof->owed);
    iof->owed = 0;
    iof_ask(host, REQUEST_TAKEN, &rest);
    buf_free(&rest);
}

static void delivered(struct pmix_host *host, struct upcall *event)
{
    const struct delivery *delivery = (const void *)event->bytes;
    host->iof->delivering--;
    host->iof->owed += delivery->owed;
    iof_settle(host);
}

/* openpmix's thread. */
static void on_delivered(pmix_status_t status, void *cbdata)
{
    struct upcall *event = upcall_new(delivered, NULL);
    (void)status;
    event->bytes = cbdata;
    upcall_queue_push(event);
}

static void deliver(struct pmix_host *host, const struct process_name *from, unsigned channel,
                    const char *bytes, size_t len, size_t owed)
{
    struct delivery *delivery = mem_alloc(sizeof(*delivery) + len);
    strncpy(delivery->source.nspace, from->job, sizeof(delivery->source.nspace) - 1);
    delivery->source.rank = from->rank;
    memcpy(delivery->bytes, bytes, len);
    delivery->object = (pmix_byte_object_t){delivery->bytes, len};
    delivery->owed = owed;
    host->iof->delivering++;
    if (host->library->iof_deliver(
            &delivery->source,
            channel == CHANNEL_STDERR ? PMIX_FWD_STDERR_CHANNEL : PMIX_FWD_STDOUT_CHANNEL,
            &delivery->object, NULL, 0, on_delivered, delivery) != PMIX_SUCCESS)
        on_delivered(PMIX_ERROR, delivery);
}

int iof_output_receive(struct pmix_host *host, struct message_down *talk)
{
    size_t len;
    uint64_t lost = pack_u64(&talk->rest);
    struct process_name from = message_proc(&talk->rest);
    unsigned channel = pack_u8(&talk->rest);
    const char *bytes = pack_bytes(&talk->rest, &len);
    bool good = pack_ends(&talk->rest);
    if (good && lost) {
        char *text = log_own("%" PRIu64 " bytes are missing here: a tool is too slow", lost);
        deliver(host, &from, channel, text, strlen(text), 0);
        free(text);
    }
    if (good && len)
        deliver(host, &from, channel, bytes, len, len);
    free(from.job);
    return good ? 0 : -1;
}

/* ---- requests ---- */

static void pull_answered(struct pmix_host *host, struct upcall *event, enum reply_status status,
                          struct pack *rest)
{
    (void)rest;
    if (status == REPLY_OK) {
        if (!tools_present)
            output_stop(host);
        return;
    }
    /* openpmix took the request already: that nothing comes of it can only be said where it would have
     * come. */
    struct process_name from = {event->procs[0].nspace, event->procs[0].rank};
    char *text =
        log_own("there is no such task, or too much was asked for: nothing comes of %s", from.job);
    deliver(host, &from,
            event->channels & PMIX_FWD_STDERR_CHANNEL ? CHANNEL_STDERR : CHANNEL_STDOUT, text,
            strlen(text), 0);
    free(text);
}

static void pull_asked(struct pmix_host *host, struct upcall *event)
{
    struct buf rest = BUF_INIT;
    unsigned channels = (event->channels & PMIX_FWD_STDOUT_CHANNEL ? CHANNEL_STDOUT : 0) |
                        (event->channels & PMIX_FWD_STDERR_CHANNEL ? CHANNEL_STDERR : 0);
    pack_put_u8(&rest, (uint8_t)channels);
    service_put_procs(&rest, event);
    host->iof->pulls++;
    event->proc = own_name(host);
    service_request(host, event, REQUEST_PULL, &rest, pull_answered);
    buf_free(&rest);
}

static void pull_stopped(struct pmix_host *host, struct upcall *event)
{
    (void)event;
    if (host->iof->pulls && --host->iof->pulls == 0)
        output_stop(host);
}

void pmix_server_hold_output(struct pmix_host *host, bool hold)
{
    host->iof->held = hold;
    iof_settle(host);
}

bool pmix_server_output_is_out(const struct pmix_host *host)
{
    return !host->iof->delivering;
}

/*
 * Input: what tools have tasks read (PMIx Standard 4, PMIx_IOF_push).
 *
 * A push is answered when the tasks' pipes have room again, so a tool is held up by tasks as a
 * writer is by a pipe.
 */

struct pushed {
    struct pushed *next;
    uint64_t number;
};

/* ---- openpmix's thread ---- */

static void push_asked(struct pmix_host *host, struct upcall *event);

pmix_status_t iof_push_upcall(const pmix_proc_t *source, const pmix_proc_t targets[],
                              size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                              const pmix_byte_object_t *object, pmix_op_cbfunc_t done, void *cbdata)
{
    (void)directives, (void)ndirs;
    size_t len = object && object->bytes ? object->size : 0;
    if (!tools_present)
        return PMIX_ERR_NOT_SUPPORTED;
    if (!ntargets || ntargets > SERVICE_PULL_PROCS || len > SERVICE_PUSH_MAX)
        return PMIX_ERR_BAD_PARAM;
    struct upcall *event = upcall_new(push_asked, source);
    upcall_set_procs(event, targets, ntargets);
    event->bytes = mem_resize(NULL, len, 1);
    if (len)
        memcpy(event->bytes, object->bytes, len);
    event->len = len;
    event->done = done;
    event->cbdata = cbdata;
    upcall_queue_push(event);
    return PMIX_SUCCESS;
}

/* ---- the tool's node ---- */

static void push_answered(struct pmix_host *host, struct upcall *event, enum reply_status status,
                          struct pack *rest)
{
    (void)host, (void)rest;
    event->done(service_status(status), event->cbdata);
}

static void push_asked(struct pmix_host *host, struct upcall *event)
{
    struct buf rest = BUF_INIT;
    service_put_procs(&rest, event);
    pack_put_u8(&rest, !event->len);
    pack_put_bytes(&rest, event->bytes, event->len);
    service_request(host, event, REQUEST_PUSH, &rest, push_answered);
    buf_free(&rest);
}

/* ---- the tasks' node ---- */

static void iof_answer(struct pmix_host *host, uint64_t number, enum reply_status status)
{
    struct buf rest = BUF_INIT;
    pack_put_u64(&rest, number);
    pack_put_u8(&rest, (uint8_t)status);
    iof_ask(host, REQUEST_PUSHED, &rest);
    buf_free(&rest);
}

void pmix_server_settle_input(struct pmix_host *host)
{
    while (host->iof->pushed && !host->ops->input_lags(host->arg)) {
        struct pushed *pushed = host->iof->pushed;
        host->iof->pushed = pushed->next;
        iof_answer(host, pushed->number, REPLY_OK);
        free(pushed);
    }
}

/* What is for a task that is not here is for another node. */
static bool iof_give(struct pmix_host *host, const struct process_name *to, const void *bytes,
                     size_t len, bool end)
{
    struct pmix_job *job = namespace_find(host, to->job);
    bool taken = true;
    for (uint32_t rank = 0; job && rank < job->map->ntasks; rank++)
        if ((to->rank == SERVICE_ALL || to->rank == rank) &&
            taskmap_node(job->map, rank) == job->node)
            taken &= host->ops->input(host->arg, job, rank, bytes, len, end);
    return taken;
}

/* The bytes stand behind the processes: they are read first, all of it, and then the processes again. */
int iof_input_receive(struct pmix_host *host, struct message_down *talk)
{
    size_t len;
    uint64_t number = pack_u64(&talk->rest);
    struct pack procs = talk->rest;
    for (uint32_t i = 0, count = pack_count(&talk->rest, 8); i < count; i++)
        free(message_proc(&talk->rest).job);
    bool end = pack_u8(&talk->rest);
    const void *bytes = pack_bytes(&talk->rest, &len);
    if (!pack_ends(&talk->rest))
        return -1;
    bool taken = true;
    for (uint32_t i = 0, count = pack_u32(&procs); i < count; i++) {
        struct process_name to = message_proc(&procs);
        taken &= iof_give(host, &to, bytes, len, end);
        free(to.job);
    }
    if (!taken) {
        iof_answer(host, number, REPLY_NOT_PERMITTED);
        return 0;
    }
    struct pushed **last = &host->iof->pushed;
    while (*last)
        last = &(*last)->next;
    *last = mem_alloc(sizeof(**last));
    (*last)->number = number;
    pmix_server_settle_input(host);
    return 0;
}

/* ---- life ---- */

struct iof *iof_new(void)
{
    return mem_alloc(sizeof(struct iof));
}

void iof_free(struct pmix_host *host)
{
    while (host->iof->pushed) {
        struct pushed *next = host->iof->pushed->next;
        free(host->iof->pushed);
        host->iof->pushed = next;
    }
    free(host->iof);
}
