/*
 * Names: published, looked up and withdrawn. The program's hub has them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/info.h"
#include "pmi-server/pmix/internal.h"
#include "pmi-server/pmix/publish_options.h"
#include "pmi-server/protocol/published_name.h"

/* ---- what the hub is asked ---- */

static void told(struct pmix_host *host, struct event *event, enum hub_status status,
                 struct packet *rest)
{
    (void)rest;
    if (host_knows(host, event->proc.nspace))
        event->done(question_status(status), event->cbdata);
}

static void ask(struct pmix_host *host, struct event *event, enum hub_kind kind,
                question_answered *answered)
{
    struct buf rest = BUF_INIT;
    buf_add(&rest, event->bytes, event->len);
    question_ask(host, event, kind, &rest, answered);
    buf_free(&rest);
}

static void publish(struct pmix_host *host, struct event *event)
{
    ask(host, event, HUB_PUBLISH, told);
}

static void unpublish(struct pmix_host *host, struct event *event)
{
    ask(host, event, HUB_UNPUBLISH, told);
}

static void left(struct pmix_host *host, struct event *event)
{
    ask(host, event, HUB_FINALIZED, NULL);
}

/* ---- what was found ---- */

struct found {
    const struct pmix_library *library;
    pmix_lookup_cbfunc_t done;
    void *cbdata;
    pmix_status_t status;
    pmix_pdata_t *data;
    uint32_t count;
};

static pmix_status_t read_found(struct found *found, struct packet *in)
{
    pmix_status_t status = PMIX_SUCCESS;
    uint32_t count = packet_count(in, 17);
    found->data = mem_array(count, sizeof(*found->data));
    for (; found->count < count && status == PMIX_SUCCESS; found->count++) {
        pmix_pdata_t *data = &found->data[found->count];
        char *key = packet_text(in);
        struct hub_proc proc = talk_proc(in);
        strncpy(data->key, key, sizeof(data->key) - 1);
        strncpy(data->proc.nspace, proc.job, sizeof(data->proc.nspace) - 1);
        data->proc.rank = proc.rank;
        status = value_get(in, &data->value, found->library);
        free(key);
        free(proc.job);
    }
    return status == PMIX_SUCCESS && !packet_ends(in) ? PMIX_ERR_BAD_PARAM : status;
}

/* openpmix's thread. */
static void deliver(pmix_status_t status, void *cbdata)
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

/* Where only some were found it is a success, or else openpmix would give the task nothing at all. */
static void lookup_found(struct pmix_host *host, struct event *event, enum hub_status status,
                         struct packet *rest)
{
    if (!host_knows(host, event->proc.nspace))
        return;
    struct found *found = mem_alloc(sizeof(*found));
    found->library = host->library;
    found->done = event->lookup_done;
    found->cbdata = event->cbdata;
    found->status = question_status(status);
    if (status == HUB_OK)
        found->status = read_found(found, rest);
    host_come_by(host, deliver, found);
}

static void lookup(struct pmix_host *host, struct event *event)
{
    ask(host, event, HUB_LOOKUP, lookup_found);
}

/* ---- what openpmix asks, in its own thread ---- */

/* All that is no option is published. */
static pmix_status_t put_names(struct buf *out, const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t status = PMIX_SUCCESS;
    uint32_t count = 0;
    for (size_t i = 0; i < ninfo; i++)
        count += !names_is_option(&info[i]);
    packet_put_u32(out, count);
    for (size_t i = 0; i < ninfo && status == PMIX_SUCCESS; i++) {
        if (names_is_option(&info[i]))
            continue;
        if (!*info[i].key)
            return PMIX_ERR_BAD_PARAM;
        packet_put_text(out, info[i].key);
        status = value_put(out, &info[i].value, pmix_library(NULL));
        if (status == PMIX_SUCCESS && out->len > HUB_NAMES_BYTES)
            status = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (status != PMIX_SUCCESS)
        return status;
    return !count ? PMIX_ERR_BAD_PARAM : count > HUB_KEYS_MAX ? PMIX_ERR_OUT_OF_RESOURCE : status;
}

static pmix_status_t put_keys(struct buf *out, char *const *keys)
{
    uint32_t count = 0;
    while (keys && keys[count])
        count++;
    packet_put_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        if (strlen(keys[i]) > PMIX_MAX_KEYLEN)
            return PMIX_ERR_BAD_PARAM;
        packet_put_text(out, keys[i]);
    }
    return count > HUB_KEYS_MAX ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

static void push(void (*run)(struct pmix_host *, struct event *), const pmix_proc_t *proc,
                 struct buf *bytes, double timeout, pmix_op_cbfunc_t done,
                 pmix_lookup_cbfunc_t lookup_done, void *cbdata)
{
    struct event *event = event_new(run, proc);
    event->len = bytes->len;
    event->bytes = buf_take_text(bytes);
    event->timeout = timeout;
    event->done = done;
    event->lookup_done = lookup_done;
    event->cbdata = cbdata;
    queue_push(event);
}

static atomic_bool ends_matter; /* something is published, or waits, until its task ends */

pmix_status_t names_publish_upcall(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                   pmix_op_cbfunc_t done, void *cbdata)
{
    struct buf out = BUF_INIT;
    struct names_options options = {0};
    pmix_status_t status = names_options(&options, info, ninfo);
    packet_put_u8(&out, options.range);
    packet_put_u8(&out, options.until);
    if (status == PMIX_SUCCESS)
        status = put_names(&out, info, ninfo);
    if (status == PMIX_SUCCESS && options.until == HUB_UNTIL_TASK)
        atomic_store(&ends_matter, true);
    if (status == PMIX_SUCCESS)
        push(publish, proc, &out, options.timeout, done, NULL, cbdata);
    buf_free(&out);
    return status;
}

pmix_status_t names_lookup_upcall(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                  size_t ninfo, pmix_lookup_cbfunc_t done, void *cbdata)
{
    struct buf out = BUF_INIT;
    struct names_options options = {.looks = true};
    pmix_status_t status = names_options(&options, info, ninfo);
    packet_put_u8(&out, options.range);
    packet_put_u32(&out, !options.waits ? 0 : options.wanted ? options.wanted : UINT32_MAX);
    if (status == PMIX_SUCCESS)
        status = put_keys(&out, keys);
    if (status == PMIX_SUCCESS && options.waits)
        atomic_store(&ends_matter, true);
    if (status == PMIX_SUCCESS)
        push(lookup, proc, &out, options.timeout, NULL, done, cbdata);
    buf_free(&out);
    return status;
}

pmix_status_t names_unpublish_upcall(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                     size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    struct buf out = BUF_INIT;
    struct names_options options = {0};
    pmix_status_t status = names_options(&options, info, ninfo);
    packet_put_u8(&out, options.ranged ? options.range : HUB_NRANGES);
    if (status == PMIX_SUCCESS)
        status = put_keys(&out, keys);
    if (status == PMIX_SUCCESS)
        push(unpublish, proc, &out, options.timeout, done, NULL, cbdata);
    buf_free(&out);
    return status;
}

void names_finalized_upcall(const pmix_proc_t *proc)
{
    if (atomic_load(&ends_matter))
        queue_push(event_new(left, proc));
}
