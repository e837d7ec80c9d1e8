/* What else tasks say of names: published, withdrawn. And PMI's tasks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/service/internal.h"

bool naming_party(const struct hub *hub, const struct asked *asked, const struct talk_up *talk,
                  struct party *party)
{
    const struct job *job = hub_job(hub, talk->from.job);
    *party = (struct party){talk->from.job, talk->from.rank, asked->node};
    return job && hub_node(job, talk->from.rank) == asked->node;
}

/* ---- published ---- */

static struct hub_name *name_read(struct packet *in)
{
    size_t len;
    char *key = packet_text(in);
    bool text = packet_u8(in);
    const void *value = packet_bytes(in, &len);
    struct hub_name *name = hub_name_new(key, value, len);
    name->text = text;
    if (!*key || strlen(key) > HUB_KEY_MAX || (text && memchr(value, 0, len)))
        in->bad = true;
    free(key);
    return name;
}

/* NULL: malformed. */
static struct hub_name *names_read(struct packet *in, const struct party *party)
{
    struct hub_name *names = NULL;
    uint8_t range = packet_u8(in), until = packet_u8(in);
    uint32_t count = packet_count(in, 9);
    in->bad = in->bad || range >= HUB_NRANGES || until >= HUB_NUNTIL || count > HUB_KEYS_MAX;
    for (uint32_t i = 0; i < count && !in->bad; i++) {
        struct hub_name *name = name_read(in);
        name->job = mem_copy_text(party->job);
        name->rank = party->rank;
        name->node = party->node;
        name->range = range;
        name->until = until;
        name->next = names;
        names = name;
    }
    if (packet_ends(in) && count)
        return names;
    hub_names_free(names);
    return NULL;
}

static enum hub_status add(struct hub *hub, struct hub_name *fresh)
{
    uint64_t since = hub->names.ids;
    enum hub_status status = names_add(hub, fresh);
    if (status == HUB_OK)
        lookups_try(hub, &since);
    return status;
}

int naming_publish(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct party party;
    bool known = naming_party(hub, asked, talk, &party);
    struct hub_name *fresh = names_read(&talk->rest, &party);
    if (!fresh)
        return -1;
    hub_answer(hub, asked, known ? add(hub, fresh) : HUB_BAD, NULL);
    if (!known)
        hub_names_free(fresh);
    return 0;
}

/* ---- withdrawn ---- */

struct wish { /* what is to go */
    const struct party *party;
    uint8_t range;   /* HUB_NRANGES: of any */
    const char *key; /* NULL: all */
};

static bool is_own(const struct hub_name *name, const void *what)
{
    const struct wish *wish = what;
    return name->rank == wish->party->rank && strcmp(name->job, wish->party->job) == 0 &&
           (wish->range == HUB_NRANGES || name->range == wish->range) &&
           (!wish->key || strcmp(name->key, wish->key) == 0);
}

/* Those of other programs are not looked at: they are not withdrawn here anyhow. */
static enum hub_status withdraw(struct hub *hub, const struct wish *wish)
{
    if (names_drop(hub, is_own, wish) || !wish->key)
        return HUB_OK;
    return names_find(hub, wish->party, HUB_TO_ALL, wish->key) ? HUB_NOT_PERMITTED : HUB_NOT_FOUND;
}

static enum hub_status withdraw_all(struct hub *hub, struct wish *wish, char *const *keys,
                                    uint32_t nkeys)
{
    uint32_t good = 0;
    enum hub_status worst = HUB_OK;
    if (!nkeys)
        return withdraw(hub, wish);
    for (uint32_t i = 0; i < nkeys; i++) {
        wish->key = keys[i];
        enum hub_status status = withdraw(hub, wish);
        good += status == HUB_OK;
        worst = status == HUB_OK ? worst : status;
    }
    return good && good < nkeys ? HUB_PARTLY : worst;
}

int naming_unpublish(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct packet *in = &talk->rest;
    struct party party;
    struct wish wish = {&party, packet_u8(in), NULL};
    uint32_t nkeys = packet_count(in, 4);
    char **keys = mem_array(nkeys, sizeof(*keys));
    for (uint32_t i = 0; i < nkeys; i++)
        keys[i] = packet_text(in);
    bool good = packet_ends(in) && nkeys <= HUB_KEYS_MAX && wish.range <= HUB_NRANGES;
    if (good)
        hub_answer(hub, asked,
                   naming_party(hub, asked, talk, &party) ? withdraw_all(hub, &wish, keys, nkeys)
                                                          : HUB_BAD,
                   NULL);
    for (uint32_t i = 0; i < nkeys; i++)
        free(keys[i]);
    free(keys);
    return good ? 0 : -1;
}

/* ---- the end of who has published it ---- */

static bool ends_with_task(const struct hub_name *name, const void *what)
{
    const struct party *party = what;
    return name->until == HUB_UNTIL_TASK && name->rank == party->rank &&
           strcmp(name->job, party->job) == 0;
}

static void leave(struct hub *hub, const struct party *party)
{
    const struct hub_proc proc = {(char *)(uintptr_t)party->job, party->rank};
    names_drop(hub, ends_with_task, party);
    lookups_drop(hub, &proc);
}

void naming_ended(struct hub *hub, const char *job, uint32_t rank)
{
    const struct party party = {.job = job, .rank = rank};
    leave(hub, &party);
}

int naming_left(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct party party;
    if (!packet_ends(&talk->rest))
        return -1;
    if (naming_party(hub, asked, talk, &party))
        leave(hub, &party);
    return 0;
}

static bool ends_with_job(const struct hub_name *name, const void *job)
{
    return (name->until == HUB_UNTIL_TASK || name->until == HUB_UNTIL_JOB) &&
           strcmp(name->job, job) == 0;
}

void naming_over(struct hub *hub, const char *job)
{
    struct hub_proc all = {(char *)job, HUB_ALL};
    names_drop(hub, ends_with_job, job);
    lookups_drop(hub, &all);
}

/* ---- PMI's tasks ---- */

enum hub_status hub_publish_text(struct hub *hub, const char *job, const char *key,
                                 const char *text)
{
    struct hub_name *name = hub_name_new(key, text, strlen(text));
    name->text = true;
    name->job = mem_copy_text(job);
    name->rank = HUB_SOMEBODY;
    name->node = UINT32_MAX;
    name->range = HUB_TO_ALL;
    name->until = HUB_UNTIL_END;
    return add(hub, name);
}

static bool is_of_pmi(const struct hub_name *name, const void *key)
{
    return name->rank == HUB_SOMEBODY && strcmp(name->key, key) == 0;
}

enum hub_status hub_unpublish_text(struct hub *hub, const char *key)
{
    return names_drop(hub, is_of_pmi, key) ? HUB_OK : HUB_NOT_FOUND;
}

/* What is looked up: answered at once, or when enough of it has been published. */

struct lookup {
    struct lookup *next;
    struct asked asked;
    struct party party;
    char *job; /* the party's */
    enum hub_range range;
    uint32_t wanted; /* keys at least; 0: it does not wait */
    uint32_t nkeys;
    char **keys;
};

/* ---- one ---- */

static void lookup_free(struct lookup *lookup)
{
    for (uint32_t i = 0; i < lookup->nkeys; i++)
        free(lookup->keys[i]);
    free(lookup->keys);
    free(lookup->job);
    free(lookup);
}

static struct lookup *lookup_read(struct packet *in)
{
    struct lookup *lookup = mem_alloc(sizeof(*lookup));
    uint8_t range = packet_u8(in);
    lookup->range = range;
    lookup->wanted = packet_u32(in);
    lookup->nkeys = packet_count(in, 4);
    lookup->keys = mem_array(lookup->nkeys, sizeof(*lookup->keys));
    for (uint32_t i = 0; i < lookup->nkeys; i++) {
        lookup->keys[i] = packet_text(in);
        in->bad = in->bad || strlen(lookup->keys[i]) > HUB_KEY_MAX;
    }
    if (lookup->wanted > lookup->nkeys)
        lookup->wanted = lookup->nkeys;
    if (packet_ends(in) && range < HUB_NRANGES && lookup->nkeys <= HUB_KEYS_MAX)
        return lookup;
    lookup_free(lookup);
    return NULL;
}

/* ---- found ---- */

static struct hub_name *find(const struct hub *hub, const struct lookup *lookup, uint32_t i)
{
    return names_find(hub, &lookup->party, lookup->range, lookup->keys[i]);
}

static const struct hub_name *find_other(const struct hub *hub, const struct lookup *lookup,
                                         uint32_t i)
{
    return lookup->range == HUB_TO_ALL ? names_find_other(hub, lookup->keys[i]) : NULL;
}

static uint32_t count_found(const struct hub *hub, const struct lookup *lookup)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < lookup->nkeys; i++)
        count += find(hub, lookup, i) || find_other(hub, lookup, i);
    return count;
}

static bool is_that(const struct hub_name *name, const void *what)
{
    return name == what;
}

static bool put(struct hub *hub, const struct hub_name *name, struct buf *out)
{
    if (!names_take(hub, name))
        return false;
    packet_put_text(out, name->key);
    talk_put_proc(out, name->job, name->rank);
    packet_put_u8(out, name->text);
    packet_put_bytes(out, name->value, name->len);
    return true;
}

/* Its own program's, or another's; what is to be read once is gone then. */
static bool put_found(struct hub *hub, const struct lookup *lookup, uint32_t i, struct buf *out)
{
    const struct hub_name *own = find(hub, lookup, i);
    bool good = own && put(hub, own, out);
    if (own && own->until == HUB_UNTIL_READ)
        names_drop(hub, is_that, own);
    const struct hub_name *other = good ? NULL : find_other(hub, lookup, i);
    return good || (other && put(hub, other, out));
}

/* True: it is answered. */
static bool try(struct hub *hub, const struct lookup *lookup)
{
    struct buf found = BUF_INIT, rest = BUF_INIT;
    uint32_t count = 0;
    if (lookup->wanted && count_found(hub, lookup) < lookup->wanted)
        return false;
    for (uint32_t i = 0; i < lookup->nkeys && found.len <= HUB_BYTES_MAX; i++)
        count += put_found(hub, lookup, i, &found);
    bool full = found.len > HUB_BYTES_MAX; /* the same key may be there many times */
    packet_put_u32(&rest, count);
    buf_add(&rest, buf_bytes(&found), found.len);
    bool answered = count || !lookup->wanted; /* else another program was faster */
    if (full)
        hub_answer(hub, &lookup->asked, HUB_FULL, NULL);
    else if (answered)
        hub_answer(hub, &lookup->asked, count ? HUB_OK : HUB_NOT_FOUND, count ? &rest : NULL);
    buf_free(&found);
    buf_free(&rest);
    return answered;
}

/* ---- those that wait ---- */

static void watch(struct hub *hub)
{
    bool waits = false;
    for (const struct lookup *lookup = hub->names.lookups; lookup; lookup = lookup->next)
        waits = waits || lookup->range == HUB_TO_ALL;
    if (waits == hub->names.watched || !hub->names.ops)
        return;
    hub->names.watched = waits;
    hub->names.ops->watch(hub->names.arg, waits);
}

static void drop(struct hub *hub, bool (*goes)(struct hub *, const struct lookup *, const void *),
                 const void *what)
{
    for (struct lookup **at = &hub->names.lookups, *lookup; (lookup = *at);) {
        if (!goes(hub, lookup, what)) {
            at = &lookup->next;
            continue;
        }
        *at = lookup->next;
        lookup_free(lookup);
    }
    watch(hub);
}

static bool is_concerned(const struct hub *hub, const struct lookup *lookup, uint64_t since)
{
    for (const struct hub_name *name = hub->names.first; name && name->id > since;
         name = name->next)
        for (uint32_t i = 0; i < lookup->nkeys; i++)
            if (strcmp(lookup->keys[i], name->key) == 0)
                return true;
    return false;
}

static bool ends(struct hub *hub, const struct lookup *lookup, const void *since)
{
    return (!since || is_concerned(hub, lookup, *(const uint64_t *)since)) && try(hub, lookup);
}

void lookups_try(struct hub *hub, const uint64_t *since)
{
    drop(hub, ends, since);
}

static bool is_of(struct hub *hub, const struct lookup *lookup, const void *what)
{
    const struct asked *asked = what;
    (void)hub;
    return lookup->asked.node == asked->node && lookup->asked.token == asked->token;
}

void lookups_forget(struct hub *hub, const struct asked *asked)
{
    drop(hub, is_of, asked);
}

static bool is_by(struct hub *hub, const struct lookup *lookup, const void *what)
{
    const struct hub_proc *proc = what;
    (void)hub;
    return (proc->rank == HUB_ALL || proc->rank == lookup->party.rank) &&
           strcmp(lookup->job, proc->job) == 0;
}

void lookups_drop(struct hub *hub, const struct hub_proc *proc)
{
    drop(hub, is_by, proc);
}

static bool is_any(struct hub *hub, const struct lookup *lookup, const void *what)
{
    (void)hub, (void)lookup, (void)what;
    return true;
}

void lookups_free(struct hub *hub)
{
    drop(hub, is_any, NULL);
}

/* ---- asked ---- */

static size_t size_of_keys(const struct lookup *lookup)
{
    size_t size = 0;
    for (uint32_t i = 0; i < lookup->nkeys; i++)
        size += strlen(lookup->keys[i]);
    return size;
}

static void wait(struct hub *hub, struct lookup *lookup)
{
    struct lookup **last = &hub->names.lookups;
    uint32_t others = 0;
    for (; *last; last = &(*last)->next)
        others += (*last)->party.rank == lookup->party.rank && !strcmp((*last)->job, lookup->job);
    if (others < HUB_LOOKUPS_MAX && size_of_keys(lookup) <= HUB_LOOKUP_BYTES) {
        *last = lookup;
        watch(hub);
        return;
    }
    hub_answer(hub, &lookup->asked, HUB_FULL, NULL);
    lookup_free(lookup);
}

static void refresh(struct hub *hub, const struct lookup *lookup)
{
    bool missing = false;
    for (uint32_t i = 0; i < lookup->nkeys && !missing; i++)
        missing = !find(hub, lookup, i);
    if (missing && hub->names.ops && lookup->range == HUB_TO_ALL)
        hub->names.others = hub->names.ops->others(hub->names.arg);
}

int lookups_take(struct hub *hub, const struct asked *asked, struct talk_up *talk)
{
    struct lookup *lookup = lookup_read(&talk->rest);
    if (!lookup)
        return -1;
    if (!naming_party(hub, asked, talk, &lookup->party)) {
        hub_answer(hub, asked, HUB_BAD, NULL);
        lookup_free(lookup);
        return 0;
    }
    lookup->party.job = lookup->job = mem_copy_text(lookup->party.job);
    lookup->asked = *asked;
    refresh(hub, lookup);
    if (try(hub, lookup))
        lookup_free(lookup);
    else
        wait(hub, lookup);
    return 0;
}

/* ---- PMI's tasks ---- */

enum hub_status hub_lookup_text(struct hub *hub, const char *job, const char *key, char **text)
{
    const struct party party = {job, HUB_SOMEBODY, UINT32_MAX};
    const struct hub_name *own = names_find(hub, &party, HUB_TO_ALL, key);
    if (!own && hub->names.ops)
        hub->names.others = hub->names.ops->others(hub->names.arg);
    const struct hub_name *name = own ? own : names_find_other(hub, key);
    if (name && !name->text)
        return HUB_UNSUPPORTED;
    bool good = name && names_take(hub, name);
    if (good)
        *text = mem_copy_text(name->value);
    if (own && own->until == HUB_UNTIL_READ)
        names_drop(hub, is_that, own);
    return good ? HUB_OK : HUB_NOT_FOUND;
}
