/*
 * Direct modex, on the asking node: what one task of another node has put and committed. Its node is
 * asked, and answers once the task has committed, which may be never: this node gives up after a
 * while. A task of a namespace that has none here is asked for through the service.
 */
#include "pmi-server/pmix/direct_modex_request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pmi-server/pmix/direct_modex_request_private.h"
#include "pmi-server/pmix/direct_modex_serve.h"
#include "pmi-server/pmix/direct_modex_waiting.h"
#include "pmi-server/pmix/info.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/remote_namespace.h"
#include "pmi-server/pmix/service_requests.h"

#define TIMEOUT 60.0 /* of one that names none */
#define KEY_WAIT 2.0 /* for a key then, when there was a commit: what openpmix waits on one node */

struct modex_request { /* to a node */
    struct pending_request request;
    uint64_t waiting; /* waiting_open()'s */
};

static uint32_t milliseconds(double seconds)
{
    return seconds < 4e6 ? (uint32_t)(seconds * 1e3) : UINT32_MAX;
}

static void direct_modex_post(struct pmix_job *job, uint32_t node,
                              const struct modex_message *message)
{
    struct buf buf = BUF_INIT;
    modex_message_write(&buf, message);
    if (node == job->node)
        pmix_namespace_posted(job, node, buf_bytes(&buf), buf.len, NULL);
    else
        job->host->ops->post(job->host->arg, job, node, buf_bytes(&buf), buf.len);
    buf_free(&buf);
}

/* ---- by way of the service ---- */

static void direct_modex_request_fetched(struct pmix_host *host, struct upcall *event,
                                         enum reply_status status, struct pack *rest)
{
    size_t len = 0;
    const char *bytes = status == REPLY_OK ? pack_bytes(rest, &len) : NULL;
    (void)host;
    if (status == REPLY_OK && !pack_ends(rest))
        status = REPLY_BAD;
    waiting_close(event->token, service_status(status), bytes, status == REPLY_OK ? len : 0);
}

static void direct_modex_request_fetch(struct pmix_host *host, struct upcall *event)
{
    struct buf rest = BUF_INIT;
    bool all = event->proc.rank == PMIX_RANK_WILDCARD; /* there is what it was registered with */
    if (event->status != PMIX_SUCCESS || all) {
        waiting_close(event->token, event->status, NULL, 0);
        remote_namespace_deny(host, event->proc.nspace);
        return;
    }
    message_put_proc(&rest, event->proc.nspace, event->proc.rank);
    bool fits = event->bytes && strlen(event->bytes) <= MODEX_MESSAGE_KEY_MAX;
    pack_put_u32(&rest, milliseconds(event->wait));
    pack_put_text(&rest, fits ? event->bytes : "");
    service_request(host, event, REQUEST_MODEX, &rest, direct_modex_request_fetched);
    buf_free(&rest);
}

/* ---- by way of the node of the task ---- */

static void modex_request_expire(struct pending_request *request)
{
    waiting_close(((struct modex_request *)request)->waiting, PMIX_ERR_TIMEOUT, NULL, 0);
    free(request);
}

static void modex_request_free(struct pending_request *request)
{
    free(request);
}

static const struct pending_request_kind modex_kind = {modex_request_expire, modex_request_free};

static void modex_asked(struct pmix_host *host, struct upcall *event)
{
    struct pmix_job *job = namespace_find(host, event->proc.nspace);
    uint32_t rank = event->proc.rank;
    if (!job) {
        remote_namespace_need(host, event, direct_modex_request_fetch);
        return;
    }
    if (rank >= job->map->ntasks) { /* all of the job: what there is openpmix has already */
        waiting_close(event->token, PMIX_ERR_NOT_FOUND, NULL, 0);
        return;
    }
    struct modex_request *modex = mem_alloc(sizeof(*modex));
    modex->waiting = event->token;
    pending_requests_add(host->requests, &modex->request, &modex_kind, job->name, event->timeout);
    struct modex_message message = {MODEX_MESSAGE_ASK, modex->request.token, .rank = rank,
                                    .wait = milliseconds(event->wait)};
    if (event->bytes && strlen(event->bytes) <= MODEX_MESSAGE_KEY_MAX)
        strcpy(message.key, event->bytes);
    direct_modex_post(job, taskmap_node(job->map, rank), &message);
}

int pmix_namespace_posted(struct pmix_job *job, uint32_t from_node, const void *bytes, size_t len,
                          struct error *err)
{
    struct modex_message message;
    if (modex_message_read(&message, bytes, len) || from_node >= job->map->nnodes)
        return error_set(err, "PMIx namespace \"%s\": a malformed message from node %" PRIu32,
                         job->name, from_node);
    if (message.kind == MODEX_MESSAGE_ASK)
        return direct_modex_serve(job, from_node, &message, direct_modex_post, err);
    /* An answer. The request is not there any more where it was given up. */
    struct modex_request *modex = (struct modex_request *)pending_requests_take(
        job->host->requests, &modex_kind, job->name, message.token);
    if (modex)
        waiting_close(modex->waiting, message.status, message.bytes, message.len);
    free(modex);
    return 0;
}

/* ---- openpmix's thread ---- */

pmix_status_t direct_modex_upcall(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                  pmix_modex_cbfunc_t done, void *cbdata)
{
    uint64_t number;
    double timeout = info_timeout(info, ninfo);
    if (!proc->nspace[0]) /* openpmix takes this name for any namespace */
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t status = waiting_open(proc, done, cbdata, &number);
    if (status != PMIX_SUCCESS || !number)
        return status;
    const pmix_value_t *key = info_find(info, ninfo, PMIX_REQUIRED_KEY);
    struct upcall *event = upcall_new(modex_asked, proc);
    event->timeout = timeout ?: TIMEOUT;
    event->wait = timeout ?: KEY_WAIT;
    if (key && key->type == PMIX_STRING)
        event->bytes = mem_copy_text(key->data.string);
    event->token = number;
    upcall_queue_push(event);
    return PMIX_SUCCESS;
}
