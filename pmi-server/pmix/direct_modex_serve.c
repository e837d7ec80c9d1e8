/*
 * Direct modex, on the node that is asked: what a task here has put and committed. The answer waits
 * for its first commit, and then a while for the key that is wanted: as openpmix itself does it
 * among the tasks of one node (PMIx Standard 4, PMIX_REQUIRED_KEY).
 */
#include "pmi-server/pmix/direct_modex_serve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/exchange/exchange.h"
#include "pmi-server/pmix/namespace_private.h"
#include "pmi-server/pmix/service_requests.h"

#define BYTES_MAX (EXCHANGE_MAX - 64)
#define PAUSE 0.02 /* s, between looks for a key */
#define ENDED 1.0  /* s, for openpmix to find what a task had put that has ended */

#define SERVICE UINT32_MAX /* in place of a node */

struct wanted {
    struct wanted *next;
    uint64_t token; /* the asking node's, or the service's */
    uint32_t node, rank;
    direct_modex_reply *reply;
    char *key;
    double patience;   /* s, for the key once there was a commit */
    double end, again; /* by pending_requests_clock(); 0: not yet; `again` 0: openpmix is at it */
    double give_up;    /* as they: its task has ended; 0: it runs */
    bool last;         /* what is fetched next is the answer */
};

static void wanted_free(struct wanted *wanted)
{
    free(wanted->key);
    free(wanted);
}

/* Of an event; NULL: it was given up. */
static struct wanted *direct_modex_serve_find(const struct pmix_job *job,
                                              const struct upcall *event)
{
    struct wanted *wanted = job ? job->wanted : NULL;
    while (wanted && (wanted->token != event->token || wanted->node != event->node))
        wanted = wanted->next;
    return wanted;
}

static struct upcall *event_of(const struct pmix_job *job, const struct wanted *wanted,
                               void (*run)(struct pmix_host *, struct upcall *))
{
    const pmix_proc_t proc = namespace_proc(job, wanted->rank);
    struct upcall *event = upcall_new(run, &proc);
    event->token = wanted->token;
    event->node = wanted->node;
    return event;
}

/* ---- what is asked of openpmix ---- */

/* openpmix's thread, or from inside PMIx_server_dmodex_request(). */
static void direct_modex_serve_fetched(pmix_status_t status, char *data, size_t len, void *cbdata)
{
    struct upcall *event = cbdata;
    event->status = status;
    if (data && len) {
        event->bytes = memcpy(mem_resize(NULL, len, 1), data, len);
        event->len = len;
    }
    upcall_queue_push(event);
}

static void take_fetched(struct pmix_host *host, struct upcall *event);

static void direct_modex_serve_fetch(struct pmix_job *job, struct wanted *wanted)
{
    struct upcall *event = event_of(job, wanted, take_fetched);
    wanted->again = 0;
    pmix_status_t status =
        job->host->library->dmodex_request(&event->proc, direct_modex_serve_fetched, event);
    if (status != PMIX_SUCCESS)
        direct_modex_serve_fetched(status, NULL, 0, event);
}

static void looked(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    struct upcall *event = cbdata;
    (void)value;
    event->status = status;
    upcall_queue_push(event);
}

static void take_looked(struct pmix_host *host, struct upcall *event);

/* Look without waiting, as PMIX_OPTIONAL has it. It also finds what the task has put for its own node. */
static void look(struct pmix_job *job, struct wanted *wanted)
{
    static const pmix_info_t here_only = {.key = PMIX_OPTIONAL,
                                          .value = {.type = PMIX_BOOL, .data.flag = true}};
    struct upcall *event = event_of(job, wanted, take_looked);
    event->bytes = mem_copy_text(wanted->key);
    wanted->again = 0;
    pmix_status_t status =
        job->host->library->get_nb(&event->proc, event->bytes, &here_only, 1, looked, event);
    if (status != PMIX_SUCCESS)
        looked(status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status, NULL, event);
}

/* ---- and what comes of it ---- */

/* To the program's service; `answer` has the task's name. */
static void tell_service(struct pmix_host *host, uint64_t number, const struct upcall *answer)
{
    struct buf rest = BUF_INIT;
    struct upcall asked = {.proc = answer->proc};
    bool good = answer->status == PMIX_SUCCESS, full = answer->len > BYTES_MAX;
    pack_put_u64(&rest, number);
    pack_put_u8(&rest, full ? REPLY_FULL : good ? REPLY_OK : REPLY_NOT_FOUND);
    pack_put_bytes(&rest, answer->bytes, full ? 0 : answer->len);
    service_request(host, &asked, REQUEST_FOUND, &rest, NULL);
    buf_free(&rest);
}

static void direct_modex_serve_tell(struct pmix_job *job, struct wanted *wanted,
                                    const struct upcall *event)
{
    struct modex_message message = {MODEX_MESSAGE_ANSWER, wanted->token, .status = event->status,
                                    .bytes = event->bytes, .len = event->len};
    if (event->len > BYTES_MAX)
        message = (struct modex_message){MODEX_MESSAGE_ANSWER, wanted->token,
                                         .status = PMIX_ERR_OUT_OF_RESOURCE};
    struct wanted **at = &job->wanted;
    while (*at != wanted)
        at = &(*at)->next;
    *at = wanted->next;
    if (wanted->node == SERVICE)
        tell_service(job->host, wanted->token, event);
    else
        wanted->reply(job, wanted->node, &message);
    wanted_free(wanted);
}

static void take_fetched(struct pmix_host *host, struct upcall *event)
{
    struct pmix_job *job = namespace_find(host, event->proc.nspace);
    struct wanted *wanted = direct_modex_serve_find(job, event);
    if (!wanted)
        return;
    const char *key =
        wanted->key; /* keys are in the bytes as they are, with a zero byte after them */
    if (wanted->last || event->status != PMIX_SUCCESS || !*key ||
        (event->len && memmem(event->bytes, event->len, key, strlen(key) + 1))) {
        direct_modex_serve_tell(job, wanted, event);
        return;
    }
    wanted->end = pending_requests_clock() + wanted->patience;
    look(job, wanted);
}

static void take_looked(struct pmix_host *host, struct upcall *event)
{
    struct pmix_job *job = namespace_find(host, event->proc.nspace);
    struct wanted *wanted = direct_modex_serve_find(job, event);
    if (!wanted)
        return;
    wanted->last = event->status == PMIX_SUCCESS || pending_requests_clock() >= wanted->end;
    if (wanted->last)
        direct_modex_serve_fetch(job, wanted);
    else
        wanted->again = pending_requests_clock() + PAUSE;
}

/* ---- from outside ---- */

int direct_modex_serve(struct pmix_job *job, uint32_t from, const struct modex_message *message,
                       direct_modex_reply *reply, struct error *err)
{
    if (taskmap_node(job->map, message->rank) != job->node)
        return error_set(err, "PMIx namespace \"%s\": rank %" PRIu32 " is not on this node",
                         job->name, message->rank);
    const struct client *client = namespace_client(job, message->rank);
    struct wanted *wanted = mem_alloc(sizeof(*wanted));
    wanted->token = message->token;
    wanted->node = from;
    wanted->rank = message->rank;
    wanted->reply = reply;
    wanted->key = mem_copy_text(message->key);
    if (client && client->gone)
        wanted->give_up = pending_requests_clock() + ENDED;
    else
        wanted->patience = message->wait / 1e3;
    wanted->next = job->wanted;
    job->wanted = wanted;
    direct_modex_serve_fetch(job, wanted);
    return 0;
}

int direct_modex_serve_ordered(struct pmix_host *host, struct message_down *talk)
{
    struct modex_message message = {.kind = MODEX_MESSAGE_ASK, .token = pack_u64(&talk->rest)};
    struct process_name proc = message_proc(&talk->rest);
    message.rank = proc.rank;
    message.wait = pack_u32(&talk->rest);
    char *key = pack_get_text(&talk->rest);
    if (strlen(key) <= MODEX_MESSAGE_KEY_MAX)
        strcpy(message.key, key);
    free(key);
    int rc = pack_ends(&talk->rest) ? 0 : -1;
    struct pmix_job *job = namespace_find(host, proc.job);
    struct upcall nobody = {.status = PMIX_ERR_NOT_FOUND};
    free(proc.job);
    if (rc == 0 && (!job || direct_modex_serve(job, SERVICE, &message, NULL, NULL) < 0))
        tell_service(host, message.token, &nobody);
    return rc;
}

void direct_modex_serve_ended(struct pmix_job *job, uint32_t rank)
{
    for (struct wanted *wanted = job->wanted; wanted; wanted = wanted->next)
        if (wanted->rank == rank) {
            wanted->patience = wanted->end = 0;
            wanted->give_up = pending_requests_clock() + ENDED;
        }
}

void direct_modex_serve_look(struct pmix_host *host)
{
    static const struct upcall nothing = {.status = PMIX_ERR_NOT_FOUND};
    for (struct pmix_job *job = host->jobs; job; job = job->next) {
        double now = job->wanted ? pending_requests_clock() : 0;
        for (struct wanted *wanted = job->wanted, *next; wanted; wanted = next) {
            next = wanted->next;
            if (wanted->give_up && wanted->give_up <= now)
                direct_modex_serve_tell(job, wanted, &nothing);
            else if (wanted->again && wanted->again <= now)
                look(job, wanted);
        }
    }
}

double direct_modex_serve_end(const struct pmix_host *host)
{
    double soonest = 0;
    for (const struct pmix_job *job = host->jobs; job; job = job->next)
        for (const struct wanted *w = job->wanted; w; w = w->next) {
            double end = w->again ?: w->give_up;
            if (end && (!soonest || end < soonest))
                soonest = end;
        }
    return soonest;
}

void direct_modex_serve_free(struct pmix_job *job)
{
    while (job->wanted) {
        struct wanted *next = job->wanted->next;
        wanted_free(job->wanted);
        job->wanted = next;
    }
}
