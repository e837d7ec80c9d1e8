/*
 * Gatherings: every host that has members asks the same, and all of them get what all have said.
 *
 * Those of one signature follow each other: what a host asks goes to the first that it has no part
 * in yet.
 *
 * COLLECTIVE_GROUP is different, as not everybody knows all members. Its signature is the key. Leaders
 * begin it: those that are listed, of which a host asks once for all that it has, or any that are so
 * many as they say, each on its own. They may add members, who follow: they ask each on its own,
 * know the key alone, and may be the first. All of them are answered once all leaders and as many
 * followers as were added have asked. Who a follower is openpmix does not tell.
 *
 * Of COLLECTIVE_DESTRUCT members may not wait for the answer (pmix/group_connect.c), and their job be over before
 * others ask: where all of its nodes have asked, it is a member as it was.
 */
#include "pmi-server/service/collective.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/service/namespaces.h"
#include "pmi-server/service/outbox.h"

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
    enum collective_kind operation;
    char *key;
    struct members members;
    struct idset *nodes, *here; /* that have members, and have asked */
    struct members added;       /* of COLLECTIVE_GROUP, by leaders */
    uint32_t leaders;           /* each asks on its own; 0: they are listed, as members */
    uint32_t nleaders;          /* of these, that have asked */
    uint64_t nfollowers;        /* that have asked */
    struct requester *asked;
    size_t nasked;
    struct buf bytes;
};

struct collectives {
    struct gathering *open; /* that wait for others, the oldest first */
    uint64_t numbers;       /* that they were given */
    struct job *late;       /* that are over, and are to be known in a gathering */
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

/* ---- jobs that are over, and members still ---- */

static const struct member *member_of(const struct members *members, const struct job *job)
{
    for (uint32_t i = 0; i < members->count; i++)
        if (members->at[i].job == job)
            return &members->at[i];
    return NULL;
}

static bool knows(const struct pmi_service *service, const struct job *job)
{
    const struct gathering *gathering = service->collectives->open;
    while (gathering && !member_of(&gathering->members, job))
        gathering = gathering->next;
    return gathering;
}

/* Those that no gathering knows any more. */
static void forget_late(struct pmi_service *service)
{
    for (struct job **at = &service->collectives->late, *job; (job = *at);) {
        if (knows(service, job)) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        namespaces_free_job(job);
    }
}

/* ---- what is asked ---- */

/* `late`: also of jobs that are over. in->bad: there are no ranks, or the names are out of order. "" as ranks is all. */
static enum reply_status member_read(struct pmi_service *service, struct pack *in, bool late,
                                     struct member *member, char **before)
{
    char *name = pack_get_text(in), *text = pack_get_text(in);
    if (*before && strcmp(*before, name) >= 0)
        in->bad = true;
    free(*before);
    *before = name;
    struct job *job = namespaces_find(service, name);
    for (struct job *over = service->collectives->late; late && over && !job; over = over->next)
        if (!strcmp(over->name, name))
            job = over;
    struct idset *ranks = idset_decode(text, NULL);
    bool all = ranks && idset_empty(ranks);
    free(text);
    if (all)
        idset_add_range(ranks, 0, job && job->map->ntasks ? (uint32_t)job->map->ntasks - 1 : 0);
    *member = (struct member){job, ranks, all};
    if (!ranks)
        in->bad = true;
    if (in->bad)
        return REPLY_BAD;
    if (!job || idset_last(ranks) >= job->map->ntasks)
        return REPLY_NOT_FOUND;
    return idset_count_both(ranks, job->ended) ? REPLY_GONE : REPLY_OK;
}

/* REPLY_OK, or what is wrong with the first that is wrong. */
static enum reply_status members_read(struct pmi_service *service, struct pack *in, bool late,
                                      struct members *members)
{
    enum reply_status first = REPLY_OK;
    char *before = NULL;
    uint32_t count = pack_count(in, 8);
    members->at = mem_array(count, sizeof(*members->at));
    while (members->count < count && !in->bad) {
        struct member *member = &members->at[members->count++];
        enum reply_status status = member_read(service, in, late, member, &before);
        if (first == REPLY_OK)
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
        idset_add(gathering->nodes, namespaces_node(job, rank));
    }
}

/* ---- the end of one ---- */

static void collective_put_members(struct buf *out, const struct members *members)
{
    pack_put_u32(out, members->count);
    for (uint32_t i = 0; i < members->count; i++) {
        char *ranks = members->at[i].all ? NULL : idset_encode(members->at[i].ranks);
        pack_put_text(out, members->at[i].job->name);
        pack_put_text(out, ranks);
        free(ranks);
    }
}

/* One answer tells a host all; openpmix answers all of a group that are there. */
static void end(struct pmi_service *service, struct gathering *gathering, enum reply_status status)
{
    struct buf rest = BUF_INIT, again = BUF_INIT;
    struct idset *told = idset_new();
    struct gathering **at = &service->collectives->open;
    while (*at && *at != gathering)
        at = &(*at)->next;
    if (*at)
        *at = gathering->next;
    if (status == REPLY_OK) {
        pack_put_u64(&rest, gathering->number);
        pack_put_u64(&again, gathering->number);
        pack_put_bytes(&rest, buf_bytes(&gathering->bytes), gathering->bytes.len);
        pack_put_bytes(&again, "", 0);
    }
    if (status == REPLY_OK && gathering->operation == COLLECTIVE_GROUP) {
        collective_put_members(&rest, &gathering->members);
        pack_put_u32(&again, 0);
    }
    for (size_t i = 0; i < gathering->nasked; i++) {
        const struct requester *asked = &gathering->asked[i];
        outbox_reply(service, asked, status, idset_has(told, asked->node) ? &again : &rest);
        idset_add(told, asked->node);
    }
    idset_free(told);
    buf_free(&again);
    buf_free(&rest);
    gathering_free(gathering);
    forget_late(service);
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
static struct gathering **find_place(struct pmi_service *service, uint32_t node,
                                     const struct gathering *fresh)
{
    struct gathering **at = &service->collectives->open;
    while (*at && (!same(*at, fresh) || idset_has((*at)->here, node)))
        at = &(*at)->next;
    return at;
}

/* `fresh` is taken. */
static struct gathering *place(struct pmi_service *service, uint32_t node, struct gathering *fresh)
{
    struct gathering **at = find_place(service, node, fresh);
    if (*at) {
        gathering_free(fresh);
        return *at;
    }
    fresh->number = ++service->collectives->numbers;
    return *at = fresh;
}

/* What the host waits for: of a group it may have asked more than once. */
static size_t count_asked(const struct gathering *gathering, uint32_t node)
{
    size_t count = 0;
    if (gathering->operation != COLLECTIVE_GROUP)
        return idset_has(gathering->here, node);
    for (size_t i = 0; i < gathering->nasked; i++)
        count += gathering->asked[i].node == node;
    return count;
}

static enum reply_status may_enter(struct pmi_service *service, uint32_t node,
                                   const struct gathering *gathering)
{
    const struct members *members = &gathering->members;
    bool late = false; /* a job is over: nobody of it will come */
    size_t count = 0;
    if (members->count && !idset_has(gathering->nodes, node))
        return REPLY_BAD;
    for (uint32_t i = 0; i < members->count && !late; i++)
        late = !namespaces_find(service, members->at[i].job->name);
    if (late && !*find_place(service, node, gathering))
        return REPLY_NOT_FOUND;
    for (const struct gathering *g = service->collectives->open; g; g = g->next)
        count += count_asked(g, node);
    return count < SERVICE_GATHERS_MAX ? REPLY_OK : REPLY_FULL;
}

/* Of a connect, and a disconnect: all are in. */
static void collective_settle(struct pmi_service *service, const struct gathering *gathering)
{
    const struct members *members = &gathering->members;
    for (uint32_t i = 0; i < members->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct job *one = members->at[i].job, *other = members->at[j].job;
            if (gathering->operation == COLLECTIVE_CONNECT)
                namespaces_tie(service, one, other);
            else if (gathering->operation == COLLECTIVE_DISCONNECT)
                namespaces_untie(service, one, other);
        }
}

/* false: that is too much. */
static bool add_asked(struct gathering *gathering, const struct requester *asked, const void *bytes,
                      size_t len)
{
    bool full = len > SERVICE_BYTES_MAX - gathering->bytes.len;
    gathering->asked =
        mem_resize(gathering->asked, gathering->nasked + 1, sizeof(*gathering->asked));
    gathering->asked[gathering->nasked++] = *asked;
    buf_add(&gathering->bytes, bytes, full ? 0 : len);
    return !full;
}

static void collective_enter(struct pmi_service *service, struct gathering *gathering,
                             const struct requester *asked, bool broken, const void *bytes,
                             size_t len)
{
    bool full = !add_asked(gathering, asked, bytes, len);
    idset_add(gathering->here, asked->node);
    bool over = gathering->nasked == idset_count(gathering->nodes);
    if (over && !full && !broken)
        collective_settle(service, gathering);
    if (full || broken)
        end(service, gathering, full ? REPLY_FULL : REPLY_GONE);
    else if (over)
        end(service, gathering, REPLY_OK);
}

static struct gathering *gathering_new(enum collective_kind operation, char *key)
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

static void members_unite(struct members *members, const struct members *more)
{
    for (uint32_t i = 0; i < more->count; i++) {
        const struct member *one = &more->at[i];
        uint32_t at = 0;
        while (at < members->count && strcmp(members->at[at].job->name, one->job->name) < 0)
            at++;
        if (at == members->count || members->at[at].job != one->job) {
            members->at = mem_resize(members->at, members->count + 1, sizeof(*members->at));
            memmove(&members->at[at + 1], &members->at[at],
                    (members->count++ - at) * sizeof(*members->at));
            members->at[at] = (struct member){.job = one->job, .ranks = idset_new()};
        }
        unite(&members->at[at].ranks, one->ranks);
        members->at[at].all |= one->all;
    }
}

static bool group_is_complete(const struct gathering *group)
{
    bool led = group->leaders
                   ? group->nleaders == group->leaders
                   : group->members.count && idset_count(group->here) == idset_count(group->nodes);
    uint64_t followers = 0; /* who was added may be one who leads */
    for (uint32_t i = 0; i < group->added.count; i++) {
        const struct member *added = &group->added.at[i];
        const struct member *leads = member_of(&group->members, added->job);
        followers += idset_count(added->ranks);
        followers -= leads ? idset_count_both(added->ranks, leads->ranks) : 0;
    }
    return led && group->nfollowers >= followers;
}

/* Who follows does not know who leads. */
static bool is_of_group(const struct gathering *group, const struct gathering *fresh, uint32_t node)
{
    if (group->operation != COLLECTIVE_GROUP || strcmp(group->key, fresh->key) != 0)
        return false;
    if (!fresh->members.count || !group->members.count || fresh->leaders || group->leaders)
        return true;
    return same_members(&group->members, &fresh->members) && !idset_has(group->here, node);
}

static struct gathering *place_group(struct pmi_service *service, const struct gathering *fresh,
                                     uint32_t node)
{
    struct gathering **at = &service->collectives->open;
    while (*at && !is_of_group(*at, fresh, node))
        at = &(*at)->next;
    if (!*at) {
        *at = gathering_new(COLLECTIVE_GROUP, mem_copy_text(fresh->key));
        (*at)->number = ++service->collectives->numbers;
    }
    return *at;
}

/* They have to agree on how many lead, and to be so many. */
static enum reply_status group_add(struct gathering *group, const struct gathering *fresh,
                                   uint32_t node)
{
    bool leads = fresh->members.count, first = !group->members.count;
    if (leads && !first &&
        (group->leaders != fresh->leaders || (fresh->leaders && group->nleaders == group->leaders)))
        return REPLY_BAD;
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
    return REPLY_OK;
}

/* What is wrong with one ends it for all: others may not find out. */
static void enter_group(struct pmi_service *service, const struct gathering *fresh,
                        const struct requester *asked, enum reply_status status, const void *bytes,
                        size_t len)
{
    struct gathering *group = place_group(service, fresh, asked->node);
    if (!add_asked(group, asked, bytes, len) && status == REPLY_OK)
        status = REPLY_FULL;
    if (status == REPLY_OK)
        status = group_add(group, fresh, asked->node);
    if (status != REPLY_OK) {
        end(service, group, status);
    } else if (group_is_complete(group)) {
        members_unite(&group->members, &group->added);
        end(service, group, REPLY_OK);
    }
}

/* ---- asked ---- */

static enum reply_status signature_read(struct pmi_service *service, struct pack *in,
                                        struct gathering *fresh)
{
    bool late = fresh->operation == COLLECTIVE_DESTRUCT;
    enum reply_status status = members_read(service, in, late, &fresh->members), added = REPLY_OK;
    if (fresh->operation == COLLECTIVE_GROUP) {
        fresh->leaders = pack_u32(in);
        added = members_read(service, in, false, &fresh->added);
    }
    /* Who follows says nothing of others. */
    if (!fresh->members.count &&
        (fresh->operation != COLLECTIVE_GROUP || fresh->leaders || fresh->added.count))
        in->bad = true;
    return status == REPLY_OK ? added : status;
}

int collectives_take(struct pmi_service *service, const struct requester *asked,
                     struct message_up *talk)
{
    struct pack *in = &talk->rest;
    size_t len;
    uint8_t operation = pack_u8(in), broken = pack_u8(in);
    struct gathering *fresh = gathering_new(operation, pack_get_text(in));
    const void *bytes = pack_bytes(in, &len);
    enum reply_status status = signature_read(service, in, fresh);
    bool bad = !pack_ends(in) || operation >= COLLECTIVE_NKINDS || broken > 1 || !asked->token;
    if (!bad && status == REPLY_OK) {
        find_nodes(fresh);
        status = may_enter(service, asked->node, fresh);
    }
    if (!bad && operation == COLLECTIVE_GROUP) {
        enter_group(service, fresh, asked, status == REPLY_OK && broken ? REPLY_GONE : status,
                    bytes, len);
    } else if (!bad && status == REPLY_OK) {
        collective_enter(service, place(service, asked->node, fresh), asked, broken, bytes, len);
        return 0;
    } else if (!bad) {
        outbox_reply(service, asked, status, NULL);
    }
    gathering_free(fresh);
    return bad ? -1 : 0;
}

/* ---- who does not take part any more ---- */

void collectives_forget(struct pmi_service *service, const struct requester *asked)
{
    for (struct gathering *gathering = service->collectives->open; gathering;
         gathering = gathering->next)
        for (size_t i = 0; i < gathering->nasked; i++) {
            const struct requester *one = &gathering->asked[i];
            if (one->node != asked->node || one->token != asked->token)
                continue;
            gathering->asked[i] = gathering->asked[--gathering->nasked];
            end(service, gathering, REPLY_TIMEOUT);
            return;
        }
}

/* All nodes that have members of the job have asked, and need not wait. */
static bool has_entered(const struct gathering *gathering, const struct job *job)
{
    const struct member *member = member_of(&gathering->members, job);
    bool entered = member && gathering->operation == COLLECTIVE_DESTRUCT;
    if (entered)
        IDSET_FOREACH(rank, member->ranks)
    entered &= idset_has(gathering->here, namespaces_node(job, rank));
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
           !idset_has(gathering->here, namespaces_node(job, rank));
}

/* From the start each time: who is told may ask. */
static void end_waiting(struct pmi_service *service, const struct job *job, uint32_t rank)
{
    struct gathering *gathering = service->collectives->open;
    while (gathering)
        if (waits_for(gathering, job, rank)) {
            end(service, gathering, REPLY_GONE);
            gathering = service->collectives->open;
        } else {
            gathering = gathering->next;
        }
}

void collectives_task_ended(struct pmi_service *service, const struct job *job, uint32_t rank)
{
    end_waiting(service, job, rank);
}

void collectives_job_removed(struct pmi_service *service, const struct job *job)
{
    end_waiting(service, job, UINT32_MAX);
}

bool collectives_keep(struct pmi_service *service, struct job *job)
{
    if (!knows(service, job))
        return false;
    job->next = service->collectives->late;
    service->collectives->late = job;
    return true;
}

/* ---- life ---- */

void collectives_open(struct pmi_service *service)
{
    service->collectives = mem_alloc(sizeof(*service->collectives));
}

void collectives_close(struct pmi_service *service)
{
    while (service->collectives->open) {
        struct gathering *next = service->collectives->open->next;
        gathering_free(service->collectives->open);
        service->collectives->open = next;
    }
    forget_late(service);
    free(service->collectives);
}
