/*
 * Input: what tools have tasks read (PMIx Standard 4, PMIx_IOF_push).
 *
 * A push is answered when the tasks' pipes have room again, so a tool is held up by tasks as a
 * writer is by a pipe.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/inside.h"

struct pushed {
    struct pushed *next;
    uint64_t number;
};

/* ---- openpmix's thread ---- */

static void push_asked(struct pmix_host *host, struct event *event);

pmix_status_t input_push(const pmix_proc_t *source, const pmix_proc_t targets[], size_t ntargets,
                         const pmix_info_t directives[], size_t ndirs,
                         const pmix_byte_object_t *object, pmix_op_cbfunc_t done, void *cbdata)
{
    (void)directives, (void)ndirs;
    size_t len = object && object->bytes ? object->size : 0;
    if (!tools_present())
        return PMIX_ERR_NOT_SUPPORTED;
    if (!ntargets || ntargets > HUB_PULL_PROCS || len > HUB_PUSH_MAX)
        return PMIX_ERR_BAD_PARAM;
    struct event *event = event_new(push_asked, source);
    event->procs = mem_resize(NULL, ntargets, sizeof(*targets));
    memcpy(event->procs, targets, ntargets * sizeof(*targets));
    event->nprocs = ntargets;
    event->bytes = mem_resize(NULL, len, 1);
    if (len)
        memcpy(event->bytes, object->bytes, len);
    event->len = len;
    event->done = done;
    event->cbdata = cbdata;
    queue_push(event);
    return PMIX_SUCCESS;
}

/* ---- the tool's node ---- */

static void push_answered(struct pmix_host *host, struct event *event, enum hub_status status,
                          struct packet *rest)
{
    (void)host, (void)rest;
    event->done(question_status(status), event->cbdata);
}

static void push_asked(struct pmix_host *host, struct event *event)
{
    struct buf rest = BUF_INIT;
    packet_put_u32(&rest, (uint32_t)event->nprocs);
    for (size_t i = 0; i < event->nprocs; i++)
        talk_put_proc(&rest, event->procs[i].nspace, event->procs[i].rank);
    packet_put_u8(&rest, !event->len);
    packet_put_bytes(&rest, event->bytes, event->len);
    question_ask(host, event, HUB_PUSH, &rest, push_answered);
    buf_free(&rest);
}

/* ---- the tasks' node ---- */

static void answer(struct pmix_host *host, uint64_t number, enum hub_status status)
{
    struct buf rest = BUF_INIT;
    struct event event = {.proc = {.rank = host->node}};
    strncpy(event.proc.nspace, host->program, sizeof(event.proc.nspace) - 1);
    packet_put_u64(&rest, number);
    packet_put_u8(&rest, (uint8_t)status);
    question_ask(host, &event, HUB_PUSHED, &rest, NULL);
    buf_free(&rest);
}

void pmix_host_settle_input(struct pmix_host *host)
{
    while (host->pushed && !host->ops->input_lags(host->arg)) {
        struct pushed *pushed = host->pushed;
        host->pushed = pushed->next;
        answer(host, pushed->number, HUB_OK);
        free(pushed);
    }
}

/* What is for a task that is not here is for another node. */
static bool give(struct pmix_host *host, const struct hub_proc *to, const void *bytes, size_t len,
                 bool end)
{
    struct pmix_job *job = host_job(host, to->job);
    bool taken = true;
    for (uint32_t rank = 0; job && rank < job->map->ntasks; rank++)
        if ((to->rank == HUB_ALL || to->rank == rank) && taskmap_node(job->map, rank) == job->node)
            taken &= host->ops->input(host->arg, job, rank, bytes, len, end);
    return taken;
}

static bool give_all(struct pmix_host *host, struct packet *in, const void *bytes, size_t len,
                     bool end)
{
    bool taken = true;
    for (uint32_t i = 0, count = packet_u32(in); i < count; i++) {
        struct hub_proc to = talk_proc(in);
        taken &= give(host, &to, bytes, len, end);
        free(to.job);
    }
    return taken;
}

static void owe(struct pmix_host *host, uint64_t number)
{
    struct pushed **last = &host->pushed;
    while (*last)
        last = &(*last)->next;
    *last = mem_alloc(sizeof(**last));
    (*last)->number = number;
    pmix_host_settle_input(host);
}

/* The bytes stand behind the processes: they are read first, all of it, and then the processes again. */
int input_told(struct pmix_host *host, struct talk_down *talk)
{
    size_t len;
    uint64_t number = packet_u64(&talk->rest);
    struct packet procs = talk->rest;
    for (uint32_t i = 0, count = packet_count(&talk->rest, 8); i < count; i++)
        free(talk_proc(&talk->rest).job);
    bool end = packet_u8(&talk->rest);
    const void *bytes = packet_bytes(&talk->rest, &len);
    if (!packet_ends(&talk->rest))
        return -1;
    if (give_all(host, &procs, bytes, len, end))
        owe(host, number);
    else
        answer(host, number, HUB_NOT_PERMITTED);
    return 0;
}

void pushed_free(struct pmix_host *host)
{
    while (host->pushed) {
        struct pushed *next = host->pushed->next;
        free(host->pushed);
        host->pushed = next;
    }
}
