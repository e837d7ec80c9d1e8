/* One process as the kernel shows it below /proc, for those who list and signal processes. */
#include "launcher/process/process.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

/* Behind the bracket at which a name begins in /proc/PID/stat. */
static bool name_is(const char *at, const char *name)
{
    size_t len = strlen(name);
    return strncmp(at, name, len) == 0 && at[len] == ')';
}

bool process_read(pid_t pid, struct process *process)
{
    char path[64], state = 'X';
    struct buf text = BUF_INIT;
    int parent = 0, group = 0, fields = 0;
    unsigned long long born = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file_read(path, &text);
    const char *name = strchr(buf_text(&text), '(');
    const char *name_end = strrchr(buf_text(&text), ')'); /* the name may hold anything */
    if (name && name_end)
        fields = sscanf(name_end + 1,
                        " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                        "%llu",
                        &state, &parent, &group, &born);
    bool inner = fields && (name_is(name + 1, PROCESS_MANAGER) || name_is(name + 1, PROCESS_HOOK));
    bool nursery = fields && name_is(name + 1, PROCESS_NURSERY);
    buf_free(&text);
    *process = (struct process){.pid = pid,
                                .parent = parent,
                                .group = group,
                                .born = born,
                                .inner = inner,
                                .nursery = nursery};
    return fields == 4 && state != 'Z' && state != 'X';
}

/* The number of the first signal is that of the lowest bit. */
#define BIT(number) (UINT64_C(1) << ((number)-1))
/* All that have names, but for those that cannot be blocked. */
#define ALL_SIGNALS (UINT64_C(0x7fffffff) & ~BIT(SIGKILL) & ~BIT(SIGSTOP))

/* One of the sets of /proc/PID/status. */
static uint64_t signal_set(const char *status, const char *name)
{
    const char *line = strstr(status, name);
    return line ? strtoull(line + strlen(name), NULL, 16) : 0;
}

bool process_catches(pid_t pid, int number)
{
    char path[64];
    struct buf text = BUF_INIT;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file_read(path, &text);
    uint64_t caught = signal_set(buf_text(&text), "\nSigCgt:");
    uint64_t blocked = signal_set(buf_text(&text), "\nSigBlk:");
    buf_free(&text);
    if ((blocked & ALL_SIGNALS) == ALL_SIGNALS)
        blocked = 0;
    return (caught | blocked) & BIT(number);
}

pid_t *process_children(pid_t pid, size_t *count)
{
    char path[64];
    struct buf text = BUF_INIT;
    pid_t *list = NULL;
    *count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    if (!threads)
        return NULL;
    for (struct dirent *entry; (entry = readdir(threads));) {
        if (entry->d_name[0] == '.')
            continue;
        char *file = mem_format("%s/%s/children", path, entry->d_name);
        file_read(file, &text);
        free(file);
    }
    closedir(threads);
    /* "12 34 " */
    char *end = NULL;
    for (const char *at = buf_text(&text);; at = end) {
        pid_t child = (pid_t)strtol(at, &end, 10);
        if (end == at)
            break;
        list = array_grow(list, *count, sizeof(*list));
        list[(*count)++] = child;
    }
    buf_free(&text);
    return list;
}

bool process_is_listed(pid_t pid, const pid_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == pid)
            return true;
    return false;
}
