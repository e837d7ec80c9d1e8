/* Sets of processes: made, signalled once each, and told in words. */
#include "launcher/process/process_set.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/array.h"
#include "base/mem.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/descendants.h"
#include "launcher/process/process.h"

#define DESCRIBED_MAX 8 /* processes that are named */

static void process_set_append(struct process_set *set, const struct process *process)
{
    set->list = array_grow(set->list, set->count, sizeof(*set->list));
    set->list[set->count++] = *process;
}

/* What has ended may have children still, for a moment. */
static void append_below(struct process_set *set, pid_t pid, bool inner, const pid_t *except,
                         size_t nexcept)
{
    size_t count;
    pid_t *children = process_children(pid, &count);
    for (size_t i = 0; i < count; i++) {
        struct process process;
        if (process_is_listed(children[i], except, nexcept))
            continue;
        bool lives = process_read(children[i], &process);
        process.inner |= inner;
        if (lives)
            process_set_append(set, &process);
        append_below(set, children[i], process.inner, NULL, 0);
    }
    free(children);
}

/* ---- sets ---- */

static int compare(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->born < y->born ? -1 : x->born > y->born;
}

/* An orphan may be seen twice while it gets another parent. */
static void process_set_settle(struct process_set *set)
{
    size_t kept = 0;
    if (set->count)
        qsort(set->list, set->count, sizeof(*set->list), compare);
    for (size_t i = 0; i < set->count; i++)
        if (!kept || compare(&set->list[kept - 1], &set->list[i]) != 0)
            set->list[kept++] = set->list[i];
    set->count = kept;
}

void process_set_add_below(struct process_set *set, const pid_t *except, size_t nexcept)
{
    append_below(set, getpid(), false, except, nexcept);
    process_set_settle(set);
}

void process_set_add_pids(struct process_set *set, const char *pids)
{
    struct process process;
    char *end;
    for (long pid; (pid = strtol(pids, &end, 10)), end != pids; pids = end) {
        if (pid <= 0)
            continue;
        process_read((pid_t)pid, &process);
        process_set_append(set, &process);
    }
    process_set_settle(set);
}

void process_set_add(struct process_set *set, const struct process_set *more)
{
    for (size_t i = 0; i < more->count; i++)
        process_set_append(set, &more->list[i]);
    process_set_settle(set);
}

void process_set_keep_groups(struct process_set *set, const pid_t *groups, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++)
        if (process_is_listed(set->list[i].group, groups, count))
            set->list[kept++] = set->list[i];
    set->count = kept;
}

void process_set_clear(struct process_set *set)
{
    free(set->list);
    *set = (struct process_set){0};
}

bool process_set_has(const struct process_set *set, const struct process *process)
{
    return set && set->count &&
           bsearch(process, set->list, set->count, sizeof(*set->list), compare);
}

/* ---- signals ---- */

static int compare_groups(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return compare(a, b);
}

static int signal_for(pid_t pid, int number)
{
    return number == SIGTSTP && !process_catches(pid, SIGTSTP) ? SIGSTOP : number;
}

/* `count` processes of one group. */
static void signal_group(const struct process *list, size_t count, const struct process_set *done,
                         int number)
{
    bool whole = list->group > 1 && list->group != getpgrp();
    for (size_t i = 0; i < count && whole; i++)
        whole = !process_set_has(done, &list[i]);
    for (size_t i = 0; i < count && whole; i++)
        if (descendants_signal_group(list[i].pid, list->group, signal_for(list[i].pid, number)))
            return;
    for (size_t i = 0; i < count; i++)
        if (!process_set_has(done, &list[i]))
            descendants_signal_one(list[i].pid, signal_for(list[i].pid, number));
}

void process_set_signal(const struct process_set *set, const struct process_set *done, int number)
{
    struct process_set sorted = {0};
    for (size_t i = 0; i < set->count; i++)
        if (number == SIGKILL || !set->list[i].inner)
            process_set_append(&sorted, &set->list[i]);
    if (sorted.count)
        qsort(sorted.list, sorted.count, sizeof(*sorted.list), compare_groups);
    for (size_t i = 0, next; i < sorted.count; i = next) {
        for (next = i + 1; next < sorted.count; next++)
            if (sorted.list[next].group != sorted.list[i].group)
                break;
        signal_group(&sorted.list[i], next - i, done, number);
    }
    process_set_clear(&sorted);
}

/* ---- words ---- */

static void describe_process(const struct process *process, struct buf *out)
{
    char path[64], name[64] = "?", state = '?';
    int user = -1;
    struct buf text = BUF_INIT;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)process->pid);
    file_read(path, &text);
    const char *uid = strstr(buf_text(&text), "\nUid:"), *at = strstr(buf_text(&text), "\nState:");
    sscanf(buf_text(&text), "Name: %63[^\n]", name);
    if (uid)
        sscanf(uid, "\nUid: %*d %d", &user);
    if (at)
        sscanf(at, "\nState: %c", &state);
    buf_printf(out, "%d (%s, uid %d%s)", (int)process->pid, name, user,
               state == 'D' ? ", in an uninterruptible wait" : "");
    buf_free(&text);
}

char *process_set_describe(const struct process_set *set)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < set->count && i < DESCRIBED_MAX; i++) {
        buf_add_text(&out, i ? ", " : "");
        describe_process(&set->list[i], &out);
    }
    if (set->count > DESCRIBED_MAX)
        buf_printf(&out, " and %zu more", set->count - DESCRIBED_MAX);
    return buf_take_text(&out);
}

char *process_set_describe_left(const struct process_set *set, const struct cgroup *cgroup)
{
    struct process_set inside = {0};
    struct buf pids = BUF_INIT;
    if (set->count)
        return process_set_describe(set);
    cgroup_read_pids(cgroup, &pids);
    process_set_add_pids(&inside, buf_text(&pids));
    char *text = inside.count ? process_set_describe(&inside) : mem_copy_text("of its cgroup");
    process_set_clear(&inside);
    buf_free(&pids);
    return text;
}
