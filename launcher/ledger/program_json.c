/* Programs and their tasks as JSON. */
#include "launcher/ledger/program_json.h"

#include <string.h>
#include <sys/wait.h>

static json_t *time_or_null(double time)
{
    return time > 0 ? json_real(time) : json_null();
}

json_t *program_to_json(const char *id, const struct program_record *record)
{
    bool over = record->state == RECORD_COMPLETE;
    json_t *value =
        json_pack("{s:s, s:s, s:b, s:I, s:I, s:O?, s:o, s:o, s:o}", "id", id, "state",
                  record_state_name(record->state), "lost", (int)record->is_lost, "ntasks",
                  (json_int_t)record->ntasks, "nnodes", (json_int_t)record->nnodes, "command",
                  record->command, "t_new", time_or_null(record->t_new), "t_start",
                  time_or_null(record->t_start), "t_end", time_or_null(over ? record->t_end : 0));
    json_object_set_new(value, "status",
                        over && record->status >= 0 ? json_integer(record->status) : json_null());
    json_object_set_new(value, "reason", json_string(record->reason ? record->reason : ""));
    if (record->agents && !over)
        json_object_set_new(value, "agents",
                            json_pack("{s:s, s:o}", "hosts", record->agents, "idle_until",
                                      time_or_null(record->idle_until)));
    return value;
}

/* ---- tasks ---- */

static json_t *nodes_to_json(const struct record_group *group)
{
    json_t *nodes = json_array();
    for (uint32_t node = 0; node < group->nnodes; node++)
        json_array_append_new(nodes, json_pack("{s:I, s:s}", "id", (json_int_t)node, "host",
                                               hostlist_nth(group->hosts, node)));
    return nodes;
}

static json_t *group_to_json(const struct record_group *group)
{
    return json_pack("{s:I, s:I, s:I, s:o, s:o}", "group", (json_int_t)group->number, "first_rank",
                     (json_int_t)group->first_rank, "ntasks", (json_int_t)group->ntasks, "taskmap",
                     taskmap_to_json(group->map), "nodes", nodes_to_json(group));
}

static void add_end(json_t *value, const struct task_record *task)
{
    bool ended = task->state == RECORD_TASK_ENDED;
    bool exited = ended && WIFEXITED(task->status), killed = ended && WIFSIGNALED(task->status);
    json_object_set_new(value, "status",
                        exited ? json_integer(WEXITSTATUS(task->status)) : json_null());
    json_object_set_new(value, "signal",
                        killed ? json_integer(WTERMSIG(task->status)) : json_null());
    json_object_set_new(value, "by_tprun", json_boolean(task->by_tprun));
    json_object_set_new(value, "t_start", time_or_null(task->t_start));
    json_object_set_new(value, "t_end", time_or_null(task->t_end));
    json_object_set_new(value, "maxrss_kib",
                        ended ? json_integer((json_int_t)task->maxrss_kib) : json_null());
    json_object_set_new(value, "utime", ended ? json_real(task->utime) : json_null());
    json_object_set_new(value, "stime", ended ? json_real(task->stime) : json_null());
}

static json_t *task_to_json(const struct program_record *record, uint32_t rank)
{
    const struct task_record *task = &record->tasks[rank];
    json_t *value = json_pack(
        "{s:I, s:I, s:I, s:I, s:s, s:s, s:s?, s:o, s:s}", "rank", (json_int_t)rank, "node",
        (json_int_t)task->node, "local_rank", (json_int_t)task->local_rank, "app",
        (json_int_t)task->app, "cpus", task->cpus, "gpus", task->gpus, "host",
        program_record_host(record, rank), "pid", task->pid ? json_integer(task->pid) : json_null(),
        "state", record_task_state_name(task->state));
    add_end(value, task);
    return value;
}

void program_add_tasks(json_t *program, const struct program_record *record)
{
    json_t *tasks = json_array();
    if (record->ngroups) {
        json_object_set_new(program, "taskmap", taskmap_to_json(record->groups[0].map));
        json_object_set_new(program, "nodes", nodes_to_json(&record->groups[0]));
    }
    if (record->ngroups > 1) {
        json_t *groups = json_array();
        for (size_t i = 0; i < record->ngroups; i++)
            json_array_append_new(groups, group_to_json(&record->groups[i]));
        json_object_set_new(program, "groups", groups);
    }
    for (uint32_t rank = 0; record->tasks && rank < record->ntasks; rank++)
        json_array_append_new(tasks, task_to_json(record, rank));
    json_object_set_new(program, "tasks", tasks);
}
