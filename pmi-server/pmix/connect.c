/*
 * Connects and disconnects: who is connected knows of the others' namespaces, which a gathering sees
 * to; the rest is openpmix's.
 */
#include "pmi-server/pmix/inside.h"

static void over(struct pmix_host *host, struct event *event, uint64_t number, const void *bytes,
                 size_t len)
{
    (void)host, (void)number, (void)bytes, (void)len;
    event->done(event->status, event->cbdata);
}

/* ---- openpmix's thread ---- */

static pmix_status_t enter(enum hub_gathering operation, const pmix_proc_t procs[], size_t nprocs,
                           const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t done,
                           void *cbdata)
{
    const struct gather gather = {.operation = operation, .over = over};
    struct event *event = gather_event(&gather, procs, nprocs, info, ninfo);
    event->done = done;
    event->cbdata = cbdata;
    queue_push(event);
    return PMIX_SUCCESS;
}

pmix_status_t upcall_connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                             size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    return enter(GATHER_CONNECT, procs, nprocs, info, ninfo, done, cbdata);
}

pmix_status_t upcall_disconnect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    return enter(GATHER_DISCONNECT, procs, nprocs, info, ninfo, done, cbdata);
}
