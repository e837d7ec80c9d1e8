/*
 * Names: published, looked up and withdrawn. The program's service has them.
 */
#include "pmi-server/pmix/publish_lookup.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/context.h"
#include "pmi-server/pmix/info.h"
#include "pmi-server/pmix/publish_options.h"
#include "pmi-server/pmix/service_requests.h"
#include "pmi-server/pmix/tools_private.h"
#include "pmi-server/protocol/published_name.h"

/* ---- what the service answers ---- */

static void told(struct pmix_host *host, struct upcall *event, enum reply_status status,
                 struct pack *rest)
{
    (void)rest;
    if (caller_is_known(host, event->proc.nspace))
        event->done(service_status(status), event->cbdata);
}

struct found { /* until openpmix has taken it */
    const struct pmix_library *library;
    pmix_lookup_cbfunc_t done;
    void *cbdata;
    pmix_status_t status;
    pmix_pdata_t *data;
    uint32_t count;
};

static pmix_status_t read_found(struct found *found, struct pack *in)
{
    pmix_status_t status = PMIX_SUCCESS;
    uint32_t count = pack_count(in, 17);
    found->data = mem_array(count, sizeof(*found->data));
    for (; found->count < count && status == PMIX_SUCCESS; found->count++) {
        pmix_pdata_t *data = &found->data[found->count];
        char *key = pack_get_text(in);
        struct process_name proc = message_proc(in);
        strncpy(data->key, key, sizeof(data->key) - 1);
        strncpy(data->proc.nspace, proc.job, sizeof(data->proc.nspace) - 1);
        data->proc.rank = proc.rank;
        status = info_value_get(in, &data->value, found->library);
        free(key);
        free(proc.job);
    }
    return status == PMIX_SUCCESS && !pack_ends(in) ? PMIX_ERR_BAD_PARAM : status;
}

/* openpmix's thread. */
static void publish_lookup_deliver(pmix_status_t status, void *cbdata)
{
    struct found *found = cbdata;
    bool good = found->status == PMIX_SUCCESS;
    (void)status;
    found->done(found->status, good ? found->data : NULL, good ? found->count : 0, found->cbdata);
    for (uint32_t i = 0; i < found->count; i++)
        found->library->value_destruct(&found->data[i].value);
    free(found->data);
    free(found);
}

/* A success even where only some keys were found: openpmix would give the task nothing otherwise. */
static void lookup_found(struct pmix_host *host, struct upcall *event, enum reply_status status,
                         struct pack *rest)
{
    if (!caller_is_known(host, event->proc.nspace))
        return;
    struct found *found = mem_alloc(sizeof(*found));
    found->library = host->library;
    found->done = event->lookup_done;
    found->cbdata = event->cbdata;
    found->status = service_status(status);
    if (status == REPLY_OK)
        found->status = read_found(found, rest);
    library_in_progress_thread(host->library, publish_lookup_deliver, found);
}

/* ---- what it is asked ---- */

/* event->number is the kind of request. */
static void publish_lookup_ask(struct pmix_host *host, struct upcall *event)
{
    enum service_request kind = event->number;
    struct buf rest = BUF_INIT;
    buf_add(&rest, event->bytes, event->len);
    service_request(host, event, kind, &rest,
                    kind == REQUEST_LOOKUP      ? lookup_found
                    : kind == REQUEST_FINALIZED ? NULL
                                                : told);
    buf_free(&rest);
}

/* ---- what openpmix asks, in its own thread ---- */

/* Each info that is no option is a name to publish. */
static pmix_status_t publish_lookup_put_names(struct buf *out, const pmix_info_t info[],
                                              size_t ninfo)
{
    pmix_status_t status = PMIX_SUCCESS;
    uint32_t count = 0;
    for (size_t i = 0; i < ninfo; i++)
        count += !publish_is_option(&info[i]);
    pack_put_u32(out, count);
    for (size_t i = 0; i < ninfo && status == PMIX_SUCCESS; i++) {
        if (publish_is_option(&info[i]))
            continue;
        if (!*info[i].key)
            return PMIX_ERR_BAD_PARAM;
        pack_put_text(out, info[i].key);
        status = info_value_put(out, &info[i].value, pmix_library(NULL));
        if (status == PMIX_SUCCESS && out->len > SERVICE_NAMES_BYTES)
            status = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (status != PMIX_SUCCESS)
        return status;
    return !count                     ? PMIX_ERR_BAD_PARAM
           : count > SERVICE_KEYS_MAX ? PMIX_ERR_OUT_OF_RESOURCE
                                      : status;
}

static pmix_status_t publish_lookup_put_keys(struct buf *out, char *const *keys)
{
    uint32_t count = 0;
    while (keys && keys[count])
        count++;
    pack_put_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        if (strlen(keys[i]) > PMIX_MAX_KEYLEN)
            return PMIX_ERR_BAD_PARAM;
        pack_put_text(out, keys[i]);
    }
    return count > SERVICE_KEYS_MAX ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

static void publish_lookup_push(enum service_request kind, const pmix_proc_t *proc,
                                struct buf *bytes, double timeout, pmix_op_cbfunc_t done,
                                pmix_lookup_cbfunc_t lookup_done, void *cbdata)
{
    struct upcall *event = upcall_new(publish_lookup_ask, proc);
    event->number = kind;
    event->len = bytes->len;
    event->bytes = buf_take_text(bytes);
    event->timeout = timeout;
    event->done = done;
    event->lookup_done = lookup_done;
    event->cbdata = cbdata;
    upcall_queue_push(event);
}

static atomic_bool ends_matter; /* something is published, or waits, until its task ends */

pmix_status_t publish_upcall(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                             pmix_op_cbfunc_t done, void *cbdata)
{
    struct buf out = BUF_INIT;
    struct publish_options options = {0};
    pmix_status_t status = publish_options(&options, info, ninfo);
    pack_put_u8(&out, options.range);
    pack_put_u8(&out, options.until);
    if (status == PMIX_SUCCESS)
        status = publish_lookup_put_names(&out, info, ninfo);
    if (status == PMIX_SUCCESS && options.until == PERSIST_TASK)
        atomic_store(&ends_matter, true);
    if (status == PMIX_SUCCESS)
        publish_lookup_push(REQUEST_PUBLISH, proc, &out, options.timeout, done, NULL, cbdata);
    buf_free(&out);
    return status;
}

pmix_status_t lookup_upcall(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                            size_t ninfo, pmix_lookup_cbfunc_t done, void *cbdata)
{
    struct buf out = BUF_INIT;
    struct publish_options options = {.looks = true};
    pmix_status_t status = publish_options(&options, info, ninfo);
    pack_put_u8(&out, options.range);
    pack_put_u32(&out, !options.waits ? 0 : options.wanted ? options.wanted : UINT32_MAX);
    if (status == PMIX_SUCCESS)
        status = publish_lookup_put_keys(&out, keys);
    if (status == PMIX_SUCCESS && options.waits)
        atomic_store(&ends_matter, true);
    if (status == PMIX_SUCCESS)
        publish_lookup_push(REQUEST_LOOKUP, proc, &out, options.timeout, NULL, done, cbdata);
    buf_free(&out);
    return status;
}

pmix_status_t unpublish_upcall(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                               size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    struct buf out = BUF_INIT;
    struct publish_options options = {0};
    pmix_status_t status = publish_options(&options, info, ninfo);
    pack_put_u8(&out, options.ranged ? options.range : RANGE_NRANGES);
    if (status == PMIX_SUCCESS)
        status = publish_lookup_put_keys(&out, keys);
    if (status == PMIX_SUCCESS)
        publish_lookup_push(REQUEST_UNPUBLISH, proc, &out, options.timeout, done, NULL, cbdata);
    buf_free(&out);
    return status;
}

void publish_lookup_finalized(const pmix_proc_t *proc)
{
    if (!atomic_load(&ends_matter))
        return;
    struct upcall *event = upcall_new(publish_lookup_ask, proc);
    event->number = REQUEST_FINALIZED;
    upcall_queue_push(event);
}
