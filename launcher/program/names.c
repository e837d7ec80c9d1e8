/* Names that tasks publish, for the service of the program: files in the ledger that other programs read.
 *
 * A program looks for a name and publishes it while it holds the lock of that name. Another that wants to
 * publish the same name just then is told that it is published already: nobody waits. */
#include "launcher/program/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/ledger/context_files.h"
#include "launcher/ledger/instance_lock.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/spec/field.h"
#include "pmi-server/service/name_store.h"
#include "pmi-server/service/publish_lookup.h"

#define NAMES_FILE "names.json"
#define NAMES_LOCK "names"
#define NAMES_MARK 48     /* bytes of a mark's name */
#define POLL_FIRST 0.02   /* s to a look at what others have published, while somebody waits */
#define POLL_LONGEST 0.25 /* s; each time twice as long */

#define APPENDED_MAX 256 /* names more than there are, before all are written anew */

struct names {
    struct ev_loop *loop;
    struct pmi_service *service;
    const struct names_ops *ops;
    void *owner;
    struct instance *instance;
    struct ledger_entry *entry; /* NULL: there is no program to show names of */
    json_t *lists;              /* of other programs, as they were read */
    struct published_name *others;
    bool changed; /* they have, since the service tried those that wait */
    ev_timer poll;
    double pause;
    bool written;    /* this program's for others; those since then are appended */
    size_t appended; /* some of which may have been read */
};

/* ---- of this program, for others ---- */

static void mark_name(char *mark, const struct published_name *name)
{
    snprintf(mark, NAMES_MARK, "name.%" PRIu64, name->id);
}

static json_t *name_to_json(const struct published_name *name)
{
    json_t *value = json_pack("{s:o, s:o, s:I}", "key", text_to_json(name->key), "job",
                              text_to_json(name->job), "rank", (json_int_t)name->rank);
    if (name->text)
        json_object_set_new(value, "text", text_to_json(name->value));
    else
        json_object_set_new(value, "bytes", bytes_to_json(name->value, name->len));
    if (name->until == PERSIST_READ)
        json_object_set_new(value, "once", json_integer((json_int_t)name->id));
    return value;
}

/* All of them, anew. */
static int save(struct names *names, struct error *err)
{
    json_t *list = json_array();
    for (const struct published_name *name = pmi_service_names(names->service); name;
         name = name->next)
        if (name->range == RANGE_ALL)
            json_array_append_new(list, name_to_json(name));
    json_t *value = json_pack("{s:s, s:O}", "program", entry_id(names->entry), "names", list);
    int rc = entry_write(names->entry, NAMES_FILE, value, err);
    names->written = rc == 0;
    names->appended = 0;
    json_decref(value);
    json_decref(list);
    return rc;
}

/* The first `fresh` of them, behind what was written. */
static int names_append(struct names *names, size_t fresh, struct error *err)
{
    int rc = 0;
    for (const struct published_name *name = pmi_service_names(names->service); fresh && rc == 0;
         fresh--) {
        json_t *value = name->range == RANGE_ALL ? name_to_json(name) : NULL;
        rc = value ? entry_append(names->entry, NAMES_FILE, value, err) : 0;
        json_decref(value);
        name = name->next;
    }
    names->written = rc == 0;
    return rc;
}

/* More was appended than is worth reading again and again. Counts the fresh ones. */
static bool is_crowded(struct names *names, size_t fresh)
{
    size_t count = 0;
    for (const struct published_name *name = pmi_service_names(names->service); name;
         name = name->next)
        count++;
    return (names->appended += fresh) > count + APPENDED_MAX;
}

static int mark(struct names *names, size_t fresh, struct error *err)
{
    char path[NAMES_MARK];
    int rc = 0;
    for (const struct published_name *name = pmi_service_names(names->service); fresh && rc == 0;
         fresh--) {
        mark_name(path, name);
        if (name->range == RANGE_ALL && name->until == PERSIST_READ)
            rc = entry_mark(names->entry, path, err);
        name = name->next;
    }
    return rc;
}

/* ---- of other programs ---- */

static char *names_text_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value ? text_from_json(value, NULL) : NULL;
}

/* NULL: it is none, or has been read. */
static struct published_name *name_from_json(const struct names *names, uint64_t program,
                                             const json_t *value)
{
    const json_t *once = json_object_get(value, "once");
    char *key = names_text_at(value, "key"), *job = names_text_at(value, "job"),
         *text = names_text_at(value, "text");
    size_t len = 0;
    char *bytes = text ? text : bytes_from_json(json_object_get(value, "bytes"), &len);
    struct published_name *name = NULL;
    if (key && job && bytes && strlen(job) <= SERVICE_NAME_MAX) {
        name = pmi_service_name_new(key, bytes, text ? strlen(bytes) : len);
        name->text = text != NULL;
        name->job = mem_copy_text(job);
        name->rank = (uint32_t)json_integer_value(json_object_get(value, "rank"));
        name->range = RANGE_ALL;
        name->until = once ? PERSIST_READ : PERSIST_END;
        name->id = (uint64_t)json_integer_value(once);
        name->program = program;
    }
    free(bytes);
    free(job);
    free(key);
    if (!name || name->until != PERSIST_READ)
        return name;
    /* What is to be read once is there as long as its mark is. */
    char number[24], path[NAMES_MARK];
    snprintf(number, sizeof(number), "%" PRIu64, program);
    mark_name(path, name);
    if (instance_is_marked(names->instance, number, path))
        return name;
    pmi_service_names_free(name);
    return NULL;
}

static void add_names(const struct names *names, uint64_t program, const json_t *list,
                      struct published_name **others)
{
    size_t i;
    json_t *value;
    json_array_foreach(list, i, value)
    {
        struct published_name *name = name_from_json(names, program, value);
        if (!name)
            continue;
        name->next = *others;
        *others = name;
    }
}

/* Of each program what was written, which names it, and what was appended. */
static struct published_name *names_from_json(const struct names *names, const json_t *lists)
{
    struct published_name *others = NULL;
    size_t i;
    json_t *list;
    json_array_foreach(lists, i, list)
    {
        const json_t *written = json_array_get(list, 0);
        const char *program = json_string_value(json_object_get(written, "program"));
        if (!program)
            continue;
        uint64_t number = strtoull(program, NULL, 10);
        add_names(names, number, json_object_get(written, "names"), &others);
        add_names(names, number, list, &others); /* the first of which is no name */
    }
    return others;
}

/* The names that other programs show now. */
static void read_other_names(struct names *names)
{
    if (!names->entry)
        return;
    json_t *lists = instance_read(names->instance, names->entry, NAMES_FILE, NULL);
    bool same = lists && names->lists && json_equal(lists, names->lists);
    json_decref(names->lists);
    names->lists = lists;
    names->changed |= !same;
}

static const struct published_name *names_of_others(void *arg)
{
    struct names *names = arg;
    read_other_names(names);
    pmi_service_names_free(
        names->others); /* some may have been read though they are still listed */
    return names->others = names_from_json(names, names->lists);
}

/* ---- what the service wants ---- */

/* One that another program has published; NULL: there is none. */
static const char *find_taken(struct names *names, size_t fresh)
{
    read_other_names(names);
    struct published_name *others = names_from_json(names, names->lists);
    const struct published_name *name = pmi_service_names(names->service);
    const char *taken = NULL;
    for (; fresh && !taken; fresh--, name = name->next)
        for (const struct published_name *other = others; other && !taken; other = other->next)
            if (name->range == RANGE_ALL && strcmp(name->key, other->key) == 0)
                taken = name->key;
    pmi_service_names_free(
        others); /* a list of its own: the service may be at the one that it was given */
    return taken;
}

/* Nobody else publishes one of the fresh names at the same time. 1: another program has one of them. */
static int show_fresh(struct names *names, size_t fresh, struct error *err)
{
    const char **keys = mem_array(fresh, sizeof(*keys));
    const struct published_name *name = pmi_service_names(names->service);
    size_t count = 0;
    for (size_t i = 0; i < fresh; i++, name = name->next)
        if (name->range == RANGE_ALL)
            keys[count++] = name->key;
    int lock = instance_exclude(names->instance, NAMES_LOCK, keys, count, err);
    free(keys);
    if (lock < 0)
        return lock == INSTANCE_EXCLUDED ? 1 : -1;
    int rc = find_taken(names, fresh) != NULL;
    if (rc == 0)
        rc = mark(names, fresh, err);
    if (rc == 0 && names->written && !is_crowded(names, fresh))
        rc = names_append(names, fresh, err);
    else if (rc == 0)
        rc = save(names, err);
    close(lock);
    return rc;
}

static int names_show(void *arg, size_t fresh)
{
    struct names *names = arg;
    if (!names->entry)
        return -1;
    struct error err = ERROR_INIT;
    int rc = fresh ? show_fresh(names, fresh, &err) : save(names, &err);
    if (rc < 0) {
        char *text = mem_format("names: %s", error_text(&err));
        names->ops->say(names->owner, text);
        free(text);
    }
    error_clear(&err);
    return rc;
}

static bool names_take(void *arg, const struct published_name *name)
{
    struct names *names = arg;
    char program[24], path[NAMES_MARK];
    if (!names->entry)
        return true;
    snprintf(program, sizeof(program), "%" PRIu64, name->program);
    mark_name(path, name);
    return instance_take_mark(names->instance, name->program ? program : entry_id(names->entry),
                              path);
}

static bool names_kept(void *arg, const struct published_name *name)
{
    struct names *names = arg;
    char path[NAMES_MARK];
    mark_name(path, name);
    return !names->entry || instance_is_marked(names->instance, entry_id(names->entry), path);
}

static void start_poll(struct names *names)
{
    ev_timer_set(&names->poll, names->pause, 0);
    ev_timer_start(names->loop, &names->poll);
    names->pause *= 2;
    if (names->pause > POLL_LONGEST)
        names->pause = POLL_LONGEST;
}

static void on_poll(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct names *names = timer->data;
    (void)loop;
    (void)events;
    start_poll(names); /* which the service stops if nobody waits any more */
    read_other_names(names);
    if (!names->changed)
        return;
    names->changed = false; /* before: it looks again */
    pmi_service_names_changed(names->service);
}

static void names_watch(void *arg, bool on)
{
    struct names *names = arg;
    ev_timer_stop(names->loop, &names->poll);
    names->pause = POLL_FIRST;
    if (on)
        start_poll(names);
}

static const struct pmi_service_names_ops store_ops = {names_show, names_of_others, names_take,
                                                       names_kept, names_watch};

struct names *names_new(struct ev_loop *loop, struct pmi_service *service,
                        const struct names_ops *ops, void *owner)
{
    struct names *names = mem_alloc(sizeof(*names));
    *names = (struct names){.loop = loop, .service = service, .ops = ops, .owner = owner};
    ev_timer_init(&names->poll, on_poll, 0, 0);
    names->poll.data = names;
    pmi_service_names_use(service, &store_ops, names);
    return names;
}

void names_free(struct names *names)
{
    if (!names)
        return;
    ev_timer_stop(names->loop, &names->poll);
    pmi_service_names_free(names->others);
    json_decref(names->lists);
    free(names);
}

void names_set_entry(struct names *names, struct instance *instance, struct ledger_entry *entry)
{
    names->instance = instance;
    names->entry = entry;
}

/* ---- of tasks that speak PMI ---- */

int names_publish(struct names *names, const char *job, const char *name, const char *port,
                  bool *full, struct error *err)
{
    enum reply_status status = pmi_service_publish_text(names->service, job, name, port);
    if (status == REPLY_EXISTS)
        return error_set(err, "the name \"%s\" is published already", name);
    *full = status != REPLY_OK;
    if (*full)
        return error_set(err,
                         "the name \"%s\" cannot be published: %u names of %u KiB are the most",
                         name, SERVICE_NAMES_MAX, SERVICE_NAMES_BYTES / 1024);
    return 0;
}

char *names_lookup(struct names *names, const char *job, const char *name, struct error *err)
{
    char *port = NULL;
    enum reply_status status = pmi_service_lookup_text(names->service, job, name, &port);
    if (status != REPLY_OK)
        error_set(err, "the name \"%s\" is %s", name,
                  status == REPLY_UNSUPPORTED ? "published, but not as a text" : "not published");
    return port;
}

int names_unpublish(struct names *names, const char *name, struct error *err)
{
    if (pmi_service_unpublish_text(names->service, name) == REPLY_OK)
        return 0;
    return error_set(err, "this program did not publish the name \"%s\"", name);
}
