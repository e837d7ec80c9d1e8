/*
 * Direct modex, on the asking node: what one task of another node has put and committed. Its node is
 * asked, and answers once the task has committed, which may be never: this node gives up after a
 * while.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pmi-server/pmix/inside.h"
#include "pmi-server/pmix/message.h"

struct modex_request {
    struct modex_request *next;
    uint64_t token;
    double end; /* as host_clock() counts */
    pmix_modex_cbfunc_t done;
    void *cbdata;
};

void modex_post(struct pmix_job *job, uint32_t node, const struct message *message)
{
    struct buf buf = BUF_INIT;
    message_write(&buf, message);
    if (node == job->node)
        pmix_job_posted(job, node, buf_bytes(&buf), buf.len, NULL);
    else
        job->host->ops->post(job->host->arg, job, node, buf_bytes(&buf), buf.len);
    buf_free(&buf);
}

static void complete(pmix_modex_cbfunc_t done, void *cbdata, pmix_status_t status,
                     const char *bytes, size_t len)
{
    char *copy = len ? memcpy(mem_resize(NULL, len, 1), bytes, len) : NULL;
    done(status, copy, len, cbdata, free, copy);
}

void modex_asked(struct pmix_host *host, struct event *event)
{
    struct pmix_job *job = host_job(host, event->proc.nspace);
    uint32_t rank = event->proc.rank;
    if (!job || rank >= job->map->ntasks) { /* all of the job: what there is openpmix has already */
        complete(event->modex_done, event->cbdata, PMIX_ERR_NOT_FOUND, NULL, 0);
        return;
    }
    struct modex_request *request = mem_alloc(sizeof(*request));
    request->token = ++host->tokens;
    request->end = host_clock() + event->timeout;
    request->done = event->modex_done;
    request->cbdata = event->cbdata;
    request->next = job->modexes;
    job->modexes = request;
    struct message message = {MESSAGE_ASK, request->token, .rank = rank,
                              .wait = (uint32_t)(event->wait * 1e3)};
    if (event->bytes && strlen(event->bytes) <= MESSAGE_KEY_MAX)
        strcpy(message.key, event->bytes);
    modex_post(job, taskmap_node(job->map, rank), &message);
}

/* One that is not there any more was given up. */
static void answered(struct pmix_job *job, const struct message *message)
{
    struct modex_request **at = &job->modexes, *request;
    while (*at && (*at)->token != message->token)
        at = &(*at)->next;
    if (!(request = *at))
        return;
    *at = request->next;
    complete(request->done, request->cbdata, message->status, message->bytes, message->len);
    free(request);
}

static void expire(struct pmix_job *job, double at)
{
    struct modex_request **from = &job->modexes, *request;
    while ((request = *from)) {
        if (request->end > at) {
            from = &request->next;
            continue;
        }
        *from = request->next;
        complete(request->done, request->cbdata, PMIX_ERR_TIMEOUT, NULL, 0);
        free(request);
    }
}

void modexes_expire(struct pmix_host *host)
{
    for (struct pmix_job *job = host->jobs; job; job = job->next)
        if (job->modexes)
            expire(job, host_clock());
}

double modexes_end(const struct pmix_host *host)
{
    double soonest = 0;
    for (const struct pmix_job *job = host->jobs; job; job = job->next)
        for (const struct modex_request *r = job->modexes; r; r = r->next)
            if (!soonest || r->end < soonest)
                soonest = r->end;
    return soonest;
}

void modexes_free(struct pmix_job *job)
{
    while (job->modexes) {
        struct modex_request *next = job->modexes->next;
        free(job->modexes);
        job->modexes = next;
    }
}

int pmix_job_posted(struct pmix_job *job, uint32_t from_node, const void *bytes, size_t len,
                    struct error *err)
{
    struct message message;
    if (message_read(&message, bytes, len) || from_node >= job->map->nnodes)
        return error_set(err, "PMIx namespace \"%s\": a malformed message from node %" PRIu32,
                         job->name, from_node);
    if (message.kind == MESSAGE_ASK)
        return committed_ask(job, from_node, &message, err);
    answered(job, &message);
    return 0;
}
