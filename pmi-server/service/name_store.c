/* What is published: the store. */
#include "pmi-server/service/name_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pmi-server/service/internal.h"

/* ---- one ---- */

struct hub_name *hub_name_new(const char *key, const void *value, size_t len)
{
    struct hub_name *name = mem_alloc(sizeof(*name));
    name->key = mem_copy_text(key);
    name->value = mem_copy_text_n(value, len);
    name->len = len;
    return name;
}

static struct hub_name *name_free(struct hub_name *name)
{
    struct hub_name *next = name->next;
    free(name->key);
    free(name->value);
    free(name->job);
    free(name);
    return next;
}

void hub_names_free(struct hub_name *names)
{
    while (names)
        names = name_free(names);
}

static size_t size_of(const struct hub_name *name)
{
    return strlen(name->key) + name->len;
}

/* ---- who finds it ---- */

static bool within(enum hub_range range, const struct party *a, const struct party *b)
{
    switch (range) {
    case HUB_TO_TASK:
        return a->rank == b->rank && !strcmp(a->job, b->job);
    case HUB_TO_NODE:
        return a->node == b->node;
    case HUB_TO_JOB:
        return !strcmp(a->job, b->job);
    default:
        return true;
    }
}

static struct party publisher(const struct hub_name *name)
{
    return (struct party){name->job, name->rank, name->node};
}

struct hub_name *names_find(const struct hub *hub, const struct party *party, enum hub_range range,
                            const char *key)
{
    struct hub_name *best = NULL;
    for (struct hub_name *name = hub->names.first; name; name = name->next) {
        struct party its = publisher(name);
        if (strcmp(name->key, key) == 0 && within(name->range, &its, party) &&
            within(range, &its, party) && (!best || name->range < best->range))
            best = name;
    }
    return best;
}

const struct hub_name *names_find_other(const struct hub *hub, const char *key)
{
    const struct hub_name *name = hub->names.others;
    while (name && strcmp(name->key, key) != 0)
        name = name->next;
    return name;
}

/* ---- gone ---- */

/* Where it is linked. */
static void remove_at(struct hub *hub, struct hub_name **at)
{
    struct hub_name *name = *at;
    hub->names.count--;
    hub->names.bytes -= size_of(name);
    *at = name_free(name);
}

static bool is_shown(const struct hub *hub, const struct hub_name *name)
{
    return hub->names.ops && name->range == HUB_TO_ALL;
}

size_t names_drop(struct hub *hub, bool (*goes)(const struct hub_name *name, const void *what),
                  const void *what)
{
    size_t count = 0, shown = 0;
    for (struct hub_name **at = &hub->names.first; *at;) {
        if (!goes(*at, what)) {
            at = &(*at)->next;
            continue;
        }
        shown += is_shown(hub, *at);
        names_take(hub, *at); /* if it is still there nobody may have it now */
        remove_at(hub, at);
        count++;
    }
    if (shown)
        hub->names.ops->show(hub->names.arg, 0);
    return count;
}

bool names_take(const struct hub *hub, const struct hub_name *name)
{
    return name->until != HUB_UNTIL_READ || !is_shown(hub, name) ||
           hub->names.ops->take(hub->names.arg, name);
}

/* ---- published ---- */

static bool meets(const struct hub_name *a, const struct hub_name *b)
{
    struct party of_a = publisher(a), of_b = publisher(b);
    return a->range == b->range && strcmp(a->key, b->key) == 0 && within(a->range, &of_a, &of_b);
}

/* What another program has read is gone, which nobody says. */
static bool is_read(const struct hub *hub, const struct hub_name *name)
{
    return name->until == HUB_UNTIL_READ && is_shown(hub, name) &&
           !hub->names.ops->kept(hub->names.arg, name);
}

static bool is_taken(struct hub *hub, const struct hub_name *fresh)
{
    for (struct hub_name **at = &hub->names.first; *at;) {
        bool same = meets(*at, fresh);
        if (same && !is_read(hub, *at))
            return true;
        if (same)
            remove_at(hub, at);
        else
            at = &(*at)->next;
    }
    return false;
}

static enum hub_status check(struct hub *hub, const struct hub_name *fresh)
{
    size_t count = hub->names.count, bytes = hub->names.bytes;
    for (const struct hub_name *name = fresh; name; name = name->next) {
        if (is_taken(hub, name))
            return HUB_EXISTS;
        for (const struct hub_name *other = fresh; other != name; other = other->next)
            if (meets(other, name))
                return HUB_EXISTS;
        count++;
        bytes += size_of(name);
    }
    return count > HUB_NAMES_MAX || bytes > HUB_NAMES_BYTES ? HUB_FULL : HUB_OK;
}

enum hub_status names_add(struct hub *hub, struct hub_name *fresh)
{
    struct names *names = &hub->names;
    struct hub_name **last = &fresh;
    size_t count = 0;
    bool shown = false;
    enum hub_status status = check(hub, fresh);
    if (status != HUB_OK) {
        hub_names_free(fresh);
        return status;
    }
    for (; *last; last = &(*last)->next, count++) {
        (*last)->id = ++names->ids;
        names->bytes += size_of(*last);
        shown = shown || is_shown(hub, *last);
    }
    names->count += count;
    *last = names->first;
    names->first = fresh;
    int rc = shown ? names->ops->show(names->arg, count) : 0;
    for (; rc && count; count--)
        remove_at(hub, &names->first);
    return rc > 0 ? HUB_EXISTS : rc < 0 ? HUB_FULL : HUB_OK;
}

/* ---- the owner's ---- */

void hub_names_use(struct hub *hub, const struct hub_names_ops *ops, void *arg)
{
    hub->names.ops = ops;
    hub->names.arg = arg;
}

const struct hub_name *hub_names(const struct hub *hub)
{
    return hub->names.first;
}

void hub_names_changed(struct hub *hub)
{
    hub->names.others = hub->names.ops->others(hub->names.arg);
    lookups_try(hub, NULL);
}
