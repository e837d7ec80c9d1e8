/* What else tasks say of names: published, withdrawn. And PMI's tasks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/hub/inside.h"

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
