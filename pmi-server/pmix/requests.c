/*
 * Questions: what this host asked the program's hub, and has not heard the answer of.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/internal.h"
#include "pmi-server/protocol/message.h"

struct question {
    struct question *next;
    uint64_t token;
    double end; /* as host_clock() counts; 0: never */
    question_answered *answered;
    struct event *event; /* who is told */
};

/* ---- asked ---- */

static void send(struct pmix_host *host, const struct event *event, enum hub_kind kind,
                 uint64_t token, const struct buf *rest)
{
    struct buf message = BUF_INIT;
    talk_put_up(&message, kind, token, event->proc.nspace, event->proc.rank);
    if (rest)
        buf_add(&message, buf_bytes(rest), rest->len);
    host->ops->ask(host->arg, buf_bytes(&message), message.len);
    buf_free(&message);
}

void question_ask(struct pmix_host *host, struct event *event, enum hub_kind kind,
                  const struct buf *rest, question_answered *answered)
{
    if (!answered) {
        send(host, event, kind, 0, rest);
        return;
    }
    struct question *question = mem_alloc(sizeof(*question));
    question->token = ++host->tokens;
    question->end = event->timeout > 0 ? host_clock() + event->timeout : 0;
    question->answered = answered;
    question->event = event_move(event);
    question->next = host->questions;
    host->questions = question;
    send(host, question->event, kind, question->token, rest); /* it may be answered meanwhile */
}

/* ---- answered ---- */

static void question_free(struct question *question)
{
    event_free(question->event);
    free(question);
}

static void answer(struct pmix_host *host, struct question *question, enum hub_status status,
                   struct packet *rest)
{
    question->answered(host, question->event, status, rest);
    question_free(question);
}

/* One that is not there any more was given up. */
void question_answer(struct pmix_host *host, struct talk_down *talk)
{
    struct question **at = &host->questions, *question;
    while (*at && (*at)->token != talk->token)
        at = &(*at)->next;
    if (!(question = *at))
        return;
    *at = question->next;
    answer(host, question, talk->status, &talk->rest);
}

/* ---- given up ---- */

void questions_expire(struct pmix_host *host)
{
    struct question **at = &host->questions, *question;
    struct packet nothing = packet_of("", 0);
    double now = host->questions ? host_clock() : 0;
    while ((question = *at)) {
        if (!question->end || question->end > now) {
            at = &question->next;
            continue;
        }
        *at = question->next;
        send(host, question->event, HUB_FORGET, question->token, NULL);
        answer(host, question, HUB_TIMEOUT, &nothing);
    }
}

double questions_end(const struct pmix_host *host)
{
    double soonest = 0;
    for (const struct question *q = host->questions; q; q = q->next)
        if (q->end && (!soonest || q->end < soonest))
            soonest = q->end;
    return soonest;
}

void questions_leave(struct pmix_host *host, const char *job)
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

void questions_free(struct pmix_host *host)
{
    while (host->questions) {
        struct question *next = host->questions->next;
        question_free(host->questions);
        host->questions = next;
    }
}

pmix_status_t question_status(enum hub_status status)
{
    static const pmix_status_t words[HUB_NSTATUS] = {
        [HUB_OK] = PMIX_SUCCESS,
        [HUB_NOT_FOUND] = PMIX_ERR_NOT_FOUND,
        [HUB_TIMEOUT] = PMIX_ERR_TIMEOUT,
        [HUB_EXISTS] = PMIX_ERR_DUPLICATE_KEY,
        [HUB_BAD] = PMIX_ERR_BAD_PARAM,
        [HUB_NOT_PERMITTED] = PMIX_ERR_NO_PERMISSIONS,
        [HUB_UNSUPPORTED] = PMIX_ERR_NOT_SUPPORTED,
        [HUB_PARTLY] = PMIX_ERR_PARTIAL_SUCCESS,
        [HUB_GONE] = PMIX_ERR_LOST_CONNECTION, /* as openpmix says of one node's collectives */
        [HUB_FULL] = PMIX_ERR_OUT_OF_RESOURCE,
    };
    return words[status];
}
