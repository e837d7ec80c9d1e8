/* Files that programs of the instance have written, for others to read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/program/ledger_private.h"
#include "launcher/program/store.h"

#define FILE_MAX (8u << 20) /* bytes */

/* Appends what program `number` has there, if it has. */
static void add_file(const struct instance *instance, uint64_t number, const char *name,
                     json_t *list)
{
    char path[320];
    size_t len;
    if (snprintf(path, sizeof(path), "%llu/%s", (unsigned long long)number, name) >=
        (int)sizeof(path))
        return;
    char *text = store_read(instance->programs, path, FILE_MAX, &len);
    json_t *value = text ? json_loadb(text, len, JSON_ALLOW_NUL, NULL) : NULL;
    if (value)
        json_array_append_new(list, value);
    free(text);
}

json_t *instance_read(struct instance *instance, const char *name, struct error *err)
{
    struct ledger_live live = {0};
    json_t *list = NULL;
    int lock = ledger_lock(instance, err);
    if (lock < 0)
        return NULL;
    if (ledger_sweep(instance, &live, err) == 0) {
        list = json_array();
        for (size_t i = 0; i < live.count; i++)
            add_file(instance, live.numbers[i], name, list);
    }
    close(lock);
    free(live.numbers);
    return list;
}
