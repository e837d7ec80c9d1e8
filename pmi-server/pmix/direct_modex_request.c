/*
 * Direct modex, on the asking node: what one task of another node has put and committed. Its node is
 * asked, and answers once the task has committed, which may be never: this node gives up after a
 * while. A task of a namespace that has none here is asked for through the service.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pmi-server/pmix/info.h"
#include "pmi-server/pmix/internal.h"
#include "pmi-server/protocol/modex_message.h"

#define TIMEOUT 60.0 /* of one that names none */
#define KEY_WAIT 2.0 /* for a key then, when there was a commit: what openpmix waits on one node */

struct modex_request {
    struct modex_request *next;
    uint64_t token;
    double end;       /* as server_clock() counts */
    uint64_t waiting; /* waiting_open()'s */
};

void direct_modex_post(struct pmix_job *job, uint32_t node, const struct modex_message *message)
{
    struct buf buf = BUF_INIT;
    modex_message_write(&buf, message);
    if (node == job->node)
        pmix_namespace_posted(job, node, buf_bytes(&buf), buf.len, NULL);
    else
        job->host->ops->post(job->host->arg, job, node, buf_bytes(&buf), buf.len);
    buf_free(&buf);
}

static void direct_modex_request_fetched(struct pmix_host *host, struct upcall *event,
                                         enum reply_status status, struct pack *rest)
{
    size_t len = 0;
    const char *bytes = status == REPLY_OK ? pack_bytes(rest, &len) : NULL;
    (void)host;
    if (status == REPLY_OK && !pack_ends(rest))
        status = REPLY_BAD;
    waiting_close(event->token, request_status(status), bytes, status == REPLY_OK ? len : 0);
}

/* Of all of the job there is what it was registered with. */
static uint32_t milliseconds(double seconds)
{
    return seconds < 4e6 ? (uint32_t)(seconds * 1e3) : UINT32_MAX;
}

static void direct_modex_request_fetch(struct pmix_host *host, struct upcall *event)
{
    struct buf rest = BUF_INIT;
    bool all = event->proc.rank == PMIX_RANK_WILDCARD;
    if (event->status != PMIX_SUCCESS || all) {
        waiting_close(event->token, event->status, NULL, 0);
        remote_namespace_deny(host, event->proc.nspace);
        return;
    }
    message_put_proc(&rest, event->proc.nspace, event->proc.rank);
    bool fits = event->bytes && strlen(event->bytes) <= MODEX_MESSAGE_KEY_MAX;
    pack_put_u32(&rest, milliseconds(event->wait));
    pack_put_text(&rest, fits ? event->bytes : "");
    request_ask(host, event, REQUEST_MODEX, &rest, direct_modex_request_fetched);
    buf_free(&rest);
}

static void modex_asked(struct pmix_host *host, struct upcall *event)
{
    struct pmix_job *job = server_job(host, event->proc.nspace);
    uint32_t rank = event->proc.rank;
    if (!job) {
        remote_namespace_need(host, event, direct_modex_request_fetch);
        return;
    }
    if (rank >= job->map->ntasks) { /* all of the job: what there is openpmix has already */
        waiting_close(event->token, PMIX_ERR_NOT_FOUND, NULL, 0);
        return;
    }
    struct modex_request *request = mem_alloc(sizeof(*request));
    request->token = ++host->tokens;
    request->end = server_clock() + event->timeout;
    request->waiting = event->token;
    request->next = job->modexes;
    job->modexes = request;
    struct modex_message message = {MODEX_MESSAGE_ASK, request->token, .rank = rank,
                                    .wait = milliseconds(event->wait)};
    if (event->bytes && strlen(event->bytes) <= MODEX_MESSAGE_KEY_MAX)
        strcpy(message.key, event->bytes);
    direct_modex_post(job, taskmap_node(job->map, rank), &message);
}

/* One that is not there any more was given up. */
static void direct_modex_request_answered(struct pmix_job *job, const struct modex_message *message)
{
    struct modex_request **at = &job->modexes, *request;
    while (*at && (*at)->token != message->token)
        at = &(*at)->next;
    if (!(request = *at))
        return;
    *at = request->next;
    waiting_close(request->waiting, message->status, message->bytes, message->len);
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
        waiting_close(request->waiting, PMIX_ERR_TIMEOUT, NULL, 0);
        free(request);
    }
}

void modexes_expire(struct pmix_host *host)
{
    for (struct pmix_job *job = host->jobs; job; job = job->next)
        if (job->modexes)
            expire(job, server_clock());
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

int pmix_namespace_posted(struct pmix_job *job, uint32_t from_node, const void *bytes, size_t len,
                          struct error *err)
{
    struct modex_message message;
    if (modex_message_read(&message, bytes, len) || from_node >= job->map->nnodes)
        return error_set(err, "PMIx namespace \"%s\": a malformed message from node %" PRIu32,
                         job->name, from_node);
    if (message.kind == MODEX_MESSAGE_ASK)
        return direct_modex_serve_ask(job, from_node, &message, err);
    direct_modex_request_answered(job, &message);
    return 0;
}

/* ---- openpmix's thread ---- */

static char *key_of(const pmix_info_t info[], size_t ninfo)
{
    const pmix_value_t *value = info_find(info, ninfo, PMIX_REQUIRED_KEY);
    return value && value->type == PMIX_STRING ? mem_copy_text(value->data.string) : NULL;
}

pmix_status_t upcall_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                           pmix_modex_cbfunc_t done, void *cbdata)
{
    uint64_t number;
    double timeout = info_timeout(info, ninfo);
    if (!proc->nspace[0]) /* openpmix takes this name for any namespace */
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t status = waiting_open(proc, done, cbdata, &number);
    if (status != PMIX_SUCCESS || !number)
        return status;
    struct upcall *event = upcall_new(modex_asked, proc);
    event->timeout = timeout ?: TIMEOUT;
    event->wait = timeout ?: KEY_WAIT;
    event->bytes = key_of(info, ninfo);
    event->token = number;
    upcall_queue_push(event);
    return PMIX_SUCCESS;
}

/*
 * What openpmix has asked for with a direct modex, and has not been told. It has to be told once.
 *
 * openpmix from 4.2.2 on:
 * - when a namespace is registered it asks again for what it waits for of that one (still so in
 *   7.0.0 rc1);
 * - up to 6.1, when one is deregistered it forgets what it waits for, and what comes then it takes for
 *   something that it has freed. So all of that is answered before, and nothing is taken on meanwhile.
 */

struct waiting {
    struct waiting *next;
    uint64_t number;
    pmix_nspace_t name;
    pmix_rank_t rank;
    pmix_modex_cbfunc_t done;
    void *cbdata;
};

struct leaving { /* a namespace that openpmix has yet to deregister */
    struct leaving *next;
    pmix_nspace_t name;
    pmix_op_cbfunc_t left;
    void *cbdata;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all of these */
static struct waiting *waitings;
static struct leaving *leavings;
static uint64_t numbers;

/* ---- asked ---- */

static bool is_leaving(const char *name)
{
    const struct leaving *leaving = leavings;
    while (leaving && strcmp(leaving->name, name) != 0)
        leaving = leaving->next;
    return leaving;
}

static uint64_t direct_modex_request_add(const pmix_proc_t *proc, pmix_modex_cbfunc_t done,
                                         void *cbdata)
{
    struct waiting **at = &waitings;
    while (*at && (*at)->cbdata != cbdata)
        at = &(*at)->next;
    if (*at)
        return 0;
    *at = mem_alloc(sizeof(**at));
    (*at)->number = ++numbers;
    memcpy((*at)->name, proc->nspace, sizeof((*at)->name));
    (*at)->rank = proc->rank;
    (*at)->done = done;
    (*at)->cbdata = cbdata;
    return numbers;
}

pmix_status_t waiting_open(const pmix_proc_t *proc, pmix_modex_cbfunc_t done, void *cbdata,
                           uint64_t *number)
{
    pthread_mutex_lock(&lock);
    bool leaving = is_leaving(proc->nspace);
    *number = leaving ? 0 : direct_modex_request_add(proc, done, cbdata);
    pthread_mutex_unlock(&lock);
    return leaving ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS;
}

void waiting_forget(const char *name, uint32_t rank)
{
    struct waiting **at = &waitings, *waiting;
    pthread_mutex_lock(&lock);
    while ((waiting = *at)) {
        if (waiting->rank != rank || strcmp(waiting->name, name) != 0) {
            at = &waiting->next;
            continue;
        }
        *at = waiting->next;
        free(waiting);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- answered ---- */

/* The first of this number, or, where that is 0, of this namespace. */
static struct waiting *direct_modex_request_take(uint64_t number, const char *name)
{
    struct waiting **at = &waitings;
    while (*at && (number ? (*at)->number != number : strcmp((*at)->name, name) != 0))
        at = &(*at)->next;
    struct waiting *waiting = *at;
    if (waiting)
        *at = waiting->next;
    return waiting;
}

static void direct_modex_request_answer(struct waiting *waiting, pmix_status_t status,
                                        const void *bytes, size_t len)
{
    char *copy = len ? memcpy(mem_resize(NULL, len, 1), bytes, len) : NULL;
    waiting->done(status, copy, len, waiting->cbdata, free, copy);
    free(waiting);
}

void waiting_close(uint64_t number, pmix_status_t status, const void *bytes, size_t len)
{
    pthread_mutex_lock(&lock);
    struct waiting *waiting = direct_modex_request_take(number, "");
    pthread_mutex_unlock(&lock);
    if (waiting)
        direct_modex_request_answer(waiting, status, bytes, len);
}

/* ---- not to be answered any more ---- */

/* openpmix's thread. */
static void direct_modex_request_left(pmix_status_t status, void *cbdata)
{
    struct leaving *leaving = cbdata, **at = &leavings;
    pthread_mutex_lock(&lock);
    while (*at != leaving)
        at = &(*at)->next;
    *at = leaving->next;
    pthread_mutex_unlock(&lock);
    if (leaving->left)
        leaving->left(status, leaving->cbdata);
    free(leaving);
}

void waiting_deregister(struct pmix_host *host, const char *name, pmix_op_cbfunc_t then,
                        void *cbdata)
{
    struct leaving *leaving = mem_alloc(sizeof(*leaving));
    struct waiting *all = NULL, *waiting;
    strncpy(leaving->name, name, sizeof(leaving->name) - 1);
    leaving->left = then;
    leaving->cbdata = cbdata;
    pthread_mutex_lock(&lock);
    leaving->next = leavings;
    leavings = leaving;
    while ((waiting = direct_modex_request_take(0, leaving->name))) {
        waiting->next = all;
        all = waiting;
    }
    pthread_mutex_unlock(&lock);
    while ((waiting = all)) {
        all = waiting->next;
        direct_modex_request_answer(waiting, PMIX_ERR_NOT_FOUND, NULL, 0);
    }
    host->library->deregister_nspace(leaving->name, direct_modex_request_left, leaving);
}
