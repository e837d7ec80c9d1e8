/*
 * Questions: what this host asked the program's service, and has not heard the answer of.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/internal.h"
#include "pmi-server/protocol/message.h"

struct question {
    struct question *next;
    uint64_t token;
    double end; /* as server_clock() counts; 0: never */
    request_reply_arrived *answered;
    struct upcall *event; /* who is told */
};

/* ---- asked ---- */

static void requests_send(struct pmix_host *host, const struct upcall *event,
                          enum service_request kind, uint64_t token, const struct buf *rest)
{
    struct buf message = BUF_INIT;
    message_put_up(&message, kind, token, event->proc.nspace, event->proc.rank);
    if (rest)
        buf_add(&message, buf_bytes(rest), rest->len);
    host->ops->ask(host->arg, buf_bytes(&message), message.len);
    buf_free(&message);
}

void request_ask(struct pmix_host *host, struct upcall *event, enum service_request kind,
                 const struct buf *rest, request_reply_arrived *answered)
{
    if (!answered) {
        requests_send(host, event, kind, 0, rest);
        return;
    }
    struct question *question = mem_alloc(sizeof(*question));
    question->token = ++host->tokens;
    question->end = event->timeout > 0 ? server_clock() + event->timeout : 0;
    question->answered = answered;
    question->event = upcall_move(event);
    question->next = host->questions;
    host->questions = question;
    requests_send(host, question->event, kind, question->token,
                  rest); /* it may be answered meanwhile */
}

/* ---- answered ---- */

static void question_free(struct question *question)
{
    upcall_free(question->event);
    free(question);
}

static void requests_answer(struct pmix_host *host, struct question *question,
                            enum reply_status status, struct pack *rest)
{
    question->answered(host, question->event, status, rest);
    question_free(question);
}

/* One that is not there any more was given up. */
void request_answer(struct pmix_host *host, struct message_down *talk)
{
    struct question **at = &host->questions, *question;
    while (*at && (*at)->token != talk->token)
        at = &(*at)->next;
    if (!(question = *at))
        return;
    *at = question->next;
    requests_answer(host, question, talk->status, &talk->rest);
}

/* ---- given up ---- */

void requests_expire(struct pmix_host *host)
{
    struct question **at = &host->questions, *question;
    struct pack nothing = pack_of("", 0);
    double now = host->questions ? server_clock() : 0;
    while ((question = *at)) {
        if (!question->end || question->end > now) {
            at = &question->next;
            continue;
        }
        *at = question->next;
        requests_send(host, question->event, REQUEST_FORGET, question->token, NULL);
        requests_answer(host, question, REPLY_TIMEOUT, &nothing);
    }
}

double requests_end(const struct pmix_host *host)
{
    double soonest = 0;
    for (const struct question *q = host->questions; q; q = q->next)
        if (q->end && (!soonest || q->end < soonest))
            soonest = q->end;
    return soonest;
}

void requests_leave(struct pmix_host *host, const char *job)
{
    for (struct question **at = &host->questions, *question; (question = *at);) {
        if (strcmp(question->event->proc.nspace, job) != 0) {
            at = &question->next;
            continue;
        }
        *at = question->next;
        question_free(question);
    }
}

void pending_requests_free(struct pmix_host *host)
{
    while (host->questions) {
        struct question *next = host->questions->next;
        question_free(host->questions);
        host->questions = next;
    }
}

pmix_status_t request_status(enum reply_status status)
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
