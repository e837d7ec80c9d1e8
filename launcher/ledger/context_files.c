/* Files that programs of the instance have written, for others to read, and to take away. */
#include "launcher/ledger/context_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "launcher/ledger/claims_file.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/ledger_entry_private.h"
#include "launcher/ledger/private_directory.h"

#define FILE_MAX (16u << 20) /* bytes */

/* Appends what program `number` has there, if it lives and has: values one after the other, the last of
 * which may be half written. */
static void add_file(struct instance *instance, uint64_t number, const char *name, json_t *list)
{
    char path[320];
    size_t len;
    int size = snprintf(path, sizeof(path), "%llu/%s", (unsigned long long)number, name);
    if (size < 0 || size >= (int)sizeof(path))
        return;
    char *text = private_directory_read(instance->programs, path, FILE_MAX, &len);
    if (text && ledger_is_alive(instance, number)) {
        const char *rest = text;
        json_t *values = json_array(), *value;
        json_error_t at;
        while ((value = json_loadb(rest, len, JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK, &at))) {
            json_array_append_new(values, value);
            rest += at.position;
            len -= (size_t)at.position;
        }
        json_array_append_new(list, values);
    }
    free(text);
}

json_t *instance_read(struct instance *instance, const struct ledger_entry *but, const char *name,
                      struct error *err)
{
    int fd = openat(instance->programs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    json_t *list = dir ? json_array() : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        error_set(err, "cannot read %s/programs", instance->path);
        return NULL;
    }
    for (const struct dirent *entry; (entry = readdir(dir));) {
        uint64_t number;
        if (number_parse(entry->d_name, UINT64_MAX - 1, &number) && !(but && number == but->number))
            add_file(instance, number, name, list);
    }
    closedir(dir);
    return list;
}

int entry_append(struct ledger_entry *entry, const char *name, const json_t *json,
                 struct error *err)
{
    int fd = openat(entry->dir, name, O_WRONLY | O_APPEND | O_CLOEXEC);
    char *text = json_dumps(json, JSON_COMPACT);
    size_t len = text ? strlen(text) : 0;
    int rc = fd >= 0 && text && write(fd, text, len) == (ssize_t)len ? 0 : -1;
    if (rc < 0)
        error_set(err, "cannot write %s/%s: %s", entry->path, name, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(text);
    return rc;
}

/* ---- marks ---- */

int entry_mark(struct ledger_entry *entry, const char *name, struct error *err)
{
    int fd = openat(entry->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set(err, "cannot make %s/%s: %s", entry->path, name, strerror(errno));
    close(fd);
    return 0;
}

/* False: it is no program. */
static bool mark_path(char *path, size_t size, const char *program, const char *name)
{
    int len = snprintf(path, size, "%s/%s", program, name);
    return *program && !program[strspn(program, "0123456789")] && len > 0 && (size_t)len < size;
}

bool instance_is_marked(const struct instance *instance, const char *program, const char *name)
{
    char path[320];
    return mark_path(path, sizeof(path), program, name) &&
           faccessat(instance->programs, path, F_OK, 0) == 0;
}

bool instance_take_mark(struct instance *instance, const char *program, const char *name)
{
    char path[320];
    return mark_path(path, sizeof(path), program, name) &&
           unlinkat(instance->programs, path, 0) == 0;
}
