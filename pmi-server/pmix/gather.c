/*
 * Gatherings: what members of several jobs, or of a group, do together. openpmix calls once all of
 * this node are in; the hub answers once those of all nodes are.
 *
 * openpmix 4.2 to now: the library counts the time of a connect (to 5.0 also of a group) itself,
 * answers its tasks when it has passed, and lets go of what a host's answer would be for. The
 * host's has to be before that.
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

static int put_procs(struct buf *out, pmix_proc_t *procs, size_t nprocs)
{
    struct buf members = BUF_INIT;
    uint32_t njobs = 0;
    int rc = 0;
    qsort(procs, nprocs, sizeof(*procs), by_name);
    for (size_t i = 0; i < nprocs && rc == 0; njobs++)
        rc = put_ranks(&members, procs, nprocs, &i);
    packet_put_u32(out, njobs);
    buf_add(out, buf_bytes(&members), members.len);
    buf_free(&members);
    return rc;
}

static int put_members(struct buf *out, const struct event *event)
{
    const struct gather *gather = event->more;
    if (gather->operation != GATHER_GROUP)
        return event->nprocs ? put_procs(out, event->procs, event->nprocs) : -1;
    if (put_procs(out, event->procs, event->nprocs) < 0)
        return -1;
    packet_put_u32(out, gather->leaders);
    return put_procs(out, gather->added, gather->nadded);
}

static void add_proc(struct event *event, const char *name, uint32_t rank)
{
    event->procs = mem_resize(event->procs, event->nprocs + 1, sizeof(*event->procs));
    pmix_proc_t *proc = &event->procs[event->nprocs++];
    *proc = (pmix_proc_t){.rank = rank};
    strncpy(proc->nspace, name, sizeof(proc->nspace) - 1);
}

/* All members of a group, in the place of those that this host knew. */
static void read_members(struct event *event, struct packet *in)
{
    event->nprocs = 0;
    for (uint32_t count = packet_count(in, 8); count && !in->bad; count--) {
        char *name = packet_text(in), *text = packet_text(in);
        struct idset *ranks = idset_decode(text, NULL);
        if (!ranks)
            in->bad = true;
        else if (idset_empty(ranks))
            add_proc(event, name, PMIX_RANK_WILDCARD);
        else
            IDSET_FOREACH(rank, ranks)
        add_proc(event, name, rank);
        idset_free(ranks);
        free(text);
        free(name);
    }
}

/* ---- groups ---- */

/* openpmix 6.0 to now: one answer is for all of this node that construct the group, leaders and
 * followers, and what the others' answers would be for is freed with it. false: this is another. */
static bool is_first(struct pmix_host *host, struct gather *gather)
{
    bool first = !gather->told;
    for (struct gather **at = &host->groups, *group; first && (group = *at);) {
        if (strcmp(group->key, gather->key) != 0) {
            at = &group->next;
            continue;
        }
        *at = group->next;
        group->told = true;
    }
    return first;
}

static void group_known(struct pmix_host *host, struct event *event)
{
    const struct gather *gather = event->more;
    gather->over(host, event, event->token, event->bytes, event->len);
}

/* Tasks are told of namespaces of which they may not have known. */
static void group_gathered(struct pmix_host *host, struct event *event, uint64_t number,
                           const void *bytes, size_t len)
{
    free(event->bytes);
    event->bytes = len ? memcpy(mem_resize(NULL, len, 1), bytes, len) : NULL;
    event->len = len;
    event->token = number;
    foreign_need(host, event, group_known);
}

/* ---- asked ---- */

static void over(struct pmix_host *host, struct event *event, pmix_status_t status)
{
    struct gather *gather = event->more;
    event->status = status;
    if (gather->operation != GATHER_GROUP || is_first(host, gather))
        gather->over(host, event, 0, NULL, 0);
}

static void gathered(struct pmix_host *host, struct event *event, enum hub_status status,
                     struct packet *rest)
{
    struct gather *gather = event->more;
    bool group = gather->operation == GATHER_GROUP;
    size_t len = 0;
    if (status != HUB_OK) {
        over(host, event, question_status(status));
        return;
    }
    uint64_t number = packet_u64(rest);
    const void *bytes = packet_bytes(rest, &len);
    if (group)
        read_members(event, rest);
    if (!packet_ends(rest))
        over(host, event, PMIX_ERR_BAD_PARAM);
    else if (!group)
        gather->over(host, event, number, bytes, len);
    else if (is_first(host, gather))
        group_gathered(host, event, number, bytes, len);
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
    bool group = gather->operation == GATHER_GROUP;
    if (gather->cancels) /* openpmix answers who is here */
        is_first(host, gather);
    if (group) {
        gather->told = false;
        gather->next = host->groups;
        host->groups = gather;
    }
    if (event->len > HUB_BYTES_MAX)
        over(host, event, PMIX_ERR_OUT_OF_RESOURCE);
    else if (ends || group) /* the hub knows who is in a group */
        ask(host, event);
    else
        foreign_need(host, event, known);
}

/* ---- openpmix's thread ---- */

static void gather_free(void *more)
{
    struct gather *gather = more;
    free(gather->key);
    free(gather->added);
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
    copy->broken = gather->cancels || is_broken(info, ninfo);
    event->more = copy;
    event->free_more = gather_free;
    event->timeout = timeout > BEFORE ? timeout - BEFORE : 0;
    if (event->timeout > 0) /* openpmix counts from now */
        copy->end = host_clock() + event->timeout;
    event->procs = mem_array(nprocs, sizeof(*procs));
    if (nprocs)
        memcpy(event->procs, procs, nprocs * sizeof(*procs));
    event->nprocs = nprocs;
    return event;
}
