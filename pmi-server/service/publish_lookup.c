/* What tasks say of names: published, looked up, withdrawn. And what PMI's tasks do, for the owner. */
#include "pmi-server/service/publish_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/service/context.h"
#include "pmi-server/service/name_store_private.h"
#include "pmi-server/service/namespaces.h"
#include "pmi-server/service/outbox.h"

/* Who asks. False: the node has no such task, and the caller says so in its answer. */
static bool party_of(const struct pmi_service *service, const struct requester *asked,
                     const struct message_up *talk, struct party *party)
{
    const struct job *job = namespaces_find(service, talk->from.job);
    *party = (struct party){talk->from.job, talk->from.rank, asked->node};
    return job && namespaces_node(job, talk->from.rank) == asked->node;
}

/* What is looked up: answered at once, or when enough of it has been published. */

struct lookups {
    struct lookup *waiting; /* the oldest first */
};

struct lookup {
    struct lookup *next;
    struct requester asked;
    struct party party;
    char *job; /* the party's */
    enum publish_range range;
    uint32_t wanted; /* it waits for at least so many keys; 0: it does not wait */
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

static struct lookup *lookup_read(struct pack *in)
{
    struct lookup *lookup = mem_alloc(sizeof(*lookup));
    uint8_t range = pack_u8(in);
    lookup->range = range;
    lookup->wanted = pack_u32(in);
    lookup->nkeys = pack_count(in, 4);
    lookup->keys = mem_array(lookup->nkeys, sizeof(*lookup->keys));
    for (uint32_t i = 0; i < lookup->nkeys; i++) {
        lookup->keys[i] = pack_get_text(in);
        in->bad = in->bad || strlen(lookup->keys[i]) > SERVICE_KEY_MAX;
    }
    if (lookup->wanted > lookup->nkeys)
        lookup->wanted = lookup->nkeys;
    if (pack_ends(in) && range < RANGE_NRANGES && lookup->nkeys <= SERVICE_KEYS_MAX)
        return lookup;
    lookup_free(lookup);
    return NULL;
}

/* ---- found ---- */

static struct published_name *publish_lookup_find(const struct pmi_service *service,
                                                  const struct lookup *lookup, uint32_t i)
{
    return name_store_find(service, &lookup->party, lookup->range, lookup->keys[i]);
}

static const struct published_name *find_other(const struct pmi_service *service,
                                               const struct lookup *lookup, uint32_t i)
{
    return lookup->range == RANGE_ALL ? name_store_find_other(service, lookup->keys[i]) : NULL;
}

static bool is_that(const struct published_name *name, const void *what)
{
    return name == what;
}

static bool publish_lookup_put(struct pmi_service *service, const struct published_name *name,
                               struct buf *out)
{
    if (!name_store_consume(service, name))
        return false;
    pack_put_text(out, name->key);
    message_put_proc(out, name->job, name->rank);
    pack_put_u8(out, name->text);
    pack_put_bytes(out, name->value, name->len);
    return true;
}

/* A name of its own program, else of another. One that is to be read once is removed. */
static bool put_found(struct pmi_service *service, const struct lookup *lookup, uint32_t i,
                      struct buf *out)
{
    const struct published_name *own = publish_lookup_find(service, lookup, i);
    bool good = own && publish_lookup_put(service, own, out);
    if (own && own->until == PERSIST_READ)
        name_store_drop(service, is_that, own);
    const struct published_name *other = good ? NULL : find_other(service, lookup, i);
    return good || (other && publish_lookup_put(service, other, out));
}

/* True: it is answered. */
static bool try(struct pmi_service *service, const struct lookup *lookup)
{
    struct buf found = BUF_INIT, rest = BUF_INIT;
    uint32_t count = 0;
    for (uint32_t i = 0; i < lookup->nkeys && lookup->wanted; i++)
        count += publish_lookup_find(service, lookup, i) || find_other(service, lookup, i);
    if (count < lookup->wanted)
        return false;
    count = 0;
    for (uint32_t i = 0; i < lookup->nkeys && found.len <= SERVICE_BYTES_MAX; i++)
        count += put_found(service, lookup, i, &found);
    bool full = found.len > SERVICE_BYTES_MAX; /* the same key may be there many times */
    pack_put_u32(&rest, count);
    buf_add(&rest, buf_bytes(&found), found.len);
    bool answered = count || !lookup->wanted; /* else another program was faster */
    if (full)
        outbox_reply(service, &lookup->asked, REPLY_FULL, NULL);
    else if (answered)
        outbox_reply(service, &lookup->asked, count ? REPLY_OK : REPLY_NOT_FOUND,
                     count ? &rest : NULL);
    buf_free(&found);
    buf_free(&rest);
    return answered;
}

/* ---- those that wait ---- */

static void watch(struct pmi_service *service)
{
    bool waits = false;
    for (const struct lookup *lookup = service->lookups->waiting; lookup; lookup = lookup->next)
        waits = waits || lookup->range == RANGE_ALL;
    name_store_watch_others(service, waits);
}

static void drop(struct pmi_service *service,
                 bool (*goes)(struct pmi_service *, const struct lookup *, const void *),
                 const void *what)
{
    for (struct lookup **at = &service->lookups->waiting, *lookup; (lookup = *at);) {
        if (!goes(service, lookup, what)) {
            at = &lookup->next;
            continue;
        }
        *at = lookup->next;
        lookup_free(lookup);
    }
    watch(service);
}

static bool ends(struct pmi_service *service, const struct lookup *lookup, const void *what)
{
    const uint64_t *since = what;
    const struct published_name *name = since ? pmi_service_names(service) : NULL;
    bool concerned = !since;
    for (; name && name->id > *since && !concerned; name = name->next)
        for (uint32_t i = 0; i < lookup->nkeys && !concerned; i++)
            concerned = strcmp(lookup->keys[i], name->key) == 0;
    return concerned && try(service, lookup);
}

/* There are new names, with ids above `since`; NULL: names of other programs have changed. */
static void lookups_try(struct pmi_service *service, const uint64_t *since)
{
    drop(service, ends, since);
}

static bool is_of(struct pmi_service *service, const struct lookup *lookup, const void *what)
{
    const struct requester *asked = what;
    (void)service;
    return lookup->asked.node == asked->node && lookup->asked.token == asked->token;
}

void publish_lookup_forget(struct pmi_service *service, const struct requester *asked)
{
    drop(service, is_of, asked);
}

static bool is_by(struct pmi_service *service, const struct lookup *lookup, const void *what)
{
    const struct process_name *proc = what;
    (void)service;
    return (proc->rank == SERVICE_ALL || proc->rank == lookup->party.rank) &&
           strcmp(lookup->job, proc->job) == 0;
}

/* ---- looked up ---- */

static void wait(struct pmi_service *service, struct lookup *lookup)
{
    struct lookup **last = &service->lookups->waiting;
    uint32_t others = 0; /* of the same task */
    size_t size = 0;     /* of the keys */
    for (; *last; last = &(*last)->next)
        others += (*last)->party.rank == lookup->party.rank && !strcmp((*last)->job, lookup->job);
    for (uint32_t i = 0; i < lookup->nkeys; i++)
        size += strlen(lookup->keys[i]);
    if (others < SERVICE_LOOKUPS_MAX && size <= SERVICE_LOOKUP_BYTES) {
        *last = lookup;
        watch(service);
        return;
    }
    outbox_reply(service, &lookup->asked, REPLY_FULL, NULL);
    lookup_free(lookup);
}

int publish_lookup_take_lookup(struct pmi_service *service, const struct requester *asked,
                               struct message_up *talk)
{
    struct lookup *lookup = lookup_read(&talk->rest);
    if (!lookup)
        return -1;
    if (!party_of(service, asked, talk, &lookup->party)) {
        outbox_reply(service, asked, REPLY_BAD, NULL);
        lookup_free(lookup);
        return 0;
    }
    lookup->party.job = lookup->job = mem_copy_text(lookup->party.job);
    lookup->asked = *asked;
    bool missing = false; /* in this program */
    for (uint32_t i = 0; i < lookup->nkeys && !missing; i++)
        missing = !publish_lookup_find(service, lookup, i);
    if (missing && lookup->range == RANGE_ALL)
        name_store_look_at_others(service);
    if (try(service, lookup))
        lookup_free(lookup);
    else
        wait(service, lookup);
    return 0;
}

/* ---- published ---- */

/* NULL: malformed. */
static struct published_name *names_read(struct pack *in, const struct party *party)
{
    struct published_name *names = NULL;
    uint8_t range = pack_u8(in), until = pack_u8(in);
    uint32_t count = pack_count(in, 9);
    in->bad =
        in->bad || range >= RANGE_NRANGES || until >= PERSIST_NUNTIL || count > SERVICE_KEYS_MAX;
    for (uint32_t i = 0; i < count && !in->bad; i++) {
        size_t len;
        char *key = pack_get_text(in);
        bool text = pack_u8(in);
        const void *value = pack_bytes(in, &len);
        if (!*key || strlen(key) > SERVICE_KEY_MAX || (text && memchr(value, 0, len)))
            in->bad = true;
        struct published_name *name = pmi_service_name_new(key, value, len);
        free(key);
        name->text = text;
        name->job = mem_copy_text(party->job);
        name->rank = party->rank;
        name->node = party->node;
        name->range = range;
        name->until = until;
        name->next = names;
        names = name;
    }
    if (pack_ends(in) && count)
        return names;
    pmi_service_names_free(names);
    return NULL;
}

static enum reply_status publish_lookup_add(struct pmi_service *service,
                                            struct published_name *fresh)
{
    uint64_t since = name_store_last_id(service);
    enum reply_status status = name_store_add(service, fresh);
    if (status == REPLY_OK)
        lookups_try(service, &since);
    return status;
}

int publish_lookup_take_publish(struct pmi_service *service, const struct requester *asked,
                                struct message_up *talk)
{
    struct party party;
    bool known = party_of(service, asked, talk, &party);
    struct published_name *fresh = names_read(&talk->rest, &party);
    if (!fresh)
        return -1;
    outbox_reply(service, asked, known ? publish_lookup_add(service, fresh) : REPLY_BAD, NULL);
    if (!known)
        pmi_service_names_free(fresh);
    return 0;
}

/* ---- withdrawn ---- */

struct wish { /* what is to go */
    const struct party *party;
    uint8_t range;   /* RANGE_NRANGES: of any */
    const char *key; /* NULL: all */
};

static bool is_own(const struct published_name *name, const void *what)
{
    const struct wish *wish = what;
    return name->rank == wish->party->rank && strcmp(name->job, wish->party->job) == 0 &&
           (wish->range == RANGE_NRANGES || name->range == wish->range) &&
           (!wish->key || strcmp(name->key, wish->key) == 0);
}

/* Names of other programs are not searched: a task cannot withdraw them. */
static enum reply_status withdraw(struct pmi_service *service, const struct wish *wish)
{
    if (name_store_drop(service, is_own, wish) || !wish->key)
        return REPLY_OK;
    return name_store_find(service, wish->party, RANGE_ALL, wish->key) ? REPLY_NOT_PERMITTED
                                                                       : REPLY_NOT_FOUND;
}

static enum reply_status withdraw_all(struct pmi_service *service, struct wish *wish,
                                      char *const *keys, uint32_t nkeys)
{
    uint32_t good = 0;
    enum reply_status worst = REPLY_OK;
    if (!nkeys)
        return withdraw(service, wish);
    for (uint32_t i = 0; i < nkeys; i++) {
        wish->key = keys[i];
        enum reply_status status = withdraw(service, wish);
        good += status == REPLY_OK;
        worst = status == REPLY_OK ? worst : status;
    }
    return good && good < nkeys ? REPLY_PARTLY : worst;
}

int publish_lookup_take_unpublish(struct pmi_service *service, const struct requester *asked,
                                  struct message_up *talk)
{
    struct pack *in = &talk->rest;
    struct party party;
    struct wish wish = {&party, pack_u8(in), NULL};
    uint32_t nkeys = pack_count(in, 4);
    char **keys = mem_array(nkeys, sizeof(*keys));
    for (uint32_t i = 0; i < nkeys; i++)
        keys[i] = pack_get_text(in);
    bool good = pack_ends(in) && nkeys <= SERVICE_KEYS_MAX && wish.range <= RANGE_NRANGES;
    if (good)
        outbox_reply(service, asked,
                     party_of(service, asked, talk, &party)
                         ? withdraw_all(service, &wish, keys, nkeys)
                         : REPLY_BAD,
                     NULL);
    for (uint32_t i = 0; i < nkeys; i++)
        free(keys[i]);
    free(keys);
    return good ? 0 : -1;
}

/* ---- the end of who has published it ---- */

static bool ends_with_task(const struct published_name *name, const void *what)
{
    const struct party *party = what;
    return name->until == PERSIST_TASK && name->rank == party->rank &&
           strcmp(name->job, party->job) == 0;
}

static void publish_lookup_leave(struct pmi_service *service, const struct party *party)
{
    const struct process_name proc = {(char *)(uintptr_t)party->job, party->rank};
    name_store_drop(service, ends_with_task, party);
    drop(service, is_by, &proc);
}

void publish_lookup_task_ended(struct pmi_service *service, const struct job *job, uint32_t rank)
{
    const struct party party = {.job = job->name, .rank = rank};
    publish_lookup_leave(service, &party);
}

int publish_lookup_take_finalized(struct pmi_service *service, const struct requester *asked,
                                  struct message_up *talk)
{
    struct party party;
    if (!pack_ends(&talk->rest))
        return -1;
    if (party_of(service, asked, talk, &party))
        publish_lookup_leave(service, &party);
    return 0;
}

static bool ends_with_job(const struct published_name *name, const void *job)
{
    return (name->until == PERSIST_TASK || name->until == PERSIST_JOB) &&
           strcmp(name->job, job) == 0;
}

void publish_lookup_job_removed(struct pmi_service *service, const struct job *job)
{
    struct process_name all = {job->name, SERVICE_ALL};
    name_store_drop(service, ends_with_job, job->name);
    drop(service, is_by, &all);
}

/* ---- the owner's ---- */

void pmi_service_names_changed(struct pmi_service *service)
{
    name_store_look_at_others(service);
    lookups_try(service, NULL);
}

/* ---- PMI's tasks ---- */

enum reply_status pmi_service_publish_text(struct pmi_service *service, const char *job,
                                           const char *key, const char *text)
{
    struct published_name *name = pmi_service_name_new(key, text, strlen(text));
    name->text = true;
    name->job = mem_copy_text(job);
    name->rank = SERVICE_SOMEBODY;
    name->node = UINT32_MAX;
    name->range = RANGE_ALL;
    name->until = PERSIST_END;
    return publish_lookup_add(service, name);
}

static bool is_of_pmi(const struct published_name *name, const void *key)
{
    return name->rank == SERVICE_SOMEBODY && strcmp(name->key, key) == 0;
}

enum reply_status pmi_service_unpublish_text(struct pmi_service *service, const char *key)
{
    return name_store_drop(service, is_of_pmi, key) ? REPLY_OK : REPLY_NOT_FOUND;
}

enum reply_status pmi_service_lookup_text(struct pmi_service *service, const char *job,
                                          const char *key, char **text)
{
    const struct party party = {job, SERVICE_SOMEBODY, UINT32_MAX};
    const struct published_name *own = name_store_find(service, &party, RANGE_ALL, key);
    if (!own)
        name_store_look_at_others(service);
    const struct published_name *name = own ? own : name_store_find_other(service, key);
    if (name && !name->text)
        return REPLY_UNSUPPORTED;
    bool good = name && name_store_consume(service, name);
    if (good)
        *text = mem_copy_text(name->value);
    if (own && own->until == PERSIST_READ)
        name_store_drop(service, is_that, own);
    return good ? REPLY_OK : REPLY_NOT_FOUND;
}

/* ---- life ---- */

static bool is_any(struct pmi_service *service, const struct lookup *lookup, const void *what)
{
    (void)service, (void)lookup, (void)what;
    return true;
}

void publish_lookup_open(struct pmi_service *service)
{
    name_store_open(service);
    service->lookups = mem_alloc(sizeof(*service->lookups));
}

void publish_lookup_close(struct pmi_service *service)
{
    drop(service, is_any, NULL);
    free(service->lookups);
    name_store_close(service);
}
