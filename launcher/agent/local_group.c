/* Groups: added, found, freed. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/internal.h"
#include "launcher/agent/topology_file.h"
#include "pmi-server/protocol/task_states.h"

static void local_group_append(struct agent *agent, struct group *group)
{
    struct group **last = &agent->groups;
    while (*last)
        last = &(*last)->next;
    *last = group;
}

/* Everybody takes part in the first, in others who has a task at or below. */
static struct idset *nodes_below(const struct agent *agent, const struct group *group)
{
    const struct launch *launch = group->launch;
    const struct idset *below = downlink_nodes(agent->downlink);
    if (!below)
        return idset_new();
    if (!group->number || !launch)
        return idset_copy(below);
    struct idset *nodes = idset_new();
    for (uint32_t i = 0; i < launch->nnodes; i++)
        if (idset_has(below, launch->tree_node[i]))
            idset_add(nodes, launch->tree_node[i]);
    return nodes;
}

static void make_tasks(struct group *group)
{
    const struct launch *launch = group->launch;
    group->ntasks = launch->nlocal;
    group->older = group->agent->ntasks;
    group->agent->ntasks += group->ntasks;
    group->tasks = mem_array(group->ntasks, sizeof(*group->tasks));
    for (uint32_t i = 0; i < group->ntasks; i++) {
        struct task *task = &group->tasks[i];
        task->group = group;
        task->what = &launch->tasks[i];
        task->reads = !group->number &&
                      launch_reads_input(launch->spec, launch->input_ranks, task->what->rank);
        task->input = task->pmi = -1;
        task->streams[0].fd = task->streams[1].fd = -1;
        task->drained = true;
    }
}

static struct launch *read_launch(const struct agent *agent, const struct frame *frame,
                                  struct error *err)
{
    json_t *value = frame_json(frame, err);
    struct launch *launch = value ? launch_from_json(value, uplink_node(agent->uplink), err) : NULL;
    json_decref(value);
    if (!launch || launch->group == frame->group)
        return launch;
    error_set(err, "launch: of group %u, not of %u", launch->group, frame->group);
    launch_free(launch);
    return NULL;
}

struct group *group_add(struct agent *agent, const struct frame *frame, struct error *err)
{
    struct group *group = mem_alloc(sizeof(*group));
    group->agent = agent;
    group->number = frame->group;
    group->report = exit_report_new(agent->uplink, group->number);
    agent->next_group = frame->group + 1;
    local_group_append(agent, group);
    if (!group->number) /* it may be large: it is passed on before it is read */
        downlink_send(agent->downlink, frame);
    group->launch = read_launch(agent, frame, err);
    group->nodes = nodes_below(agent, group);
    group->below = idset_copy(group->nodes);
    if (group->number)
        group_send(group, frame);
    if (group->launch) {
        make_tasks(group);
        pmi_socket_join(group);
    }
    return group;
}

struct group *group_find(const struct agent *agent, uint32_t number)
{
    struct group *group = agent->groups;
    while (group && group->number != number)
        group = group->next;
    return group;
}

void group_send(struct group *group, const struct frame *frame)
{
    if (!idset_empty(group->nodes))
        downlink_send_nodes(group->agent->downlink, group->nodes, frame);
}

void group_without(struct group *group, const struct idset *nodes)
{
    struct idset *left = idset_subtract(group->below, nodes);
    idset_free(group->below);
    group->below = left;
}

static void group_leave(struct group *group)
{
    struct group **at = &group->agent->groups;
    while (*at && *at != group)
        at = &(*at)->next;
    if (*at)
        *at = group->next;
}

void group_free(struct group *group)
{
    group_leave(group);
    start_free(group);
    for (uint32_t i = 0; i < group->ntasks; i++)
        task_streams_close(&group->tasks[i]);
    for (uint32_t i = 0; i < group->ntasks; i++)
        task_signals_end(&group->tasks[i]);
    pmix_free(group);
    pmi_socket_free(group);
    spawn_and_names_free(group);
    topology_file_forget(group);
    launch_free(group->launch);
    idset_free(group->nodes);
    idset_free(group->below);
    exit_report_free(group->report);
    free(group->tasks);
    free(group);
}

/* What the program's service is told of this node's tasks, whether they speak PMIx or not. */

static struct task_info local_group_describe(const struct task *task)
{
    bool speaks = task->started && !task->ended && pmi_socket_state(task) == PMI_RUNNING;
    return (struct task_info){.rank = task->what->rank,
                              .pid = (uint32_t)task->pid,
                              .state = task->ended     ? TASK_ENDED
                                       : speaks        ? TASK_SPEAKS
                                       : task->started ? TASK_RUNS
                                                       : TASK_WAITS,
                              .status = task->ended ? task->status : 0};
}

/* NULL: its tasks are not known here, or not any more. */
static const struct group *find_job(const struct agent *agent, const char *name)
{
    for (const struct group *group = agent->groups; group; group = group->next) {
        char *own = group->launch ? pmix_name(group->launch, group->number) : NULL;
        bool same = own && !strcmp(own, name);
        free(own);
        if (same)
            return group;
    }
    return NULL;
}

static void local_group_tell(struct agent *agent, uint64_t number, const char *job)
{
    const struct group *group = find_job(agent, job);
    uint32_t count = group ? group->ntasks : 0;
    struct task_info *tasks = mem_array(count, sizeof(*tasks));
    struct buf message = BUF_INIT;
    for (uint32_t i = 0; i < count; i++)
        tasks[i] = local_group_describe(&group->tasks[i]);
    task_states_put_answer(&message, number, job, tasks, count);
    struct frame frame = {.type = FRAME_SERVICE,
                          .node = uplink_node(agent->uplink),
                          .bytes = buf_bytes(&message),
                          .len = message.len};
    uplink_send(agent->uplink, &frame);
    buf_free(&message);
    free(tasks);
}

bool tasks_told(struct agent *agent, const struct frame *frame)
{
    uint64_t number;
    char *job;
    if (!task_states_wanted(frame->bytes, frame->len, &number, &job))
        return false;
    local_group_tell(agent, number, job);
    free(job);
    return true;
}
