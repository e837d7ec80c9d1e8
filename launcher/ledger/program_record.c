/* The fold of a program's events, for those who ask what became of it. */
#include "launcher/ledger/program_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "launcher/ledger/pid_list.h"

const char *record_state_name(enum record_state state)
{
    static const char *const names[] = {"empty", "pending", "starting", "running", "complete"};
    return names[state];
}

const char *record_task_state_name(enum task_state state)
{
    static const char *const names[] = {"waiting", "running", "ended", "lost"};
    return names[state];
}

struct program_record *program_record_new(bool with_tasks)
{
    struct program_record *record = mem_alloc(sizeof(*record));
    *record = (struct program_record){
        .status = -1, .with_tasks = with_tasks, .kept = json_array(), .hooks = json_array()};
    return record;
}

void program_record_free(struct program_record *record)
{
    if (!record)
        return;
    for (size_t i = 0; i < record->ngroups; i++) {
        taskmap_free(record->groups[i].map);
        hostlist_free(record->groups[i].hosts);
    }
    free(record->groups);
    free(record->tasks);
    free(record->id);
    free(record->reason);
    free(record->waits_for);
    free(record->agents);
    free(record->problem);
    json_decref(record->command);
    json_decref(record->kept);
    json_decref(record->hooks);
    free(record);
}

const struct record_group *program_record_group(const struct program_record *record, uint32_t rank)
{
    for (size_t i = 0; i < record->ngroups; i++)
        if (rank >= record->groups[i].first_rank &&
            rank - record->groups[i].first_rank < record->groups[i].ntasks)
            return &record->groups[i];
    return NULL;
}

const char *program_record_host(const struct program_record *record, uint32_t rank)
{
    const struct record_group *group = program_record_group(record, rank);
    uint32_t node = group ? taskmap_node(group->map, rank - group->first_rank) : UINT32_MAX;
    return group && node < group->nnodes ? hostlist_nth(group->hosts, node) : NULL;
}

/* ---- what events say ---- */

static const char *context_text(const json_t *context, const char *key)
{
    return json_string_value(json_object_get(context, key));
}

static bool context_number(const json_t *context, const char *key, uint32_t max, uint32_t *number)
{
    const json_t *value = json_object_get(context, key);
    json_int_t is = json_integer_value(value);
    *number = (uint32_t)is;
    return json_is_integer(value) && is >= 0 && is <= max;
}

static const struct record_group *context_group(const struct program_record *record,
                                                const json_t *context)
{
    uint32_t number;
    if (context_number(context, "group", UINT32_MAX - 1, &number))
        for (size_t i = 0; i < record->ngroups; i++)
            if (record->groups[i].number == number)
                return &record->groups[i];
    return NULL;
}

/* A set of numbers below `count`; caller frees. NULL: it is none. */
static struct idset *read_ids(const char *text, uint32_t count)
{
    struct idset *set = text ? idset_decode(text, NULL) : NULL;
    if (set && (idset_empty(set) || idset_last(set) < count))
        return set;
    idset_free(set);
    return NULL;
}

static bool on_new(struct program_record *record, const struct event *event)
{
    const char *id = context_text(event->context, "id");
    json_t *command = json_object_get(event->context, "command");
    if (!id || record->id)
        return false;
    record->id = mem_copy_text(id);
    record->t_new = event->timestamp;
    if (json_is_array(command))
        record->command = json_incref(command);
    return true;
}

static bool on_pending(struct program_record *record, const struct event *event)
{
    (void)event;
    record->state = RECORD_PENDING;
    return true;
}

static bool record_on_waiting(struct program_record *record, const struct event *event)
{
    const char *what = context_text(event->context, "for");
    if (!what || record->state != RECORD_PENDING)
        return false;
    free(record->waits_for);
    record->waits_for = mem_copy_text(what);
    return true;
}

static bool on_other(struct program_record *record, const struct event *event)
{
    (void)record, (void)event;
    return true;
}

static bool on_starting(struct program_record *record, const struct event *event)
{
    (void)event;
    record->state = RECORD_STARTING;
    return true;
}

static bool record_on_running(struct program_record *record, const struct event *event)
{
    record->state = RECORD_RUNNING;
    record->t_start = event->timestamp;
    return true;
}

/* A prolog or an epilog has ended on a host. */
static bool on_hook(struct program_record *record, const struct event *event)
{
    const json_t *seconds = json_object_get(event->context, "seconds");
    if (!context_text(event->context, "host") || !json_is_number(seconds))
        return false;
    json_t *hook = json_copy(event->context);
    json_object_set_new(hook, "hook", json_string(event->name));
    json_array_append_new(record->hooks, hook);
    return true;
}

/* ---- agents are kept ---- */

static bool record_on_agents(struct program_record *record, const struct event *event)
{
    const char *text = context_text(event->context, "hosts");
    struct hostlist *hosts = text ? hostlist_decode(text, NULL) : NULL;
    if (!hosts || record->agents || record->ngroups) {
        hostlist_free(hosts);
        return false;
    }
    record->agents = mem_copy_text(text);
    record->nnodes = (uint32_t)hostlist_count(hosts);
    hostlist_free(hosts);
    return true;
}

static bool record_on_idle(struct program_record *record, const struct event *event)
{
    double until = json_number_value(json_object_get(event->context, "until"));
    record->idle_until = until < RECORD_MAX_TIME ? until : RECORD_MAX_TIME;
    return record->agents && until > 0;
}

static bool record_on_used(struct program_record *record, const struct event *event)
{
    (void)event;
    record->idle_until = 0;
    return record->agents;
}

/* ---- tasks are launched ---- */

/* Numbered texts, in runs "NUMBER:COUNT,...", one for each rank in order. */
static bool spread_texts(struct program_record *record, const struct record_group *group,
                         const struct idset *ranks, const char *runs, const json_t *texts,
                         bool gpus)
{
    uint32_t rank = idset_first(ranks);
    size_t left = idset_count(ranks);
    while (*runs) {
        uint64_t number, count;
        char key[24];
        size_t digits = number_read(runs, NULL, UINT32_MAX, &number);
        if (!digits || runs[digits] != ':')
            return false;
        runs += digits + 1;
        digits = number_read(runs, NULL, UINT32_MAX, &count);
        if (!digits || count > left || (runs[digits] && runs[digits] != ','))
            return false;
        runs += digits + (runs[digits] == ',');
        snprintf(key, sizeof(key), "%llu", (unsigned long long)number);
        const char *text = context_text(texts, key);
        for (; count; count--, left--, rank = idset_next(ranks, rank)) {
            struct task_record *task = &record->tasks[group->first_rank + rank];
            *(gpus ? &task->gpus : &task->cpus) = text ? text : "";
        }
    }
    return true;
}

static bool launch_kinds(struct program_record *record, const struct record_group *group,
                         const json_t *kinds)
{
    size_t i;
    json_t *kind;
    bool good = true;
    json_array_foreach(kinds, i, kind)
    {
        struct idset *nodes = read_ids(context_text(kind, "nodes"), group->nnodes);
        const char *tasks = context_text(kind, "tasks"), *gpus = context_text(kind, "gpus");
        good = good && nodes && tasks;
        for (uint32_t node = good ? idset_first(nodes) : IDSET_NONE; node != IDSET_NONE;
             node = idset_next(nodes, node)) {
            struct idset *ranks = taskmap_ranks(group->map, node);
            good = good &&
                   spread_texts(record, group, ranks, tasks, json_object_get(kind, "cpus"), false);
            if (gpus)
                good = good && spread_texts(record, group, ranks, gpus,
                                            json_object_get(kind, "gpu_sets"), true);
            idset_free(ranks);
        }
        idset_free(nodes);
    }
    return good;
}

static void launch_tasks(struct program_record *record, const struct record_group *group,
                         const json_t *context)
{
    record->tasks = mem_resize(record->tasks, record->ntasks, sizeof(*record->tasks));
    struct task_record *tasks = record->tasks + group->first_rank;
    for (uint32_t i = 0; i < group->ntasks; i++)
        tasks[i] = (struct task_record){.cpus = "", .gpus = ""};
    for (uint32_t node = 0; node < group->nnodes; node++) {
        struct idset *ranks = taskmap_ranks(group->map, node);
        uint32_t local = 0;
        IDSET_FOREACH(rank, ranks)
        {
            tasks[rank].node = node;
            tasks[rank].local_rank = local++;
        }
        idset_free(ranks);
    }
    const json_t *sizes = json_object_get(context, "sizes");
    uint32_t rank = 0, app = 0;
    for (; app < json_array_size(sizes); app++)
        for (json_int_t left = json_integer_value(json_array_get(sizes, app));
             left > 0 && rank < group->ntasks; left--)
            tasks[rank++].app = app;
}

static bool on_launch(struct program_record *record, const struct event *event)
{
    const json_t *context = event->context;
    const char *hosts = context_text(context, "hosts");
    struct record_group group = {0};
    group.map = taskmap_from_json(json_object_get(context, "taskmap"), NULL);
    group.hosts = hosts ? hostlist_decode(hosts, NULL) : NULL;
    if (!group.map || !group.hosts || !group.map->ntasks || context_group(record, context) ||
        !context_number(context, "group", UINT32_MAX - 1, &group.number) ||
        group.map->ntasks > RECORD_MAX_TASKS - record->ntasks ||
        group.map->nnodes > hostlist_count(group.hosts)) {
        taskmap_free(group.map);
        hostlist_free(group.hosts);
        return false;
    }
    group.first_rank = record->ntasks;
    group.ntasks = (uint32_t)group.map->ntasks;
    group.nnodes = group.map->nnodes;
    if (!record->ngroups)
        record->nnodes = group.nnodes;
    record->groups = mem_resize(record->groups, record->ngroups + 1, sizeof(*record->groups));
    record->groups[record->ngroups++] = group;
    record->ntasks += group.ntasks;
    if (!record->with_tasks)
        return true;
    json_array_append(record->kept, event->context);
    launch_tasks(record, &group, context);
    return launch_kinds(record, &group, json_object_get(context, "kinds"));
}

/* ---- tasks start ---- */

struct pid_target {
    struct program_record *record;
    const struct record_group *group;
    const struct idset *ranks;
    uint32_t rank;
    double time;
};

static void put_pid(void *arg, size_t i, uint32_t pid)
{
    struct pid_target *target = arg;
    target->rank = i ? idset_next(target->ranks, target->rank) : idset_first(target->ranks);
    struct task_record *task = &target->record->tasks[target->group->first_rank + target->rank];
    task->pid = pid;
    if (pid && task->state == RECORD_TASK_WAITS) {
        task->state = RECORD_TASK_RUNS;
        task->t_start = target->time;
    }
}

static bool started_on_node(struct program_record *record, const struct record_group *group,
                            uint32_t node, const char *pids, double time)
{
    struct idset *ranks = taskmap_ranks(group->map, node);
    struct pid_target target = {record, group, ranks, 0, time};
    bool good = pids && pid_list_decode(pids, idset_count(ranks), put_pid, &target);
    idset_free(ranks);
    return good;
}

/* What the kernel lets them run on, where that is not as the launch says: [CPUS, RANKS], ... */
static bool started_cpus(struct program_record *record, const json_t *list)
{
    size_t i;
    json_t *pair;
    bool good = true;
    json_array_foreach(list, i, pair)
    {
        const char *cpus = json_string_value(json_array_get(pair, 0));
        struct idset *ranks = read_ids(json_string_value(json_array_get(pair, 1)), record->ntasks);
        for (uint32_t rank = cpus && ranks ? idset_first(ranks) : IDSET_NONE; rank != IDSET_NONE;
             rank = idset_next(ranks, rank))
            record->tasks[rank].cpus = cpus;
        good = good && cpus && ranks;
        idset_free(ranks);
    }
    return good;
}

static bool on_tasks_started(struct program_record *record, const struct event *event)
{
    const struct record_group *group = context_group(record, event->context);
    const json_t *pids = json_object_get(event->context, "pids");
    if (!group)
        return false;
    struct idset *nodes = read_ids(context_text(event->context, "nodes"), group->nnodes);
    bool good = nodes && idset_count(nodes) == json_array_size(pids);
    size_t i = 0;
    for (uint32_t node = good && record->with_tasks ? idset_first(nodes) : IDSET_NONE;
         node != IDSET_NONE; node = idset_next(nodes, node))
        good = started_on_node(record, group, node, json_string_value(json_array_get(pids, i++)),
                               event->timestamp) &&
               good;
    idset_free(nodes);
    if (!record->with_tasks)
        return good;
    json_array_append(record->kept, event->context);
    return started_cpus(record, json_object_get(event->context, "cpus")) && good;
}

/* ---- tasks end ---- */

/* The i-th of a list, or the most of them; 0 where nothing is said. */
static double read_column(const json_t *context, const char *key, size_t i, bool *is_exact)
{
    const json_t *column = json_object_get(context, key);
    *is_exact = json_is_array(column);
    return json_number_value(*is_exact ? json_array_get(column, i)
                                       : json_object_get(column, "most"));
}

static bool on_tasks_ended(struct program_record *record, const struct event *event)
{
    const json_t *context = event->context, *status = json_object_get(context, "status");
    const char *by = context_text(context, "by");
    struct idset *ranks = read_ids(context_text(context, "ranks"), record->ntasks);
    bool good = ranks && json_is_integer(status);
    size_t i = 0;
    for (uint32_t rank = good && record->with_tasks ? idset_first(ranks) : IDSET_NONE;
         rank != IDSET_NONE; rank = idset_next(ranks, rank), i++) {
        struct task_record *task = &record->tasks[rank];
        task->state = RECORD_TASK_ENDED;
        task->status = (int)json_integer_value(status);
        task->by_tprun = by && strcmp(by, "tprun") == 0;
        task->t_end = read_column(context, "t_end", i, &task->is_exact);
        task->utime = read_column(context, "utime", i, &task->is_exact);
        task->stime = read_column(context, "stime", i, &task->is_exact);
        double most = read_column(context, "maxrss_kib", i, &task->is_exact);
        task->maxrss_kib = most > 0 && most < 1e18 ? (uint64_t)most : 0;
        double wall = read_column(context, "wall", i, &task->is_exact);
        if (task->is_exact)
            task->t_start = task->t_end - wall;
    }
    idset_free(ranks);
    return good;
}

static void node_is_lost(struct program_record *record, const struct record_group *group,
                         uint32_t node)
{
    struct idset *ranks = taskmap_ranks(group->map, node);
    IDSET_FOREACH(rank, ranks)
    {
        struct task_record *task = &record->tasks[group->first_rank + rank];
        if (task->state < RECORD_TASK_ENDED)
            task->state = RECORD_TASK_LOST;
    }
    idset_free(ranks);
}

static bool on_nodes_lost(struct program_record *record, const struct event *event)
{
    const char *text = context_text(event->context, "hosts");
    struct hostlist *hosts = text ? hostlist_decode(text, NULL) : NULL;
    bool good = hosts != NULL;
    for (size_t i = 0; good && record->with_tasks && i < record->ngroups; i++)
        for (uint32_t node = 0; node < record->groups[i].nnodes; node++)
            if (hostlist_find(hosts, hostlist_nth(record->groups[i].hosts, node)) >= 0)
                node_is_lost(record, &record->groups[i], node);
    hostlist_free(hosts);
    return good;
}

/* ---- the program ends ---- */

static void record_over(struct program_record *record, const struct event *event)
{
    record->state = RECORD_COMPLETE;
    record->t_end = event->timestamp;
    record->reason = mem_copy_text(context_text(event->context, "reason"));
}

static bool on_complete(struct program_record *record, const struct event *event)
{
    uint32_t status;
    record_over(record, event);
    record->is_left = json_is_true(json_object_get(event->context, "left"));
    if (!context_number(event->context, "status", 255, &status))
        return false;
    record->status = (int)status;
    return true;
}

static bool record_on_lost(struct program_record *record, const struct event *event)
{
    record_over(record, event);
    record->is_lost = true;
    for (uint32_t rank = 0; record->with_tasks && rank < record->ntasks; rank++)
        if (record->tasks[rank].state < RECORD_TASK_ENDED)
            record->tasks[rank].state = RECORD_TASK_LOST;
    return true;
}

static const struct {
    const char *name;
    bool (*take)(struct program_record *record, const struct event *event);
} takers[] = {
    {"new", on_new},
    {"pending", on_pending},
    {"waiting", record_on_waiting},
    {"alloc", on_other},
    {"prolog", on_hook},
    {"starting", on_starting},
    {"launch", on_launch},
    {"tasks-started", on_tasks_started},
    {"running", record_on_running},
    {"agents", record_on_agents},
    {"idle", record_on_idle},
    {"used", record_on_used},
    {"terminate", on_other},
    {"nodes-lost", on_nodes_lost},
    {"tasks-ended", on_tasks_ended},
    {"finish", on_other},
    {"epilog", on_hook},
    {"complete", on_complete},
    {"lost", record_on_lost},
};

static void pass_over(struct program_record *record, const char *why)
{
    record->passed_over++;
    if (!record->problem)
        record->problem = mem_copy_text(why);
}

/* Nothing comes after the end. */
void program_record_add(struct program_record *record, const struct event *event)
{
    bool good = false;
    if (record->state != RECORD_COMPLETE)
        for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++)
            if (strcmp(takers[i].name, event->name) == 0)
                good = takers[i].take(record, event);
    if (good)
        return;
    char *why =
        mem_format("line %zu: event %s is unknown or does not fit here", record->line, event->name);
    pass_over(record, why);
    free(why);
}

struct program_record *program_record_read(const char *bytes, size_t len, bool with_tasks)
{
    struct program_record *record = program_record_new(with_tasks);
    struct event_reader reader;
    struct event event;
    struct error err = ERROR_INIT;
    int rc;
    event_reader_begin(&reader, bytes, len);
    while ((rc = event_reader_next(&reader, &event, &err)) != 0) {
        record->line = reader.line;
        if (rc < 0)
            pass_over(record, error_text(&err));
        else
            program_record_add(record, &event);
    }
    event_reader_end(&reader);
    error_clear(&err);
    return record;
}
