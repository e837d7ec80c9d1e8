/* What is published: the store. */
#include "pmi-server/service/name_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/service/context.h"
#include "pmi-server/service/name_store_private.h"

struct name_store {
    struct published_name *first; /* the newest */
    size_t count, bytes;
    uint64_t ids; /* that were given */
    const struct pmi_service_names_ops *ops;
    void *arg;
    const struct published_name *others; /* as they were when they were asked for last */
    bool watched;
};

/* ---- one ---- */

struct published_name *pmi_service_name_new(const char *key, const void *value, size_t len)
{
    struct published_name *name = mem_alloc(sizeof(*name));
    name->key = mem_copy_text(key);
    name->value = mem_copy_text_n(value, len);
    name->len = len;
    return name;
}

static struct published_name *name_free(struct published_name *name)
{
    struct published_name *next = name->next;
    free(name->key);
    free(name->value);
    free(name->job);
    free(name);
    return next;
}

void pmi_service_names_free(struct published_name *names)
{
    while (names)
        names = name_free(names);
}

static size_t size_of(const struct published_name *name)
{
    return strlen(name->key) + name->len;
}

/* ---- who finds it ---- */

static bool within(enum publish_range range, const struct party *a, const struct party *b)
{
    switch (range) {
    case RANGE_TASK:
        return a->rank == b->rank && !strcmp(a->job, b->job);
    case RANGE_NODE:
        return a->node == b->node;
    case RANGE_JOB:
        return !strcmp(a->job, b->job);
    default:
        return true;
    }
}

static struct party publisher(const struct published_name *name)
{
    return (struct party){name->job, name->rank, name->node};
}

struct published_name *name_store_find(const struct pmi_service *service, const struct party *party,
                                       enum publish_range range, const char *key)
{
    struct published_name *best = NULL;
    for (struct published_name *name = service->name_store->first; name; name = name->next) {
        struct party its = publisher(name);
        if (strcmp(name->key, key) == 0 && within(name->range, &its, party) &&
            within(range, &its, party) && (!best || name->range < best->range))
            best = name;
    }
    return best;
}

const struct published_name *name_store_find_other(const struct pmi_service *service,
                                                   const char *key)
{
    const struct published_name *name = service->name_store->others;
    while (name && strcmp(name->key, key) != 0)
        name = name->next;
    return name;
}

/* ---- gone ---- */

/* Where it is linked. */
static void remove_at(struct pmi_service *service, struct published_name **at)
{
    struct published_name *name = *at;
    service->name_store->count--;
    service->name_store->bytes -= size_of(name);
    *at = name_free(name);
}

static bool is_shown(const struct pmi_service *service, const struct published_name *name)
{
    return service->name_store->ops && name->range == RANGE_ALL;
}

size_t name_store_drop(struct pmi_service *service,
                       bool (*goes)(const struct published_name *name, const void *what),
                       const void *what)
{
    size_t count = 0, shown = 0;
    for (struct published_name **at = &service->name_store->first; *at;) {
        if (!goes(*at, what)) {
            at = &(*at)->next;
            continue;
        }
        shown += is_shown(service, *at);
        name_store_consume(service, *at); /* if it is still there nobody may have it now */
        remove_at(service, at);
        count++;
    }
    if (shown)
        service->name_store->ops->show(service->name_store->arg, 0);
    return count;
}

bool name_store_consume(const struct pmi_service *service, const struct published_name *name)
{
    return name->until != PERSIST_READ || !is_shown(service, name) ||
           service->name_store->ops->take(service->name_store->arg, name);
}

/* ---- published ---- */

static bool meets(const struct published_name *a, const struct published_name *b)
{
    struct party of_a = publisher(a), of_b = publisher(b);
    return a->range == b->range && strcmp(a->key, b->key) == 0 && within(a->range, &of_a, &of_b);
}

static bool is_taken(struct pmi_service *service, const struct published_name *fresh)
{
    const struct name_store *names = service->name_store;
    for (struct published_name **at = &service->name_store->first; *at;) {
        if (!meets(*at, fresh)) {
            at = &(*at)->next;
            continue;
        }
        /* What another program has read is gone, which nobody says. */
        if ((*at)->until != PERSIST_READ || !is_shown(service, *at) ||
            names->ops->kept(names->arg, *at))
            return true;
        remove_at(service, at);
    }
    return false;
}

static enum reply_status name_store_check(struct pmi_service *service,
                                          const struct published_name *fresh)
{
    size_t count = service->name_store->count, bytes = service->name_store->bytes;
    for (const struct published_name *name = fresh; name; name = name->next) {
        if (is_taken(service, name))
            return REPLY_EXISTS;
        for (const struct published_name *other = fresh; other != name; other = other->next)
            if (meets(other, name))
                return REPLY_EXISTS;
        count++;
        bytes += size_of(name);
    }
    return count > SERVICE_NAMES_MAX || bytes > SERVICE_NAMES_BYTES ? REPLY_FULL : REPLY_OK;
}

enum reply_status name_store_add(struct pmi_service *service, struct published_name *fresh)
{
    struct name_store *names = service->name_store;
    struct published_name **last = &fresh;
    size_t count = 0;
    bool shown = false;
    enum reply_status status = name_store_check(service, fresh);
    if (status != REPLY_OK) {
        pmi_service_names_free(fresh);
        return status;
    }
    for (; *last; last = &(*last)->next, count++) {
        (*last)->id = ++names->ids;
        names->bytes += size_of(*last);
        shown = shown || is_shown(service, *last);
    }
    names->count += count;
    *last = names->first;
    names->first = fresh;
    int rc = shown ? names->ops->show(names->arg, count) : 0;
    for (; rc && count; count--)
        remove_at(service, &names->first);
    return rc > 0 ? REPLY_EXISTS : rc < 0 ? REPLY_FULL : REPLY_OK;
}

/* ---- the owner's ---- */

void pmi_service_names_use(struct pmi_service *service, const struct pmi_service_names_ops *ops,
                           void *arg)
{
    service->name_store->ops = ops;
    service->name_store->arg = arg;
}

const struct published_name *pmi_service_names(const struct pmi_service *service)
{
    return service->name_store->first;
}

void name_store_look_at_others(struct pmi_service *service)
{
    struct name_store *names = service->name_store;
    if (names->ops)
        names->others = names->ops->others(names->arg);
}

void name_store_watch_others(struct pmi_service *service, bool on)
{
    struct name_store *names = service->name_store;
    if (on == names->watched || !names->ops)
        return;
    names->watched = on;
    names->ops->watch(names->arg, on);
}

uint64_t name_store_last_id(const struct pmi_service *service)
{
    return service->name_store->ids;
}

/* ---- life ---- */

void name_store_open(struct pmi_service *service)
{
    service->name_store = mem_alloc(sizeof(*service->name_store));
}

void name_store_close(struct pmi_service *service)
{
    pmi_service_names_free(service->name_store->first);
    free(service->name_store);
}
