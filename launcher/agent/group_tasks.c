/* The tasks of a group on this node: their processes, their streams, and what openpmix wants of them. */
#include "launcher/agent/group_tasks.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "launcher/ledger/pid_list.h"
#include "launcher/spec/spec.h"

struct group_tasks {
    const struct local_tasks *shared;
    void (*stdin_written)(void *owner);
    void *owner;
    struct local_task *list; /* as in launch->tasks */
    uint32_t count;
    uint32_t running;
    uint32_t undrained;   /* were started, and what they wrote has not all been read */
    double last_activity; /* when a task last wrote or ended */
};

/* ---- life ---- */

static void group_tasks_on_activity(void *owner)
{
    struct group_tasks *tasks = owner;
    tasks->last_activity = clock_monotonic_seconds();
}

struct group_tasks *group_tasks_new(const struct local_tasks *shared,
                                    void (*stdin_written)(void *owner), void *owner)
{
    const struct launch *launch = shared->launch;
    const struct local_services *services = shared->services;
    struct group_tasks *tasks = mem_alloc(sizeof(*tasks));
    *tasks = (struct group_tasks){.shared = shared,
                                  .stdin_written = stdin_written,
                                  .owner = owner,
                                  .count = launch ? launch->nlocal : 0};
    tasks->list = mem_array(tasks->count, sizeof(*tasks->list));
    for (uint32_t i = 0; i < tasks->count; i++) {
        struct local_task *task = &tasks->list[i];
        task->shared = shared;
        task->what = &launch->tasks[i];
        task->drained = true;
        if (!launch->group &&
            launch_reads_input(launch->spec, launch->input_ranks, task->what->rank))
            task->input = task_stdin_new(services->loop, stdin_written, owner);
        if (launch_has_terminal(launch, task->what))
            task->terminal = task_terminal_new(services->loop, task->input);
        const struct task_output_config config = {.group = launch->group,
                                                  .rank = local_task_rank(task),
                                                  .unbuffered =
                                                      launch->spec->unbuffered || task->terminal,
                                                  .output_idle = launch->spec->output_idle,
                                                  .error_idle = launch->spec->error_idle,
                                                  .active = group_tasks_on_activity,
                                                  .owner = tasks};
        task->output = task_output_new(services->outputs, &config);
    }
    return tasks;
}

void group_tasks_close(struct group_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->count; i++) {
        task_stdin_close(tasks->list[i].input);
        task_terminal_close(tasks->list[i].terminal);
        task_output_close(tasks->list[i].output);
    }
    for (uint32_t i = 0; i < tasks->count; i++) {
        local_task_end_control(&tasks->list[i]);
        pmi_socket_close(tasks->list[i].pmi);
    }
}

void group_tasks_free(struct group_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->count; i++) {
        pmi_socket_free(tasks->list[i].pmi);
        task_terminal_free(tasks->list[i].terminal);
        task_stdin_free(tasks->list[i].input);
        task_output_free(tasks->list[i].output);
    }
    free(tasks->list);
    free(tasks);
}

/* ---- processes ---- */

uint32_t group_tasks_count(const struct group_tasks *tasks)
{
    return tasks->count;
}

uint32_t group_tasks_running(const struct group_tasks *tasks)
{
    return tasks->running;
}

uint32_t group_tasks_not_ended(const struct group_tasks *tasks)
{
    uint32_t count = tasks->count;
    for (uint32_t i = 0; i < tasks->count; i++)
        count -= tasks->list[i].ended;
    return count;
}

char *group_tasks_pids(const struct group_tasks *tasks)
{
    struct buf text = BUF_INIT;
    uint32_t *pids = mem_array(tasks->count, sizeof(*pids));
    for (uint32_t i = 0; i < tasks->count; i++)
        pids[i] = (uint32_t)tasks->list[i].started_pid;
    pid_list_encode(&text, pids, tasks->count);
    free(pids);
    return tasks->count ? buf_take_text(&text) : NULL;
}

void group_tasks_started(struct group_tasks *tasks, uint32_t number, pid_t pid,
                         const struct task_pipes *pipes, struct pmi_sockets *pmi)
{
    tasks->running++;
    tasks->undrained++;
    local_task_started(&tasks->list[number], pid, pipes, pmi);
}

bool group_tasks_reaped(struct group_tasks *tasks, pid_t pid, int status)
{
    for (uint32_t i = 0; i < tasks->count; i++) {
        if (tasks->list[i].pid == pid) {
            local_task_reaped(&tasks->list[i], status);
            tasks->last_activity = clock_monotonic_seconds();
            tasks->running--;
            if (task_stdin_reads(tasks->list[i].input))
                tasks->stdin_written(tasks->owner);
            return true;
        }
    }
    return false;
}

void group_tasks_kill(const struct group_tasks *tasks)
{
    pid_t *pids = mem_array(tasks->count, sizeof(*pids));
    size_t count = 0;
    for (uint32_t i = 0; i < tasks->count; i++)
        if (tasks->list[i].pid > 0)
            pids[count++] = tasks->list[i].pid;
    task_signals_kill_groups(tasks->shared->services->signals, pids, count);
    free(pids);
}

void group_tasks_give_up(struct group_tasks *tasks)
{
    tasks->undrained = 0;
    for (uint32_t i = 0; i < tasks->count; i++) {
        if (tasks->list[i].started && !tasks->list[i].ended) {
            local_task_give_up(&tasks->list[i]);
            tasks->running--;
        }
    }
}

void group_tasks_add(const struct group_tasks *tasks, const struct idset *ranks, bool starting,
                     struct inquiry_answer *answer)
{
    for (uint32_t i = 0; i < tasks->count; i++) {
        const struct local_task *task = &tasks->list[i];
        uint32_t rank = local_task_rank(task);
        if (ranks && !idset_has(ranks, rank))
            continue;
        if (task->pid > 0)
            inquiry_answer_add(answer,
                               &(struct task_sample){.rank = rank, .pid = (uint32_t)task->pid});
        else if (!task->started && starting)
            idset_add(answer->waiting, rank);
    }
}

struct task_info *group_tasks_states(const struct group_tasks *tasks)
{
    struct task_info *states = mem_array(tasks->count, sizeof(*states));
    for (uint32_t i = 0; i < tasks->count; i++)
        states[i] = local_task_info(&tasks->list[i]);
    return states;
}

/* ---- their end ---- */

static void drain_ended(struct group_tasks *tasks)
{
    if (tasks->undrained == tasks->running)
        return;
    for (uint32_t i = 0; i < tasks->count && tasks->undrained &&
                         !task_outputs_are_held(tasks->shared->services->outputs);
         i++) {
        struct local_task *task = &tasks->list[i];
        if (!task->ended || task->drained || !task_output_drain(task->output))
            continue;
        task->drained = true;
        tasks->undrained--;
    }
}

bool group_tasks_have_ended(struct group_tasks *tasks)
{
    drain_ended(tasks);
    return !tasks->running &&
           (!tasks->undrained || uplink_is_lost(tasks->shared->services->uplink));
}

bool group_tasks_are_settled(const struct group_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->count; i++)
        if (tasks->list[i].exit_unsettled)
            return false;
    return true;
}

bool group_tasks_output_is_open(const struct group_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->count; i++)
        if (task_output_is_open(tasks->list[i].output))
            return true;
    return false;
}

bool group_tasks_drain(struct group_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->count; i++)
        if (!task_output_drain(tasks->list[i].output) &&
            !uplink_is_lost(tasks->shared->services->uplink))
            return false;
    return true;
}

double group_tasks_last_activity(const struct group_tasks *tasks)
{
    return tasks->last_activity;
}

void group_tasks_output_resumed(struct group_tasks *tasks)
{
    tasks->last_activity = clock_monotonic_seconds();
}

/* ---- stdin and terminals ---- */

static bool is_chosen(const struct local_task *task, const struct idset *ranks)
{
    return !ranks || idset_has(ranks, local_task_rank(task));
}

bool group_tasks_reads(const struct group_tasks *tasks, uint32_t number)
{
    return task_stdin_reads(tasks->list[number].input);
}

void group_tasks_on_stdin(struct group_tasks *tasks, const struct frame *frame,
                          const struct idset *ranks)
{
    bool end = frame->type == FRAME_STDIN_END;
    for (uint32_t i = 0; i < tasks->count; i++) {
        struct local_task *task = &tasks->list[i];
        if (!is_chosen(task, ranks))
            continue;
        task_stdin_write(task->input, frame->bytes, frame->len, end && !task->terminal);
        if (end && task->terminal)
            task_terminal_end_input(task->terminal);
    }
}

void group_tasks_on_terminal(struct group_tasks *tasks, const struct frame *frame)
{
    for (uint32_t i = 0; i < tasks->count; i++) {
        if (!tasks->list[i].terminal)
            continue;
        if (frame->len == 8)
            task_terminal_resize(tasks->list[i].terminal, frame_get_u64(frame->bytes));
        else if (!frame->len)
            local_task_hang_up(&tasks->list[i]);
    }
}

bool group_tasks_lag(const struct group_tasks *tasks, const struct idset *ranks)
{
    for (uint32_t i = 0; i < tasks->count; i++)
        if (task_stdin_lags(tasks->list[i].input) && is_chosen(&tasks->list[i], ranks))
            return true;
    return false;
}

void group_tasks_add_reading(struct group_tasks *tasks, const struct idset *ranks,
                             struct idset *reading, struct idset *lagging)
{
    for (uint32_t i = 0; i < tasks->count; i++) {
        struct local_task *task = &tasks->list[i];
        if (!is_chosen(task, ranks))
            continue;
        task_stdin_look(task->input);
        if (task_stdin_is_open(task->input))
            idset_add(reading, local_task_rank(task));
        if (task_stdin_lags(task->input))
            idset_add(lagging, local_task_rank(task));
    }
}

/* ---- what openpmix wants of them ---- */

static struct local_task *task_by_rank(struct group_tasks *tasks, uint32_t rank)
{
    for (uint32_t i = 0; i < tasks->count; i++)
        if (tasks->list[i].what->rank == rank)
            return &tasks->list[i];
    return NULL;
}

static void group_on_settled(void *owner, uint32_t local_rank)
{
    struct group_tasks *tasks = owner;
    for (uint32_t i = 0; i < tasks->count; i++) {
        if (tasks->list[i].what->local_rank == local_rank) {
            local_task_settled(&tasks->list[i]);
            return;
        }
    }
}

static void group_on_log(void *owner, uint32_t rank, bool error, const char *text)
{
    struct local_task *task = task_by_rank(owner, rank);
    if (task)
        task_output_say(task->output, error, text);
}

static bool group_on_input(void *owner, uint32_t rank, const void *bytes, size_t len, bool end)
{
    struct group_tasks *tasks = owner;
    struct local_task *task = task_by_rank(tasks, rank);
    if (!task || tasks->shared->launch->spec->input != SPEC_INPUT_TOOLS ||
        !task_stdin_is_open(task->input))
        return false;
    task_stdin_write(task->input, bytes, len, end);
    return true;
}

static void group_on_control(void *owner, const struct pmix_control *control)
{
    struct group_tasks *tasks = owner;
    for (uint32_t i = 0; i < tasks->count; i++)
        local_task_control(&tasks->list[i], control);
}

const struct group_pmix_task_ops group_tasks_pmix_ops = {group_on_settled, group_on_log,
                                                         group_on_input, group_on_control};
