/*
 * Gatherings: every host that has members asks the same, and all of them get what all have said.
 *
 * Those of one signature follow each other: what a host asks goes to the first that it has no part
 * in yet.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/hub/inside.h"

struct member { /* ranks of a job */
    struct job *job;
    struct idset *ranks;
};

struct gathering {
    struct gathering *next;
    uint64_t number;
    enum hub_gathering operation;
    char *key;
    struct member *members; /* by name of their job */
    uint32_t nmembers;
    struct idset *nodes, *here; /* that have members, and have asked */
    struct asked *asked;
    size_t nasked;
    struct buf bytes;
};

static void gathering_free(struct gathering *gathering)
{
    for (uint32_t i = 0; i < gathering->nmembers; i++)
        idset_free(gathering->members[i].ranks);
    free(gathering->members);
    free(gathering->key);
    free(gathering->asked);
    idset_free(gathering->nodes);
    idset_free(gathering->here);
    buf_free(&gathering->bytes);
    free(gathering);
}

/* ---- what is asked ---- */

static enum hub_status member_check(struct member *member)
{
    const struct job *job = member->job;
    if (!job || idset_last(member->ranks) >= job->map->ntasks)
        return HUB_NOT_FOUND;
    return idset_count_both(member->ranks, job->ended) ? HUB_GONE : HUB_OK;
}

/* NULL: malformed. "": all. */
static struct idset *ranks_read(struct packet *in, const struct job *job)
{
    char *text = packet_text(in);
    struct idset *ranks = idset_decode(text, NULL);
    if (ranks && idset_empty(ranks))
        idset_add_range(ranks, 0, job && job->map->ntasks ? (uint32_t)job->map->ntasks - 1 : 0);
    free(text);
    return ranks;
}

static enum hub_status member_read(struct hub *hub, struct packet *in, struct member *member,
                                   char **before)
{
    char *name = packet_text(in);
    if (*before && strcmp(*before, name) >= 0)
        in->bad = true;
    free(*before);
    *before = name;
    member->job = hub_job(hub, name);
    member->ranks = ranks_read(in, member->job);
    if (!member->ranks)
        in->bad = true;
    return in->bad ? HUB_BAD : member_check(member);
}

static enum hub_status members_read(struct hub *hub, struct packet *in, struct gathering *gathering)
{
    enum hub_status first = HUB_OK;
    char *before = NULL;
    uint32_t count = packet_count(in, 8);
    gathering->members = mem_array(count, sizeof(*gathering->members));
    if (!count)
        in->bad = true;
    while (gathering->nmembers < count && !in->bad) {
        struct member *member = &gathering->members[gathering->nmembers++];
        enum hub_status status = member_read(hub, in, member, &before);
        if (first == HUB_OK)
            first = status;
    }
    free(before);
    return first;
}

static void find_nodes(struct gathering *gathering)
{
    for (uint32_t i = 0; i < gathering->nmembers; i++) {
        const struct member *member = &gathering->members[i];
        const struct job *job = member->job;
        bool all = idset_count(member->ranks) == job->map->ntasks;
        for (uint32_t node = 0; all && node < job->map->nnodes; node++)
            idset_add(gathering->nodes, job->node[node]);
        if (all)
            continue;
        IDSET_FOREACH(rank, member->ranks)
        idset_add(gathering->nodes, hub_node(job, rank));
    }
}

/* ---- the end of one ---- */

static void unlink_one(struct hub *hub, const struct gathering *gathering)
{
    struct gathering **at = &hub->gatherings;
    while (*at && *at != gathering)
        at = &(*at)->next;
    if (*at)
        *at = gathering->next;
}

static void end(struct hub *hub, struct gathering *gathering, enum hub_status status)
{
    struct buf rest = BUF_INIT;
    unlink_one(hub, gathering);
    if (status == HUB_OK) {
        packet_put_u64(&rest, gathering->number);
        packet_put_bytes(&rest, buf_bytes(&gathering->bytes), gathering->bytes.len);
    }
    for (size_t i = 0; i < gathering->nasked; i++)
        hub_answer(hub, &gathering->asked[i], status, &rest);
    buf_free(&rest);
    gathering_free(gathering);
}

/* ---- one more takes part ---- */

static bool same(const struct gathering *a, const struct gathering *b)
{
    if (a->operation != b->operation || a->nmembers != b->nmembers || strcmp(a->key, b->key) != 0)
        return false;
    for (uint32_t i = 0; i < a->nmembers; i++)
        if (a->members[i].job != b->members[i].job ||
            !idset_equal(a->members[i].ranks, b->members[i].ranks))
            return false;
    return true;
}

/* Where this host's question belongs: one that waits, or `fresh`. */
static struct gathering *place(struct hub *hub, uint32_t node, struct gathering *fresh)
{
    struct gathering **at = &hub->gatherings;
    for (; *at; at = &(*at)->next)
        if (same(*at, fresh) && !idset_has((*at)->here, node)) {
            gathering_free(fresh);
            return *at;
        }
    fresh->number = ++hub->gathered;
    return *at = fresh;
}

static enum hub_status may_enter(const struct hub *hub, uint32_t node,
                                 const struct gathering *gathering)
{
    size_t count = 0;
    if (!idset_has(gathering->nodes, node))
        return HUB_BAD;
    for (const struct gathering *g = hub->gatherings; g; g = g->next)
        count += idset_has(g->here, node);
    return count < HUB_GATHERS_MAX ? HUB_OK : HUB_FULL;
}

/* Of a connect, and a disconnect: all are in. */
static void settle(struct hub *hub, const struct gathering *gathering)
{
    for (uint32_t i = 0; i < gathering->nmembers; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct job *one = gathering->members[i].job, *other = gathering->members[j].job;
            if (gathering->operation == GATHER_CONNECT)
                bonds_tie(hub, one, other);
            else if (gathering->operation == GATHER_DISCONNECT)
                bonds_untie(hub, one, other);
        }
}

static void enter(struct hub *hub, struct gathering *gathering, const struct asked *asked,
                  bool broken, const void *bytes, size_t len)
{
    bool full = len > HUB_BYTES_MAX - gathering->bytes.len;
    idset_add(gathering->here, asked->node);
    gathering->asked =
        mem_resize(gathering->asked, gathering->nasked + 1, sizeof(*gathering->asked));
    gathering->asked[gathering->nasked++] = *asked;
    buf_add(&gathering->bytes, bytes, full ? 0 : len);
    bool over = gathering->nasked == idset_count(gathering->nodes);
    if (over && !full && !broken)
        settle(hub, gathering);
    if (full || broken)
        end(hub, gathering, full ? HUB_FULL : HUB_GONE);
    else if (over)
        end(hub, gathering, HUB_OK);
}

static struct gathering *gathering_new(enum hub_gathering operation, char *key)
{
    struct gathering *gathering = mem_alloc(sizeof(*gathering));
    gathering->operation = operation;
    gathering->key = key;
    gathering->nodes = idset_new();
    gathering->here = idset_new();
    return gathering;
}

int hub_gather(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct packet *in = &talk->rest;
    size_t len;
    uint8_t operation = packet_u8(in), broken = packet_u8(in);
    struct gathering *fresh = gathering_new(operation, packet_text(in));
    const void *bytes = packet_bytes(in, &len);
    enum hub_status status = members_read(hub, in, fresh);
    bool bad = !packet_ends(in) || operation >= GATHER_NKINDS || broken > 1 || !asked->token;
    if (!bad && status == HUB_OK) {
        find_nodes(fresh);
        status = may_enter(hub, asked->node, fresh);
    }
    if (!bad && status == HUB_OK) {
        enter(hub, place(hub, asked->node, fresh), asked, broken, bytes, len);
        return 0;
    }
    gathering_free(fresh);
    if (!bad)
        hub_answer(hub, asked, status, NULL);
    return bad ? -1 : 0;
}

/* ---- who does not take part any more ---- */

static bool leave(struct gathering *gathering, const struct asked *asked)
{
    for (size_t i = 0; i < gathering->nasked; i++)
        if (gathering->asked[i].node == asked->node && gathering->asked[i].token == asked->token) {
            gathering->asked[i] = gathering->asked[--gathering->nasked];
            return true;
        }
    return false;
}

void hub_gather_forget(struct hub *hub, const struct asked *asked)
{
    struct gathering *gathering = hub->gatherings;
    while (gathering && !leave(gathering, asked))
        gathering = gathering->next;
    if (gathering)
        end(hub, gathering, HUB_TIMEOUT);
}

static const struct member *member_of(const struct gathering *gathering, const struct job *job)
{
    for (uint32_t i = 0; i < gathering->nmembers; i++)
        if (gathering->members[i].job == job)
            return &gathering->members[i];
    return NULL;
}

/* One that waits for this rank; UINT32_MAX: for any of the job. */
static struct gathering *find_waiting(const struct hub *hub, const struct job *job, uint32_t rank)
{
    for (struct gathering *gathering = hub->gatherings; gathering; gathering = gathering->next) {
        const struct member *member = member_of(gathering, job);
        if (member && (rank == UINT32_MAX || (idset_has(member->ranks, rank) &&
                                              !idset_has(gathering->here, hub_node(job, rank)))))
            return gathering;
    }
    return NULL;
}

static void end_waiting(struct hub *hub, const struct job *job, uint32_t rank)
{
    struct gathering *gathering;
    while ((gathering = find_waiting(hub, job, rank)))
        end(hub, gathering, HUB_GONE);
}

void hub_gather_ended(struct hub *hub, const struct job *job, uint32_t rank)
{
    end_waiting(hub, job, rank);
}

void hub_gather_removed(struct hub *hub, const struct job *job)
{
    end_waiting(hub, job, UINT32_MAX);
}

void hub_gather_free(struct hub *hub)
{
    while (hub->gatherings) {
        struct gathering *next = hub->gatherings->next;
        gathering_free(hub->gatherings);
        hub->gatherings = next;
    }
}
