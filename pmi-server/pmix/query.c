/*
 * Queries: the service shows the program, and what was asked for is found in that.
 *
 * openpmix 4.2 to now: which task asks is not said.
 */
#include "pmi-server/pmix/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/context.h"
#include "pmi-server/pmix/query_keys.h"
#include "pmi-server/pmix/service_requests.h"

#define KEYS_MAX 256  /* in a request */
#define TEXT_MAX 4096 /* bytes of a name */
#define PATIENCE 30.0 /* s for nodes to say what they know of their tasks */

struct request { /* more of an event */
    struct query_key_asked *keys;
    size_t nkeys;
    pmix_info_cbfunc_t done;
};

/* ---- asked: openpmix's thread ---- */

static void query_request_free(void *more)
{
    struct request *request = more;
    for (size_t i = 0; i < request->nkeys; i++) {
        free(request->keys[i].key);
        free(request->keys[i].job);
        free(request->keys[i].pset);
        free(request->keys[i].host);
    }
    free(request->keys);
    free(request);
}

static const char *qualifier(const pmix_query_t *query, const char *key)
{
    for (size_t i = 0; i < query->nqual; i++) {
        const pmix_value_t *value = &query->qualifiers[i].value;
        if (!strcmp(query->qualifiers[i].key, key) && value->type == PMIX_STRING)
            return value->data.string ? value->data.string : "";
    }
    return "";
}

static const char *query_job_of(const pmix_query_t *query)
{
    for (size_t i = 0; i < query->nqual; i++) {
        const pmix_value_t *value = &query->qualifiers[i].value;
        if (!strcmp(query->qualifiers[i].key, PMIX_PROCID) && value->type == PMIX_PROC)
            return value->data.proc->nspace;
    }
    return qualifier(query, PMIX_NSPACE);
}

/* -1: too many, or a name that is too long. */
static int read_query(struct request *request, const pmix_query_t *query)
{
    if (strlen(query_job_of(query)) > PMIX_MAX_NSLEN ||
        strlen(qualifier(query, PMIX_PSET_NAME)) > TEXT_MAX ||
        strlen(qualifier(query, PMIX_HOSTNAME)) > TEXT_MAX)
        return -1;
    for (char **key = query->keys; key && *key; key++) {
        if (request->nkeys == KEYS_MAX)
            return -1;
        request->keys[request->nkeys++] =
            (struct query_key_asked){mem_copy_text(*key), mem_copy_text(query_job_of(query)),
                                     mem_copy_text(qualifier(query, PMIX_PSET_NAME)),
                                     mem_copy_text(qualifier(query, PMIX_HOSTNAME))};
    }
    return 0;
}

static void query_begin(struct pmix_host *host, struct upcall *event);

pmix_status_t query_upcall(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                           pmix_info_cbfunc_t done, void *cbdata)
{
    struct request *request = mem_alloc(sizeof(*request));
    int rc = 0;
    request->keys = mem_array(KEYS_MAX, sizeof(*request->keys));
    request->done = done;
    for (size_t i = 0; i < nqueries && rc == 0; i++)
        rc = read_query(request, &queries[i]);
    if (rc < 0 || !request->nkeys) {
        query_request_free(request);
        return PMIX_ERR_BAD_PARAM;
    }
    struct upcall *event = upcall_new(query_begin, proc);
    event->more = request;
    event->free_more = query_request_free;
    event->cbdata = cbdata;
    event->timeout = PATIENCE;
    upcall_queue_push(event);
    return PMIX_SUCCESS;
}

/* ---- answered ---- */

struct results { /* until openpmix has taken them */
    struct info_list infos;
    const struct pmix_library *library;
    pmix_info_cbfunc_t done;
    void *cbdata;
    pmix_status_t status;
};

static void results_free(void *arg)
{
    struct results *results = arg;
    info_free(&results->infos, results->library);
    free(results);
}

/* openpmix's thread, as with what is looked up (publish_lookup.c). */
static void query_deliver(pmix_status_t status, void *arg)
{
    struct results *results = arg;
    (void)status;
    results->done(results->status, results->infos.at, results->infos.count, results->cbdata,
                  results_free, results);
}

static void shown(struct pmix_host *host, struct upcall *event, enum reply_status status,
                  struct pack *rest)
{
    const struct request *request = event->more;
    struct program_info *view = status == REPLY_OK ? program_info_read(rest) : NULL;
    struct info_list infos = {0};
    pmix_status_t first = PMIX_SUCCESS; /* that is none */
    if (!view)
        first = status == REPLY_OK ? PMIX_ERROR : service_status(status);
    for (size_t i = 0; i < request->nkeys && view; i++) {
        pmix_status_t known = query_key_answer(&infos, &request->keys[i], view, host->hostname,
                                               host->library->version.major);
        if (first == PMIX_SUCCESS)
            first = known;
    }
    program_info_free(view);
    if (first != PMIX_SUCCESS && infos.count)
        first = PMIX_QUERY_PARTIAL_SUCCESS;
    struct results *results = mem_alloc(sizeof(*results));
    *results = (struct results){infos, host->library, request->done, event->cbdata, first};
    library_in_progress_thread(host->library, query_deliver, results);
}

/* ---- the service is asked ---- */

static void query_begin(struct pmix_host *host, struct upcall *event)
{
    const struct request *request = event->more;
    struct buf names = BUF_INIT, rest = BUF_INIT;
    uint32_t count = 0;
    for (size_t i = 0; i < request->nkeys; i++)
        if (query_key_wants_tasks(request->keys[i].key)) {
            pack_put_text(&names, request->keys[i].job);
            count++;
        }
    pack_put_u32(&rest, count);
    buf_add(&rest, buf_bytes(&names), names.len);
    service_request(host, event, REQUEST_QUERY, &rest, shown);
    buf_free(&rest);
    buf_free(&names);
}
