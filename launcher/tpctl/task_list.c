/* Tasks in lines: ranks, hosts, processes, states, processor time, memory. */
#include "launcher/tpctl/task_list.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "affinity/sets/idset.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/printable.h"
#include "launcher/tpctl/tpctl.h"

struct task_row {
    const char *host; /* borrowed */
    struct task_sample task;
};

struct task_rows {
    struct task_row *list;
    size_t count;
};

#define NOT_STARTED 'N' /* in place of a state of proc(5) */

static const char *state_word(char state)
{
    switch (state) {
    case 'R':
        return "running";
    case 'S':
    case 'I':
        return "sleeping";
    case 'D':
        return "blocked";
    case 'T':
    case 't':
        return "stopped";
    case 'Z':
    case 'X':
        return "ended";
    case NOT_STARTED:
        return "waiting";
    default:
        return "other";
    }
}

static int compare_rows(const void *a, const void *b)
{
    const struct task_row *x = a, *y = b;
    return x->task.rank < y->task.rank ? -1 : x->task.rank > y->task.rank;
}

static void rows_add(struct task_rows *rows, const char *host, const struct task_sample *task)
{
    rows->list = array_grow(rows->list, rows->count, sizeof(*rows->list));
    rows->list[rows->count++] = (struct task_row){host, *task};
}

/* By rank, or as the hosts come. */
static struct task_rows rows_of(const struct control_answer *answer, bool by_rank)
{
    struct task_rows rows = {0};
    for (size_t i = 0; i < answer->nnodes; i++) {
        const struct control_node *node = &answer->nodes[i];
        for (size_t j = 0; j < node->tasks.ntasks; j++)
            rows_add(&rows, node->host, &node->tasks.tasks[j]);
        IDSET_FOREACH(rank, node->tasks.waiting)
        rows_add(&rows, node->host, &(struct task_sample){.rank = rank, .state = NOT_STARTED});
    }
    if (by_rank && rows.count)
        qsort(rows.list, rows.count, sizeof(*rows.list), compare_rows);
    return rows;
}

/* ---- cells ---- */

static char *time_text(uint64_t ms)
{
    return tpctl_duration_text((double)ms / 1000);
}

static char *memory_text(uint64_t kib)
{
    return mem_format("%.1fM", (double)kib / 1024);
}

/* "A", or "A-B" where they differ; takes both. */
static char *span_text(char *least, char *most)
{
    char *text = strcmp(least, most) == 0 ? mem_copy_text(least) : mem_format("%s-%s", least, most);
    free(least);
    free(most);
    return text;
}

/* ---- tables ---- */

enum { COLUMNS = 6 };

struct table { /* cells are owned */
    char *(*lines)[COLUMNS];
    size_t nlines;
};

static char **table_add(struct table *table)
{
    table->lines = array_grow(table->lines, table->nlines, sizeof(*table->lines));
    return table->lines[table->nlines++];
}

static void titles(struct table *table, const char *const names[COLUMNS])
{
    char **cells = table_add(table);
    for (int i = 0; i < COLUMNS; i++)
        cells[i] = mem_copy_text(names[i]);
}

static char *shown_host(const char *host)
{
    struct buf text = BUF_INIT;
    printable_add(&text, host, strlen(host), PRINTABLE_WORD);
    return buf_take_text(&text);
}

static void table_task(struct table *table, const struct task_row *row)
{
    const struct task_sample *task = &row->task;
    char **cells = table_add(table);
    bool waits = task->state == NOT_STARTED;
    cells[0] = mem_format("%u", task->rank);
    cells[1] = shown_host(row->host);
    cells[2] = waits ? mem_copy_text("-") : mem_format("%u", task->pid);
    cells[3] = mem_copy_text(state_word(task->state));
    cells[4] = waits ? mem_copy_text("-") : time_text(task->cpu_ms);
    cells[5] = waits ? mem_copy_text("-") : memory_text(task->memory_kib);
}

/* `count` rows of one host and one state. */
static void table_alike(struct table *table, const struct task_row *rows, size_t count)
{
    struct idset *ranks = idset_new();
    struct task_sample least = rows->task, most = rows->task;
    for (size_t i = 0; i < count; i++) {
        const struct task_sample *task = &rows[i].task;
        idset_add(ranks, task->rank);
        least.cpu_ms = task->cpu_ms < least.cpu_ms ? task->cpu_ms : least.cpu_ms;
        most.cpu_ms = task->cpu_ms > most.cpu_ms ? task->cpu_ms : most.cpu_ms;
        least.memory_kib =
            task->memory_kib < least.memory_kib ? task->memory_kib : least.memory_kib;
        most.memory_kib = task->memory_kib > most.memory_kib ? task->memory_kib : most.memory_kib;
    }
    char **cells = table_add(table);
    bool waits = rows->task.state == NOT_STARTED;
    cells[0] = idset_encode(ranks);
    cells[1] = shown_host(rows->host);
    cells[2] = mem_format("%zu", count);
    cells[3] = mem_copy_text(state_word(rows->task.state));
    cells[4] =
        waits ? mem_copy_text("-") : span_text(time_text(least.cpu_ms), time_text(most.cpu_ms));
    cells[5] = waits ? mem_copy_text("-")
                     : span_text(memory_text(least.memory_kib), memory_text(most.memory_kib));
    idset_free(ranks);
}

static int compare_states(const void *a, const void *b)
{
    const struct task_row *x = a, *y = b;
    int order = strcmp(state_word(x->task.state), state_word(y->task.state));
    return order ? order : compare_rows(a, b);
}

/* Of one host, `count` rows that begin here. */
static void table_host(struct table *table, struct task_row *rows, size_t count)
{
    size_t first = 0;
    qsort(rows, count, sizeof(*rows), compare_states);
    for (size_t i = 1; i <= count; i++) {
        if (i < count && state_word(rows[i].task.state) == state_word(rows[first].task.state))
            continue;
        table_alike(table, rows + first, i - first);
        first = i;
    }
}

static void table_print(struct table *table, struct buf *out)
{
    size_t widths[COLUMNS] = {0};
    for (size_t i = 0; i < table->nlines; i++)
        for (int j = 0; j < COLUMNS; j++)
            if (strlen(table->lines[i][j]) > widths[j])
                widths[j] = strlen(table->lines[i][j]);
    for (size_t i = 0; i < table->nlines; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            char *cell = table->lines[i][j];
            if (j == COLUMNS - 1)
                buf_printf(out, "%s\n", cell);
            else
                buf_printf(out, "%-*s  ", (int)widths[j], cell);
            free(cell);
        }
    }
    free(table->lines);
}

void task_list_text(struct buf *out, const struct control_answer *answer)
{
    static const char *const each[COLUMNS] = {"RANK", "HOST", "PID", "STATE", "CPU TIME", "MEMORY"};
    static const char *const alike[COLUMNS] = {"RANKS", "HOST",     "TASKS",
                                               "STATE", "CPU TIME", "MEMORY"};
    size_t count = 0;
    for (size_t i = 0; i < answer->nnodes; i++)
        count += answer->nodes[i].tasks.ntasks + idset_count(answer->nodes[i].tasks.waiting);
    struct table table = {0};
    struct task_rows rows = rows_of(answer, count <= TASK_LIST_MAX);
    titles(&table, count <= TASK_LIST_MAX ? each : alike);
    for (size_t i = 0, next; i < rows.count; i = next) {
        next = i + 1;
        if (count <= TASK_LIST_MAX) {
            table_task(&table, &rows.list[i]);
            continue;
        }
        while (next < rows.count && rows.list[next].host == rows.list[i].host)
            next++;
        table_host(&table, &rows.list[i], next - i);
    }
    table_print(&table, out);
    free(rows.list);
}

/* ---- JSON ---- */

static json_t *task_json(const struct task_row *row)
{
    const struct task_sample *task = &row->task;
    json_t *value = json_pack("{s:I, s:s, s:s}", "rank", (json_int_t)task->rank, "host", row->host,
                              "state", state_word(task->state));
    if (task->state != NOT_STARTED)
        json_object_update_new(value, json_pack("{s:I, s:f, s:I}", "pid", (json_int_t)task->pid,
                                                "cputime", (double)task->cpu_ms / 1000, "rss_kib",
                                                (json_int_t)task->memory_kib));
    return value;
}

json_t *task_list_json(const struct control_answer *answer, const char *program)
{
    struct task_rows rows = rows_of(answer, true);
    struct hostlist *silent = hostlist_decode(answer->silent ? answer->silent : "", NULL);
    json_t *tasks = json_array(), *hosts = json_array();
    for (size_t i = 0; i < rows.count; i++)
        json_array_append_new(tasks, task_json(&rows.list[i]));
    for (size_t i = 0; silent && i < hostlist_count(silent); i++)
        json_array_append_new(hosts, json_string(hostlist_nth(silent, i)));
    hostlist_free(silent);
    free(rows.list);
    return json_pack("{s:i, s:s, s:o, s:o}", "version", 1, "program", program, "tasks", tasks,
                     "silent", hosts);
}
