/* What happens to a program, as events: for program.c and program_frames.c. */
#include "launcher/program/program_log.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

struct logged_group { /* whose nodes have not all said that they started its tasks */
    struct logged_group *next;
    uint32_t number, nnodes;
    uint32_t *tree_node; /* [nnodes] */
    json_t **started;    /* [nnodes] what a node said; NULL: nothing yet, or it is written */
    uint32_t unheard;    /* nodes that have said nothing */
};

struct program_log {
    struct event_log *events; /* NULL: there is none */
    bool attached;
    bool full; /* that was told */
    struct logged_group *groups;
    void (*note)(void *owner, const char *text);
    void *owner;
};

struct program_log *program_log_new(void (*note)(void *owner, const char *text), void *owner)
{
    struct program_log *log = mem_alloc(sizeof(*log));
    *log = (struct program_log){.note = note, .owner = owner};
    return log;
}

static void logged_group_free(struct logged_group *group)
{
    for (uint32_t i = 0; i < group->nnodes; i++)
        json_decref(group->started[i]);
    free(group->started);
    free(group->tree_node);
    free(group);
}

void program_log_free(struct program_log *log)
{
    if (!log)
        return;
    while (log->groups) {
        struct logged_group *group = log->groups;
        log->groups = group->next;
        logged_group_free(group);
    }
    event_log_close(log->events);
    free(log);
}

static void log_note(struct program_log *log, struct error *err)
{
    log->note(log->owner, error_text(err));
    error_clear(err);
}

void program_log_attach(struct program_log *log, struct ledger_entry *entry,
                        const struct spec *spec)
{
    struct error err = ERROR_INIT;
    if (log->attached || !entry)
        return;
    log->attached = true;
    log->events = entry_new_events(entry);
    json_t *command = json_array();
    for (char *const *word = spec->parts[0].argv; *word; word++)
        json_array_append_new(command, frame_text(*word));
    program_log_event(log, "new",
                      json_pack("{s:s, s:o, s:I}", "id", entry_id(entry), "command", command,
                                "version", (json_int_t)1));
    program_log_event(log, "pending", NULL);
    if (entry_begin_events(entry, log->events, &err) < 0)
        log_note(log, &err);
}

void program_log_event(struct program_log *log, const char *name, json_t *context)
{
    if (log->events)
        event_log_add(log->events, name, context);
    else
        json_decref(context);
}

void program_log_write(struct program_log *log)
{
    struct error err = ERROR_INIT;
    if (log->events && event_log_write(log->events, &err) < 0)
        log_note(log, &err);
}

/* A program that spawns for days would fill the disk: what tasks do is then no longer written, and its states
 * are. */
static bool log_is_full(struct program_log *log)
{
    if (!log->full && event_log_size(log->events) >= PROGRAM_LOG_MAX) {
        log->full = true;
        char *text = mem_format("the log of events is full (%u MiB): what tasks do is not written "
                                "any more; the program goes on",
                                PROGRAM_LOG_MAX >> 20);
        log->note(log->owner, text);
        free(text);
    }
    return log->full;
}

void program_log_agents_used(struct program_log *log, double until)
{
    if (!log->events || log_is_full(log))
        return;
    if (until > 0)
        program_log_event(log, "idle", json_pack("{s:f}", "until", until));
    else
        program_log_event(log, "used", NULL);
    program_log_write(log);
}

/* ---- tasks start ---- */

void program_log_launch(struct program_log *log, uint32_t number, const json_t *launch,
                        const uint32_t *tree_node, uint32_t nnodes)
{
    if (!log->events || log_is_full(log))
        return;
    json_t *context = json_pack("{s:I}", "group", (json_int_t)number);
    static const char *const keys[] = {"first_rank", "taskmap", "sizes", "hosts", "kinds"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (json_object_get(launch, keys[i]))
            json_object_set(context, keys[i], json_object_get(launch, keys[i]));
    program_log_event(log, "launch", context);
    struct logged_group *group = mem_alloc(sizeof(*group));
    *group = (struct logged_group){log->groups, number, nnodes, NULL, NULL, nnodes};
    group->tree_node = mem_array(nnodes, sizeof(*group->tree_node));
    group->started = mem_array(nnodes, sizeof(json_t *));
    for (uint32_t i = 0; i < nnodes; i++)
        group->tree_node[i] = tree_node[i];
    log->groups = group;
}

/* What nodes have said and is not written yet. */
static void log_tasks_started(struct program_log *log, struct logged_group *group)
{
    struct idset *nodes = idset_new();
    json_t *pids = json_array(), *cpus = json_array();
    for (uint32_t i = 0; i < group->nnodes; i++) {
        json_t *list = json_object_get(group->started[i], "pids");
        if (json_is_string(list)) {
            idset_add(nodes, i);
            json_array_append(pids, list);
            json_array_extend(cpus, json_object_get(group->started[i], "bindings"));
        }
        json_decref(group->started[i]);
        group->started[i] = NULL;
    }
    char *text = idset_encode(nodes);
    json_t *context = json_pack("{s:I, s:s, s:O}", "group", (json_int_t)group->number, "nodes",
                                text, "pids", pids);
    if (json_array_size(cpus))
        json_object_set(context, "cpus", cpus);
    if (idset_empty(nodes))
        json_decref(context);
    else
        program_log_event(log, "tasks-started", context);
    free(text);
    idset_free(nodes);
    json_decref(pids);
    json_decref(cpus);
}

static struct logged_group **find_logged(struct program_log *log, uint32_t number)
{
    struct logged_group **at = &log->groups;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

void program_log_started(struct program_log *log, uint32_t number, uint32_t node,
                         const json_t *started)
{
    struct logged_group **at = find_logged(log, number), *group = *at;
    uint32_t i = 0;
    while (group && i < group->nnodes && group->tree_node[i] != node)
        i++;
    if (!group || i == group->nnodes || group->started[i])
        return;
    group->started[i] = started ? json_incref((json_t *)(uintptr_t)started) : json_object();
    if (--group->unheard)
        return;
    log_tasks_started(log, group);
    *at = group->next;
    logged_group_free(group);
}

/* ---- tasks end ---- */

static json_t *log_seconds(uint64_t microseconds)
{
    return json_real((double)microseconds / 1e6);
}

/* Of all ranks in order, or the least and the most. `base` is added, in microseconds. */
static json_t *log_column(const struct task_usages *usages, int column, uint64_t base)
{
    if (!usages->list)
        return column == USAGE_MEMORY
                   ? json_pack("{s:I, s:I}", "least", (json_int_t)usages->least[column], "most",
                               (json_int_t)usages->most[column])
                   : json_pack("{s:o, s:o}", "least", log_seconds(base + usages->least[column]),
                               "most", log_seconds(base + usages->most[column]));
    json_t *list = json_array();
    for (size_t i = 0; i < usages->count; i++) {
        uint64_t value = usages->list[i].columns[column];
        json_array_append_new(list, column == USAGE_MEMORY ? json_integer((json_int_t)value)
                                                           : log_seconds(base + value));
    }
    return list;
}

static void log_end(struct program_log *log, uint32_t group, const struct task_exit *end)
{
    static const char *const keys[] = {[USAGE_ENDED] = "t_end",
                                       [USAGE_RAN] = "wall",
                                       [USAGE_USER] = "utime",
                                       [USAGE_SYSTEM] = "stime",
                                       [USAGE_MEMORY] = "maxrss_kib"};
    uint64_t wall = (clock_wall_ns() - clock_monotonic_ns()) / 1000; /* of the clocks' zeros */
    char *ranks = idset_encode(end->ranks);
    json_t *context = json_pack("{s:I, s:s, s:i}", "group", (json_int_t)group, "ranks", ranks,
                                "status", end->status);
    if (end->killed_by_tprun)
        json_object_set_new(context, "by", json_string("tprun"));
    struct task_usages usages = end->usages; /* borrowed */
    if (usages.count != idset_count(end->ranks))
        usages.list = NULL;
    for (int i = 0; usages.count && i < USAGE_COLUMNS; i++)
        json_object_set_new(context, keys[i], log_column(&usages, i, i == USAGE_ENDED ? wall : 0));
    program_log_event(log, "tasks-ended", context);
    free(ranks);
}

void program_log_ended(struct program_log *log, uint32_t number, const struct done_report *report)
{
    if (!log->events || log_is_full(log))
        return;
    struct logged_group *group = *find_logged(log, number);
    if (group)
        log_tasks_started(log, group);
    for (size_t i = 0; i < report->nexits; i++)
        log_end(log, number, &report->exits[i]);
}
