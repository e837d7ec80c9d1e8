/* Names that tasks publish: for the groups of this program, and for the other programs of the
 * instance. They are in the program's directory, and so gone with it. One program at a time looks
 * for a name and publishes it; who looks one up waits for nobody. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/manager/state.h"
#include "launcher/program/json_field.h"

#define NAMES_FILE "names.json"
#define NAMES_LOCK "names"

static struct pair *find(const struct manager *manager, const char *name)
{
    for (size_t i = 0; i < manager->nnames; i++)
        if (strcmp(manager->names[i].key, name) == 0)
            return &manager->names[i];
    return NULL;
}

static int save(struct manager *manager, struct error *err)
{
    json_t *value = pairs_to_json(manager->names, manager->nnames);
    int rc = program_write(manager->program, NAMES_FILE, value, err);
    json_decref(value);
    return rc;
}

/* Among a program's; the port, which the caller frees, or NULL. */
static char *find_in(const json_t *list, const char *name)
{
    struct pair *pairs;
    size_t count;
    char *port = NULL;
    if (pairs_from_json(&pairs, &count, list, "names", NULL) == 0)
        for (size_t i = 0; i < count && !port; i++)
            if (strcmp(pairs[i].key, name) == 0)
                port = mem_copy_text(pairs[i].value);
    pairs_free(pairs, count);
    return port;
}

/* Of another program that lives. */
static char *find_elsewhere(const struct manager *manager, const char *name)
{
    char *port = NULL;
    json_t *lists = instance_read(manager->instance, NAMES_FILE, NULL), *list;
    size_t i;
    json_array_foreach(lists, i, list)
    {
        if (!port)
            port = find_in(list, name);
    }
    json_decref(lists);
    return port;
}

static void drop(struct manager *manager, struct pair *own)
{
    free(own->key);
    free(own->value);
    *own = manager->names[--manager->nnames];
}

/* While no other program does. */
static int publish(struct manager *manager, const char *name, const char *port, struct error *err)
{
    char *elsewhere = find(manager, name) ? NULL : find_elsewhere(manager, name);
    bool there = elsewhere || find(manager, name);
    free(elsewhere);
    if (there)
        return error_set(err, "the name \"%s\" is published already", name);
    manager->names = mem_resize(manager->names, manager->nnames + 1, sizeof(*manager->names));
    manager->names[manager->nnames++] = (struct pair){mem_copy_text(name), mem_copy_text(port)};
    if (save(manager, err) == 0)
        return 0;
    drop(manager, &manager->names[manager->nnames - 1]);
    return -1;
}

int names_publish(struct manager *manager, const char *name, const char *port, struct error *err)
{
    if (manager->nnames == PAIRS_MAX)
        return error_set(err, "more than %d names are published", PAIRS_MAX);
    int lock = instance_exclude(manager->instance, NAMES_LOCK, err);
    if (lock < 0)
        return -1;
    int rc = publish(manager, name, port, err);
    close(lock);
    return rc;
}

char *names_lookup(struct manager *manager, const char *name, struct error *err)
{
    const struct pair *own = find(manager, name);
    char *port = own ? mem_copy_text(own->value) : find_elsewhere(manager, name);
    if (!port)
        error_set(err, "the name \"%s\" is not published", name);
    return port;
}

int names_unpublish(struct manager *manager, const char *name, struct error *err)
{
    struct pair *own = find(manager, name);
    if (!own)
        return error_set(err, "this program did not publish the name \"%s\"", name);
    drop(manager, own);
    return save(manager, err);
}
