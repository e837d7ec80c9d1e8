/*
 * Gatherings: what members of several jobs, or of a group, do together. openpmix calls once all of
 * this node are in; the hub answers once those of all nodes are.
 *
 * openpmix 4.2 counts the time of a connect and of a group itself, answers its tasks when it has
 * passed, and lets go of what a host's answer would be for: the host's has to be before that.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/pmix/infos.h"
#include "pmi-server/pmix/inside.h"

#define BEFORE 0.5 /* s */

/* ---- who takes part ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const pmix_proc_t *)a)->nspace, ((const pmix_proc_t *)b)->nspace);
}

/* Those from `at` on that are of one namespace; -1: one is no rank. */
static int put_ranks(struct buf *out, const pmix_proc_t *procs, size_t nprocs, size_t *at)
{
    const char *name = procs[*at].nspace;
    struct idset *ranks = idset_new();
    bool all = false;
    int rc = 0;
    for (; *at < nprocs && !strcmp(procs[*at].nspace, name); ++*at) {
        uint32_t rank = procs[*at].rank;
        if (rank == PMIX_RANK_WILDCARD)
            all = true;
        else if (rank <= IDSET_MAX)
            idset_add(ranks, rank);
        else
            rc = -1;
    }
    char *text = all ? NULL : idset_encode(ranks);
    packet_put_text(out, name);
    packet_put_text(out, text);
    free(text);
    idset_free(ranks);
    return rc;
}

static int put_members(struct buf *out, const struct event *event)
{
    struct buf members = BUF_INIT;
    uint32_t njobs = 0;
    int rc = event->nprocs ? 0 : -1;
    qsort(event->procs, event->nprocs, sizeof(*event->procs), by_name);
    for (size_t i = 0; i < event->nprocs && rc == 0; njobs++)
        rc = put_ranks(&members, event->procs, event->nprocs, &i);
    packet_put_u32(out, njobs);
    buf_add(out, buf_bytes(&members), members.len);
    buf_free(&members);
    return rc;
}

/* ---- asked ---- */

static void over(struct pmix_host *host, struct event *event, pmix_status_t status)
{
    const struct gather *gather = event->more;
    event->status = status;
    gather->over(host, event, 0, NULL, 0);
}

static void gathered(struct pmix_host *host, struct event *event, enum hub_status status,
                     struct packet *rest)
{
    const struct gather *gather = event->more;
    size_t len = 0;
    uint64_t number = status == HUB_OK ? packet_u64(rest) : 0;
    const void *bytes = status == HUB_OK ? packet_bytes(rest, &len) : NULL;
    event->status = question_status(status);
    if (status == HUB_OK && !packet_ends(rest))
        event->status = PMIX_ERR_BAD_PARAM;
    gather->over(host, event, number, bytes, event->status == PMIX_SUCCESS ? len : 0);
}

static void ask(struct pmix_host *host, struct event *event)
{
    const struct gather *gather = event->more;
    struct buf rest = BUF_INIT;
    packet_put_u8(&rest, gather->operation);
    packet_put_u8(&rest, gather->broken);
    packet_put_text(&rest, gather->key);
    packet_put_bytes(&rest, event->bytes, event->len);
    if (gather->end)
        event->timeout = gather->end > host_clock() ? gather->end - host_clock() : 1e-3;
    if (put_members(&rest, event) < 0)
        over(host, event, PMIX_ERR_BAD_PARAM);
    else
        question_ask(host, event, HUB_GATHER, &rest, gathered);
    buf_free(&rest);
}

static void known(struct pmix_host *host, struct event *event)
{
    if (event->status == PMIX_SUCCESS)
        ask(host, event);
    else
        over(host, event, event->status);
}

void gather_enter(struct pmix_host *host, struct event *event)
{
    struct gather *gather = event->more;
    bool ends = gather->operation == GATHER_DISCONNECT || gather->operation == GATHER_DESTRUCT;
    if (event->len > HUB_BYTES_MAX)
        over(host, event, PMIX_ERR_OUT_OF_RESOURCE);
    else if (ends)
        ask(host, event);
    else
        foreign_need(host, event, known);
}

/* ---- openpmix's thread ---- */

static void gather_free(void *more)
{
    struct gather *gather = more;
    free(gather->key);
    free(gather);
}

static bool is_broken(const pmix_info_t info[], size_t ninfo)
{
    const pmix_value_t *status = infos_find(info, ninfo, PMIX_LOCAL_COLLECTIVE_STATUS);
    return status && status->type == PMIX_STATUS && status->data.status != PMIX_SUCCESS;
}

struct event *gather_event(const struct gather *gather, const pmix_proc_t procs[], size_t nprocs,
                           const pmix_info_t info[], size_t ninfo)
{
    struct event *event =
        event_new(gather_enter, NULL); /* in nobody's name: none of them may leave */
    struct gather *copy = mem_alloc(sizeof(*copy));
    double timeout = infos_timeout(info, ninfo);
    *copy = *gather;
    copy->key = mem_copy_text(gather->key);
    copy->broken = is_broken(info, ninfo);
    event->more = copy;
    event->free_more = gather_free;
    event->timeout = timeout > BEFORE ? timeout - BEFORE : 0;
    if (event->timeout > 0) /* openpmix counts from now */
        copy->end = host_clock() + event->timeout;
    event->procs = mem_array(nprocs, sizeof(*procs));
    memcpy(event->procs, procs, nprocs * sizeof(*procs));
    event->nprocs = nprocs;
    return event;
}
