/* What this node's server asked the program's service, and has not heard the answer of. */
#include "pmi-server/pmix/service_requests.h"

#include <stdlib.h>

#include "base/mem.h"
#include "pmi-server/pmix/context.h"

struct question {
    struct pending_request request;
    struct pmix_host *host;
    service_reply *reply;
    struct upcall *event; /* who is told */
};

static void service_send(struct pmix_host *host, const struct upcall *event,
                         enum service_request kind, uint64_t token, const struct buf *rest)
{
    struct buf message = BUF_INIT;
    message_put_up(&message, kind, token, event->proc.nspace, event->proc.rank);
    if (rest)
        buf_add(&message, buf_bytes(rest), rest->len);
    host->ops->ask(host->arg, buf_bytes(&message), message.len);
    buf_free(&message);
}

static void question_free(struct pending_request *request)
{
    struct question *question = (struct question *)request;
    upcall_free(question->event);
    free(question);
}

static void question_expire(struct pending_request *request)
{
    struct question *question = (struct question *)request;
    struct pack nothing = pack_of("", 0);
    service_send(question->host, question->event, REQUEST_FORGET, request->token, NULL);
    question->reply(question->host, question->event, REPLY_TIMEOUT, &nothing);
    question_free(request);
}

static const struct pending_request_kind question_kind = {question_expire, question_free};

void service_request(struct pmix_host *host, struct upcall *event, enum service_request kind,
                     const struct buf *rest, service_reply *reply)
{
    if (!reply) {
        service_send(host, event, kind, 0, rest);
        return;
    }
    struct question *question = mem_alloc(sizeof(*question));
    question->host = host;
    question->reply = reply;
    question->event = upcall_move(event);
    pending_requests_add(host->requests, &question->request, &question_kind,
                         question->event->proc.nspace, question->event->timeout);
    service_send(host, question->event, kind, question->request.token,
                 rest); /* it may be answered meanwhile */
}

void service_put_procs(struct buf *rest, const struct upcall *event)
{
    pack_put_u32(rest, (uint32_t)event->nprocs);
    for (size_t i = 0; i < event->nprocs; i++)
        message_put_proc(rest, event->procs[i].nspace, event->procs[i].rank);
}

/* One that is not there any more was given up. */
int service_replied(struct pmix_host *host, struct message_down *talk)
{
    struct pending_request *request =
        pending_requests_take(host->requests, &question_kind, NULL, talk->token);
    if (!request)
        return 0;
    struct question *question = (struct question *)request;
    question->reply(host, question->event, talk->status, &talk->rest);
    question_free(request);
    return 0;
}

pmix_status_t service_status(enum reply_status status)
{
    static const pmix_status_t words[REPLY_NSTATUS] = {
        [REPLY_OK] = PMIX_SUCCESS,
        [REPLY_NOT_FOUND] = PMIX_ERR_NOT_FOUND,
        [REPLY_TIMEOUT] = PMIX_ERR_TIMEOUT,
        [REPLY_EXISTS] = PMIX_ERR_DUPLICATE_KEY,
        [REPLY_BAD] = PMIX_ERR_BAD_PARAM,
        [REPLY_NOT_PERMITTED] = PMIX_ERR_NO_PERMISSIONS,
        [REPLY_UNSUPPORTED] = PMIX_ERR_NOT_SUPPORTED,
        [REPLY_PARTLY] = PMIX_ERR_PARTIAL_SUCCESS,
        [REPLY_GONE] = PMIX_ERR_LOST_CONNECTION, /* as openpmix says of one node's collectives */
        [REPLY_FULL] = PMIX_ERR_OUT_OF_RESOURCE,
    };
    return words[status];
}
