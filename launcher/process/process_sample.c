/* Processor time and memory of process groups, by /proc. */
#include "launcher/process/process_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

struct numbered_group {
    pid_t group;
    size_t index;
};

static int compare_numbered(const void *a, const void *b)
{
    const struct numbered_group *x = a, *y = b;
    return x->group < y->group ? -1 : x->group > y->group;
}

/* What of it has ended is zero. */
static void add_process(pid_t pid, bool leads, struct process_sample *sample)
{
    char path[64], state = 'Z';
    struct buf text = BUF_INIT;
    unsigned long long user = 0, system = 0, pages = 0;
    long long children_user = 0, children_system = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file_read(path, &text);
    const char *name_end = strrchr(buf_text(&text), ')'); /* the name may hold anything */
    if (name_end)
        sscanf(name_end + 1,
               " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d %*d %*d "
               "%*u %*u %llu",
               &state, &user, &system, &children_user, &children_system, &pages);
    buf_free(&text);
    uint64_t ticks = user + system + (uint64_t)children_user + (uint64_t)children_system;
    sample->cpu_ms += ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
    sample->memory_kib += pages * (uint64_t)(sysconf(_SC_PAGESIZE) / 1024);
    if (leads)
        sample->state = state;
}

void process_sample_groups(const struct process_set *set, const pid_t *groups, size_t count,
                           struct process_sample *samples)
{
    struct numbered_group *sorted = mem_array(count, sizeof(*sorted));
    for (size_t i = 0; i < count; i++) {
        sorted[i] = (struct numbered_group){groups[i], i};
        samples[i] = (struct process_sample){.state = 'Z'};
    }
    if (count)
        qsort(sorted, count, sizeof(*sorted), compare_numbered);
    for (size_t i = 0; i < set->count && count; i++) {
        const struct numbered_group key = {.group = set->list[i].group};
        const struct numbered_group *found =
            bsearch(&key, sorted, count, sizeof(*sorted), compare_numbered);
        if (found)
            add_process(set->list[i].pid, set->list[i].pid == found->group, &samples[found->index]);
    }
    free(sorted);
}
