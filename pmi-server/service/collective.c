/*
 * Gatherings: every host that has members asks the same, and all of them get what all have said.
 *
 * Those of one signature follow each other: what a host asks goes to the first that it has no part
 * in yet.
 *
 * GATHER_GROUP is different, as not everybody knows all members. Its signature is the key. Leaders
 * begin it: those that are listed, of which a host asks once for all that it has, or any that are so
 * many as they say, each on its own. They may add members, who follow: they ask each on its own,
 * know the key alone, and may be the first. All of them are answered once all leaders and as many
 * followers as were added have asked. Who a follower is openpmix does not tell.
 *
 * Of GATHER_DESTRUCT members may not wait for the answer (pmix/group.c), and their job be over before
 * others ask: where all of its nodes have asked, it is a member as it was.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/service/internal.h"

struct member { /* ranks of a job */
    struct job *job;
    struct idset *ranks;
    bool all; /* it was said so, without listing them */
};

struct members { /* by name of their job */
    struct member *at;
    uint32_t count;
};

struct gathering {
    struct gathering *next;
    uint64_t number;
    enum hub_gathering operation;
    char *key;
    struct members members;
    struct idset *nodes, *here; /* that have members, and have asked */
    struct members added;       /* of GATHER_GROUP, by leaders */
    uint32_t leaders;           /* each asks on its own; 0: they are listed, as members */
    uint32_t nleaders;          /* of these, that have asked */
    uint64_t nfollowers;        /* that have asked */
    struct asked *asked;
    size_t nasked;
    struct buf bytes;
};

static void members_free(struct members *members)
{
    for (uint32_t i = 0; i < members->count; i++)
        idset_free(members->at[i].ranks);
    free(members->at);
}

static void gathering_free(struct gathering *gathering)
{
    members_free(&gathering->members);
    members_free(&gathering->added);
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
static struct idset *ranks_read(struct packet *in, const struct job *job, bool *all)
{
    char *text = packet_text(in);
    struct idset *ranks = idset_decode(text, NULL);
    *all = ranks && idset_empty(ranks);
    if (*all)
        idset_add_range(ranks, 0, job && job->map->ntasks ? (uint32_t)job->map->ntasks - 1 : 0);
    free(text);
    return ranks;
}

static enum hub_status member_read(struct hub *hub, struct packet *in, bool late,
                                   struct member *member, char **before)
{
    char *name = packet_text(in);
    if (*before && strcmp(*before, name) >= 0)
        in->bad = true;
    free(*before);
    *before = name;
    member->job = hub_job(hub, name);
    if (!member->job && late)
        member->job = hub_late_job(hub, name);
    member->ranks = ranks_read(in, member->job, &member->all);
    if (!member->ranks)
        in->bad = true;
    return in->bad ? HUB_BAD : member_check(member);
}

/* `late`: also of jobs that are. */
static enum hub_status members_read(struct hub *hub, struct packet *in, bool late,
                                    struct members *members)
{
    enum hub_status first = HUB_OK;
    char *before = NULL;
    uint32_t count = packet_count(in, 8);
    members->at = mem_array(count, sizeof(*members->at));
    while (members->count < count && !in->bad) {
        struct member *member = &members->at[members->count++];
        enum hub_status status = member_read(hub, in, late, member, &before);
        if (first == HUB_OK)
            first = status;
    }
    free(before);
    return first;
}

static void find_nodes(struct gathering *gathering)
{
    for (uint32_t i = 0; i < gathering->members.count; i++) {
        const struct member *member = &gathering->members.at[i];
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

static void put_members(struct buf *out, const struct members *members)
{
    packet_put_u32(out, members->count);
    for (uint32_t i = 0; i < members->count; i++) {
        char *ranks = members->at[i].all ? NULL : idset_encode(members->at[i].ranks);
        packet_put_text(out, members->at[i].job->name);
        packet_put_text(out, ranks);
        free(ranks);
    }
}

/* One answer tells a host all; openpmix answers all of a group that are there. */
static void end(struct hub *hub, struct gathering *gathering, enum hub_status status)
{
    struct buf rest = BUF_INIT, again = BUF_INIT;
    struct idset *told = idset_new();
    unlink_one(hub, gathering);
    if (status == HUB_OK) {
        packet_put_u64(&rest, gathering->number);
        packet_put_u64(&again, gathering->number);
        packet_put_bytes(&rest, buf_bytes(&gathering->bytes), gathering->bytes.len);
        packet_put_bytes(&again, "", 0);
    }
    if (status == HUB_OK && gathering->operation == GATHER_GROUP) {
        put_members(&rest, &gathering->members);
        packet_put_u32(&again, 0);
    }
    for (size_t i = 0; i < gathering->nasked; i++) {
        const struct asked *asked = &gathering->asked[i];
        hub_answer(hub, asked, status, idset_has(told, asked->node) ? &again : &rest);
        idset_add(told, asked->node);
    }
    idset_free(told);
    buf_free(&again);
    buf_free(&rest);
    gathering_free(gathering);
    hub_settle_late(hub);
}

/* ---- one more takes part ---- */

static bool same_members(const struct members *a, const struct members *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->at[i].job != b->at[i].job || !idset_equal(a->at[i].ranks, b->at[i].ranks))
            return false;
    return true;
}

static bool same(const struct gathering *a, const struct gathering *b)
{
    return a->operation == b->operation && !strcmp(a->key, b->key) &&
           same_members(&a->members, &b->members);
}

/* Where this host's question belongs: one that waits, or the end. */
static struct gathering **find_place(struct hub *hub, uint32_t node, const struct gathering *fresh)
{
    struct gathering **at = &hub->gatherings;
    while (*at && (!same(*at, fresh) || idset_has((*at)->here, node)))
        at = &(*at)->next;
    return at;
}

/* `fresh` is taken. */
static struct gathering *place(struct hub *hub, uint32_t node, struct gathering *fresh)
{
    struct gathering **at = find_place(hub, node, fresh);
    if (*at) {
        gathering_free(fresh);
        return *at;
    }
    fresh->number = ++hub->gathered;
    return *at = fresh;
}

/* What the host waits for: of a group it may have asked more than once. */
static size_t count_asked(const struct gathering *gathering, uint32_t node)
{
    size_t count = 0;
    if (gathering->operation != GATHER_GROUP)
        return idset_has(gathering->here, node);
    for (size_t i = 0; i < gathering->nasked; i++)
        count += gathering->asked[i].node == node;
    return count;
}

static bool names_late(const struct hub *hub, const struct gathering *gathering)
{
    for (uint32_t i = 0; i < gathering->members.count; i++)
        if (!hub_job(hub, gathering->members.at[i].job->name))
            return true;
    return false;
}

static enum hub_status may_enter(struct hub *hub, uint32_t node, const struct gathering *gathering)
{
    size_t count = 0;
    if (gathering->members.count && !idset_has(gathering->nodes, node))
        return HUB_BAD;
    if (names_late(hub, gathering) && !*find_place(hub, node, gathering))
        return HUB_NOT_FOUND; /* nobody of that job will come */
    for (const struct gathering *g = hub->gatherings; g; g = g->next)
        count += count_asked(g, node);
    return count < HUB_GATHERS_MAX ? HUB_OK : HUB_FULL;
}

/* Of a connect, and a disconnect: all are in. */
static void settle(struct hub *hub, const struct gathering *gathering)
{
    const struct members *members = &gathering->members;
    for (uint32_t i = 0; i < members->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct job *one = members->at[i].job, *other = members->at[j].job;
            if (gathering->operation == GATHER_CONNECT)
                bonds_tie(hub, one, other);
            else if (gathering->operation == GATHER_DISCONNECT)
                bonds_untie(hub, one, other);
        }
}

/* false: that is too much. */
static bool add_asked(struct gathering *gathering, const struct asked *asked, const void *bytes,
                      size_t len)
{
    bool full = len > HUB_BYTES_MAX - gathering->bytes.len;
    gathering->asked =
        mem_resize(gathering->asked, gathering->nasked + 1, sizeof(*gathering->asked));
    gathering->asked[gathering->nasked++] = *asked;
    buf_add(&gathering->bytes, bytes, full ? 0 : len);
    return !full;
}

static void enter(struct hub *hub, struct gathering *gathering, const struct asked *asked,
                  bool broken, const void *bytes, size_t len)
{
    bool full = !add_asked(gathering, asked, bytes, len);
    idset_add(gathering->here, asked->node);
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

/* ---- one more takes part in a group ---- */

static void unite(struct idset **set, const struct idset *more)
{
    struct idset *both = idset_union(*set, more);
    idset_free(*set);
    *set = both;
}

static void members_add(struct members *members, const struct member *more)
{
    uint32_t at = 0;
    while (at < members->count && strcmp(members->at[at].job->name, more->job->name) < 0)
        at++;
    if (at == members->count || members->at[at].job != more->job) {
        members->at = mem_resize(members->at, members->count + 1, sizeof(*members->at));
        memmove(&members->at[at + 1], &members->at[at],
                (members->count++ - at) * sizeof(*members->at));
        members->at[at] = (struct member){.job = more->job, .ranks = idset_new()};
    }
    unite(&members->at[at].ranks, more->ranks);
    members->at[at].all |= more->all;
}

static void members_unite(struct members *members, const struct members *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        members_add(members, &more->at[i]);
}

static const struct member *member_of(const struct members *members, const struct job *job)
{
    for (uint32_t i = 0; i < members->count; i++)
        if (members->at[i].job == job)
            return &members->at[i];
    return NULL;
}

/* Who was added may be one who leads. */
static uint64_t count_followers(const struct gathering *gathering)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < gathering->added.count; i++) {
        const struct member *added = &gathering->added.at[i];
        const struct member *leads = member_of(&gathering->members, added->job);
        count += idset_count(added->ranks);
        count -= leads ? idset_count_both(added->ranks, leads->ranks) : 0;
    }
    return count;
}

static bool group_is_complete(const struct gathering *group)
{
    bool led = group->leaders
                   ? group->nleaders == group->leaders
                   : group->members.count && idset_count(group->here) == idset_count(group->nodes);
    return led && group->nfollowers >= count_followers(group);
}

/* Who follows does not know who leads. */
static bool is_of_group(const struct gathering *group, const struct gathering *fresh, uint32_t node)
{
    if (group->operation != GATHER_GROUP || strcmp(group->key, fresh->key) != 0)
        return false;
    if (!fresh->members.count || !group->members.count || fresh->leaders || group->leaders)
        return true;
    return same_members(&group->members, &fresh->members) && !idset_has(group->here, node);
}

static struct gathering *place_group(struct hub *hub, const struct gathering *fresh, uint32_t node)
{
    struct gathering **at = &hub->gatherings;
    while (*at && !is_of_group(*at, fresh, node))
        at = &(*at)->next;
    if (!*at) {
        *at = gathering_new(GATHER_GROUP, mem_copy_text(fresh->key));
        (*at)->number = ++hub->gathered;
    }
    return *at;
}

/* They have to agree on how many lead, and to be so many. */
static enum hub_status group_add(struct gathering *group, const struct gathering *fresh,
                                 uint32_t node)
{
    bool leads = fresh->members.count, first = !group->members.count;
    if (leads && !first &&
        (group->leaders != fresh->leaders || (fresh->leaders && group->nleaders == group->leaders)))
        return HUB_BAD;
    if (!leads)
        group->nfollowers++;
    else if (fresh->leaders)
        group->nleaders++;
    else
        idset_add(group->here, node);
    if (leads)
        group->leaders = fresh->leaders;
    members_unite(&group->members, &fresh->members);
    members_unite(&group->added, &fresh->added);
    unite(&group->nodes, fresh->nodes);
    return HUB_OK;
}

/* What is wrong with one ends it for all: others may not find out. */
static void enter_group(struct hub *hub, const struct gathering *fresh, const struct asked *asked,
                        enum hub_status status, const void *bytes, size_t len)
{
    struct gathering *group = place_group(hub, fresh, asked->node);
    if (!add_asked(group, asked, bytes, len) && status == HUB_OK)
        status = HUB_FULL;
    if (status == HUB_OK)
        status = group_add(group, fresh, asked->node);
    if (status != HUB_OK) {
        end(hub, group, status);
    } else if (group_is_complete(group)) {
        members_unite(&group->members, &group->added);
        end(hub, group, HUB_OK);
    }
}

/* ---- asked ---- */

static enum hub_status signature_read(struct hub *hub, struct packet *in, struct gathering *fresh)
{
    bool late = fresh->operation == GATHER_DESTRUCT;
    enum hub_status status = members_read(hub, in, late, &fresh->members), added = HUB_OK;
    if (fresh->operation == GATHER_GROUP) {
        fresh->leaders = packet_u32(in);
        added = members_read(hub, in, false, &fresh->added);
    }
    /* Who follows says nothing of others. */
    if (!fresh->members.count &&
        (fresh->operation != GATHER_GROUP || fresh->leaders || fresh->added.count))
        in->bad = true;
    return status == HUB_OK ? added : status;
}

int hub_gather(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct packet *in = &talk->rest;
    size_t len;
    uint8_t operation = packet_u8(in), broken = packet_u8(in);
    struct gathering *fresh = gathering_new(operation, packet_text(in));
    const void *bytes = packet_bytes(in, &len);
    enum hub_status status = signature_read(hub, in, fresh);
    bool bad = !packet_ends(in) || operation >= GATHER_NKINDS || broken > 1 || !asked->token;
    if (!bad && status == HUB_OK) {
        find_nodes(fresh);
        status = may_enter(hub, asked->node, fresh);
    }
    if (!bad && operation == GATHER_GROUP) {
        enter_group(hub, fresh, asked, status == HUB_OK && broken ? HUB_GONE : status, bytes, len);
    } else if (!bad && status == HUB_OK) {
        enter(hub, place(hub, asked->node, fresh), asked, broken, bytes, len);
        return 0;
    } else if (!bad) {
        hub_answer(hub, asked, status, NULL);
    }
    gathering_free(fresh);
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

/* All nodes that have members of the job have asked, and need not wait. */
static bool has_entered(const struct gathering *gathering, const struct job *job)
{
    const struct member *member = member_of(&gathering->members, job);
    bool entered = member && gathering->operation == GATHER_DESTRUCT;
    if (entered)
        IDSET_FOREACH(rank, member->ranks)
    entered &= idset_has(gathering->here, hub_node(job, rank));
    return entered;
}

/* It waits for this rank; UINT32_MAX: for any of the job. Leaders that ask each on its own have. */
static bool waits_for(const struct gathering *gathering, const struct job *job, uint32_t rank)
{
    const struct member *member = member_of(&gathering->members, job);
    const struct member *added = member_of(&gathering->added, job);
    if (rank == UINT32_MAX)
        return (member || added) && !has_entered(gathering, job);
    if (added && idset_has(added->ranks, rank))
        return true;
    return member && !gathering->leaders && idset_has(member->ranks, rank) &&
           !idset_has(gathering->here, hub_node(job, rank));
}

static struct gathering *find_waiting(const struct hub *hub, const struct job *job, uint32_t rank)
{
    struct gathering *gathering = hub->gatherings;
    while (gathering && !waits_for(gathering, job, rank))
        gathering = gathering->next;
    return gathering;
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

bool hub_gather_removed(struct hub *hub, const struct job *job)
{
    end_waiting(hub, job, UINT32_MAX);
    return hub_gather_knows(hub, job);
}

bool hub_gather_knows(const struct hub *hub, const struct job *job)
{
    const struct gathering *gathering = hub->gatherings;
    while (gathering && !member_of(&gathering->members, job))
        gathering = gathering->next;
    return gathering;
}

void hub_gather_free(struct hub *hub)
{
    while (hub->gatherings) {
        struct gathering *next = hub->gatherings->next;
        gathering_free(hub->gatherings);
        hub->gatherings = next;
    }
}
