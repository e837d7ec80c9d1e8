/*
 * Events that tasks make: openpmix tells the tasks of this node, and the service the hosts of others,
 * where openpmix is given the event.
 */
#include "pmi-server/pmix/events.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/context.h"
#include "pmi-server/pmix/log.h"
#include "pmi-server/pmix/service_requests.h"

#define NOBODY UINT32_MAX

/* ---- made here ---- */

static uint32_t reach_of(pmix_data_range_t range)
{
    static const uint32_t reaches[] = {
        [PMIX_RANGE_UNDEF] = REACH_PROGRAM,   [PMIX_RANGE_RM] = NOBODY,
        [PMIX_RANGE_LOCAL] = NOBODY,          [PMIX_RANGE_NAMESPACE] = REACH_JOB,
        [PMIX_RANGE_SESSION] = REACH_PROGRAM, [PMIX_RANGE_GLOBAL] = REACH_PROGRAM,
        [PMIX_RANGE_CUSTOM] = REACH_SOME,     [PMIX_RANGE_PROC_LOCAL] = NOBODY,
    };
    return range < sizeof(reaches) / sizeof(reaches[0]) ? reaches[range] : NOBODY;
}

/* Bytes of events that the service has yet to pass on. There is one host in a process. */
static atomic_size_t under_way;
static atomic_bool told_too_many;

/* An event is freed: its bytes are not under way any more. */
static void count_out(void *bytes)
{
    atomic_fetch_sub(&under_way, (uintptr_t)bytes);
}

static void say_too_many(struct pmix_host *host, struct upcall *event)
{
    log_line(host, &event->proc,
             log_own("PMIx events are made faster than they are passed on: some are refused"));
}

static void passed_on(struct pmix_host *host, struct upcall *event, enum reply_status status,
                      struct pack *rest)
{
    (void)host, (void)event, (void)status, (void)rest; /* it is freed */
}

static void event_ask(struct pmix_host *host, struct upcall *event)
{
    struct buf rest = BUF_INIT;
    pack_put_u8(&rest, (uint8_t)reach_of((pmix_data_range_t)event->number));
    service_put_procs(&rest, event);
    struct buf told = BUF_INIT;
    pack_put_u32(&told, (uint32_t)event->status);
    pack_put_u8(&told, (uint8_t)event->number);
    pack_put_bytes(&told, event->bytes, event->len);
    pack_put_bytes(&rest, buf_bytes(&told), told.len);
    free(event->bytes);
    event->bytes = NULL;
    service_request(host, event, REQUEST_NOTIFY, &rest, passed_on);
    buf_free(&told);
    buf_free(&rest);
}

/* ---- openpmix is told ---- */

/* openpmix 6.0 to now: none of it is copied, and it is looked at until the callback. */
struct notice {
    const struct pmix_library *library;
    pmix_proc_t source;
    struct info_list infos;
};

/* openpmix's thread. */
static void noticed(pmix_status_t status, void *cbdata)
{
    struct notice *notice = cbdata;
    (void)status;
    info_free(&notice->infos, notice->library);
    free(notice);
}

/* openpmix 6.0 to now: without a callback the caller is blocked. */
void event_tell(struct pmix_host *host, pmix_status_t status, const pmix_proc_t *source,
                pmix_data_range_t range, struct info_list *infos)
{
    struct notice *notice = mem_alloc(sizeof(*notice));
    *notice = (struct notice){host->library, *source, *infos};
    *infos = (struct info_list){0};
    if (host->library->notify_event(status, &notice->source, range, notice->infos.at,
                                    notice->infos.count, noticed, notice) != PMIX_SUCCESS)
        noticed(PMIX_ERROR, notice);
}

/* ---- made elsewhere ---- */

int events_receive(struct pmix_host *host, struct message_down *talk)
{
    size_t len;
    struct info_list infos = {0};
    struct process_name from = message_proc(&talk->rest);
    const void *bytes = pack_bytes(&talk->rest, &len);
    struct pack in = pack_of(bytes, len); /* as event_ask() wrote it */
    pmix_status_t status = (pmix_status_t)pack_u32(&in);
    pmix_data_range_t range = pack_u8(&in);
    bytes = pack_bytes(&in, &len);
    int rc = -1;
    if (pack_ends(&talk->rest) && pack_ends(&in) &&
        pack_read_infos(host->library, bytes, len, &infos) == 0) {
        pmix_proc_t source = {.rank = from.rank};
        strncpy(source.nspace, from.job, sizeof(source.nspace) - 1);
        event_tell(host, status, &source, range, &infos);
        rc = 0;
    }
    free(from.job);
    return rc;
}

/* ---- upcalls: openpmix's thread ---- */

/* A single one, or an array. */
static void add_listed(struct upcall *event, const pmix_value_t *value)
{
    const pmix_proc_t *procs = NULL;
    size_t count = 0;
    if (value->type == PMIX_PROC) {
        procs = value->data.proc;
        count = 1;
    } else if (value->type == PMIX_DATA_ARRAY && value->data.darray &&
               value->data.darray->type == PMIX_PROC) {
        procs = value->data.darray->array;
        count = value->data.darray->size;
    }
    if (!procs || !count)
        return;
    event->procs = mem_resize(event->procs, event->nprocs + count, sizeof(*procs));
    memcpy(event->procs + event->nprocs, procs, count * sizeof(*procs));
    event->nprocs += count;
}

/* openpmix 4.2.2 to 5.0.4: whom to tell of a later answer is forgotten, so it is given at once. */
pmix_status_t events_notify_upcall(pmix_status_t code, const pmix_proc_t *source,
                                   pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                                   pmix_op_cbfunc_t done, void *cbdata)
{
    (void)done, (void)cbdata;
    if (reach_of(range) == NOBODY)
        return PMIX_OPERATION_SUCCEEDED;
    size_t len;
    char *bytes = pack_infos(pmix_library(NULL), info, ninfo, &len);
    if (!bytes || len > PMIX_SERVER_EVENT_MAX) {
        free(bytes);
        return PMIX_ERR_BAD_PARAM;
    }
    struct upcall *event = upcall_new(event_ask, source);
    event->status = code;
    event->number = range;
    event->bytes = bytes;
    event->len = len;
    for (size_t i = 0; i < ninfo && range == PMIX_RANGE_CUSTOM; i++)
        if (!strcmp(info[i].key, PMIX_EVENT_CUSTOM_RANGE))
            add_listed(event, &info[i].value);
    if (atomic_fetch_add(&under_way, len) + len > PMIX_SERVER_EVENTS_MAX) {
        atomic_fetch_sub(&under_way, len);
        upcall_free(event);
        if (!atomic_exchange(&told_too_many, true))
            upcall_queue_push(upcall_new(say_too_many, source));
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    event->more = (void *)(uintptr_t)len;
    event->free_more = count_out;
    upcall_queue_push(event);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Hosts are told of all there is; openpmix knows which task wants it. */
pmix_status_t events_register_upcall(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                                     size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    (void)codes, (void)ncodes, (void)info, (void)ninfo, (void)done, (void)cbdata;
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t events_deregister_upcall(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t done,
                                       void *cbdata)
{
    (void)codes, (void)ncodes, (void)done, (void)cbdata;
    return PMIX_OPERATION_SUCCEEDED;
}
