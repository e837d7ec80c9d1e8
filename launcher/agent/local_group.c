/* A task group on this node, from its launch to its last word. */
#include "launcher/agent/local_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/agent/group_services.h"
#include "launcher/agent/local_task.h"
#include "launcher/ledger/pid_list.h"
#include "launcher/spec/spec.h"

/* s of silence after which what a task left behind is ended; at most the kill grace */
#define LEFTOVER_TIMEOUT 1.0

struct local_group {
    struct local_tasks shared; /* the launch is NULL if it was malformed */
    const struct local_group_ops *ops;
    void *owner;
    uint32_t number;
    enum group_phase phase;
    struct task_start *start; /* while it starts */
    struct local_task *tasks;
    uint32_t ntasks;
    uint32_t older; /* tasks of groups that were added before, also of those that are gone */
    uint32_t live, undrained;
    struct idset *nodes; /* below this one, that take part */
    struct idset *below; /* those of them that have not reported their end */
    struct group_services *serves;
    bool wanted;          /* all its nodes can start it */
    bool unbound;         /* as mapped; a cgroup may keep its tasks all the same */
    double last_activity; /* when a task last wrote or ended */
};

/* ---- known ---- */

static void group_on_activity(void *owner)
{
    struct local_group *group = owner;
    group->last_activity = clock_monotonic_seconds();
}

static void group_on_stdin_written(void *owner)
{
    struct local_group *group = owner;
    group->ops->stdin_written(group->owner);
}

static void make_tasks(struct local_group *group)
{
    const struct launch *launch = group->shared.launch;
    const struct local_services *services = group->shared.services;
    group->ntasks = launch->nlocal;
    group->tasks = mem_array(group->ntasks, sizeof(*group->tasks));
    for (uint32_t i = 0; i < group->ntasks; i++) {
        struct local_task *task = &group->tasks[i];
        task->shared = &group->shared;
        task->what = &launch->tasks[i];
        task->drained = true;
        if (!group->number &&
            launch_reads_input(launch->spec, launch->input_ranks, task->what->rank))
            task->input = task_stdin_new(services->loop, group_on_stdin_written, group);
        if (launch_has_terminal(launch, task->what))
            task->terminal = task_terminal_new(services->loop, task->input);
        const struct task_output_config config = {.group = group->number,
                                                  .rank = local_task_rank(task),
                                                  .unbuffered =
                                                      launch->spec->unbuffered || task->terminal,
                                                  .output_idle = launch->spec->output_idle,
                                                  .error_idle = launch->spec->error_idle,
                                                  .active = group_on_activity,
                                                  .owner = group};
        task->output = task_output_new(services->outputs, &config);
    }
}

static struct launch *read_launch(uint32_t node, const struct frame *frame, struct error *err)
{
    json_t *value = frame_json(frame, err);
    struct launch *launch = value ? launch_from_json(value, node, err) : NULL;
    json_decref(value);
    if (!launch || launch->group == frame->group)
        return launch;
    error_set(err, "launch: of group %u, not of %u", launch->group, frame->group);
    launch_free(launch);
    return NULL;
}

/* Everybody takes part in the first, in others who has a task at or below. */
static struct idset *nodes_below(const struct local_group *group)
{
    const struct launch *launch = group->shared.launch;
    const struct idset *below = downlink_nodes(group->shared.services->downlink);
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

/* It cannot be started at all. */
static void group_refuse(struct local_group *group, const struct error *err)
{
    struct started_report report = {0};
    struct start_failure failure = {mem_copy_text(error_text(err)), W_EXITCODE(1, 0), idset_new()};
    if (group->shared.launch && group->shared.launch->spawned)
        report.failed = (struct start_failures){&failure, 1};
    else
        exit_report_ended(group->shared.report, NULL, "start", failure.status, failure.text);
    group->phase = GROUP_RUNNING;
    exit_report_started(group->shared.report, &report);
    idset_free(failure.ranks);
    free(failure.text);
}

/* ---- what openpmix wants of its tasks ---- */

static bool group_is_ending(void *owner)
{
    const struct local_group *group = owner;
    return local_tasks_are_ending(&group->shared);
}

static struct local_task *task_by_rank(struct local_group *group, uint32_t rank)
{
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (group->tasks[i].what->rank == rank)
            return &group->tasks[i];
    return NULL;
}

static void group_on_settled(void *owner, uint32_t local_rank)
{
    struct local_group *group = owner;
    for (uint32_t i = 0; i < group->ntasks; i++) {
        if (group->tasks[i].what->local_rank == local_rank) {
            local_task_settled(&group->tasks[i]);
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
    struct local_group *group = owner;
    struct local_task *task = task_by_rank(group, rank);
    if (!task || group->shared.launch->spec->input != SPEC_INPUT_TOOLS ||
        !task_stdin_is_open(task->input))
        return false;
    task_stdin_write(task->input, bytes, len, end);
    return true;
}

static void group_on_control(void *owner, const struct pmix_control *control)
{
    struct local_group *group = owner;
    for (uint32_t i = 0; i < group->ntasks; i++)
        local_task_control(&group->tasks[i], control);
}

static const struct group_pmix_task_ops pmix_task_ops = {group_on_settled, group_on_log,
                                                         group_on_input, group_on_control};

/* ---- life ---- */

struct local_group *local_group_new(const struct local_services *services,
                                    const struct frame *frame, uint32_t older,
                                    const struct local_group_ops *ops, void *owner)
{
    struct error err = ERROR_INIT;
    struct local_group *group = mem_alloc(sizeof(*group));
    *group = (struct local_group){.shared.services = services,
                                  .ops = ops,
                                  .owner = owner,
                                  .number = frame->group,
                                  .older = older};
    group->shared.report = exit_report_new(services->uplink, group->number);
    if (!group->number) /* it may be large: it is passed on before it is read */
        downlink_send(services->downlink, frame);
    group->shared.launch = read_launch(uplink_node(services->uplink), frame, &err);
    group->nodes = nodes_below(group);
    group->below = idset_copy(group->nodes);
    if (group->number)
        local_group_send_down(group, frame);
    if (group->shared.launch) {
        make_tasks(group);
        const struct group_services_config config = {.services = services,
                                                     .launch = group->shared.launch,
                                                     .nodes = group->nodes,
                                                     .report = group->shared.report,
                                                     .is_ending = group_is_ending,
                                                     .task_ops = &pmix_task_ops,
                                                     .group = group,
                                                     .post = ops->post,
                                                     .sender = owner};
        group->serves = group_services_new(&config);
        group->shared.pmix = group_services_pmix(group->serves);
    } else {
        group_refuse(group, &err);
    }
    error_clear(&err);
    return group;
}

void local_group_free(struct local_group *group, struct group_pmix_job **retained)
{
    task_start_free(group->start);
    for (uint32_t i = 0; i < group->ntasks; i++) {
        task_stdin_close(group->tasks[i].input);
        task_output_close(group->tasks[i].output);
    }
    for (uint32_t i = 0; i < group->ntasks; i++) {
        local_task_end_control(&group->tasks[i]);
        pmi_socket_close(group->tasks[i].pmi);
    }
    group_services_free(group->serves, retained);
    topology_file_forget(group->shared.services->topology_file, group->shared.launch);
    for (uint32_t i = 0; i < group->ntasks; i++) {
        pmi_socket_free(group->tasks[i].pmi);
        task_terminal_free(group->tasks[i].terminal);
        task_stdin_free(group->tasks[i].input);
        task_output_free(group->tasks[i].output);
    }
    launch_free(group->shared.launch);
    idset_free(group->nodes);
    idset_free(group->below);
    exit_report_free(group->shared.report);
    free(group->tasks);
    free(group);
}

/* ---- what it is ---- */

uint32_t local_group_number(const struct local_group *group)
{
    return group->number;
}

enum group_phase local_group_phase(const struct local_group *group)
{
    return group->phase;
}

const struct launch *local_group_launch(const struct local_group *group)
{
    return group->shared.launch;
}

bool local_group_is_unbound(const struct local_group *group)
{
    return group->unbound;
}

uint32_t local_group_ntasks(const struct local_group *group)
{
    return group->ntasks;
}

uint32_t local_group_count(const struct local_group *group)
{
    if (group->phase >= GROUP_RUNNING)
        return group->live;
    uint32_t count = group->ntasks; /* some may have ended before the last one was started */
    for (uint32_t i = 0; i < group->ntasks; i++)
        count -= group->tasks[i].ended;
    return count;
}

bool local_group_is_named(const struct local_group *group, const char *job)
{
    char *own = group->shared.launch ? pmix_job_name(group->shared.launch, group->number) : NULL;
    bool same = own && !strcmp(own, job);
    free(own);
    return same;
}

struct task_info *local_group_states(const struct local_group *group)
{
    struct task_info *states = mem_array(group->ntasks, sizeof(*states));
    for (uint32_t i = 0; i < group->ntasks; i++)
        states[i] = local_task_info(&group->tasks[i]);
    return states;
}

void local_group_add_tasks(const struct local_group *group, const struct idset *ranks,
                           struct inquiry_answer *answer)
{
    for (uint32_t i = 0; i < group->ntasks; i++) {
        const struct local_task *task = &group->tasks[i];
        uint32_t rank = local_task_rank(task);
        if (ranks && !idset_has(ranks, rank))
            continue;
        if (task->pid > 0)
            inquiry_answer_add(answer,
                               &(struct task_sample){.rank = rank, .pid = (uint32_t)task->pid});
        else if (!task->started && group->phase < GROUP_RUNNING)
            idset_add(answer->waiting, rank);
    }
}

/* ---- its start ---- */

static bool start_reads(void *owner, uint32_t task)
{
    return task_stdin_reads(((struct local_group *)owner)->tasks[task].input);
}

static char *const *start_variables(void *owner, uint32_t task, unsigned offered)
{
    struct local_group *group = owner;
    return pmix_job_variables(group->shared.pmix, group->tasks[task].what->local_rank, offered);
}

static void start_on_started(void *owner, uint32_t number, pid_t pid,
                             const struct task_pipes *pipes)
{
    struct local_group *group = owner;
    group->live++;
    group->undrained++;
    local_task_started(&group->tasks[number], pid, pipes, group_services_pmi(group->serves));
}

/* NULL where there are none. */
static char *started_pids(const struct local_group *group)
{
    struct buf text = BUF_INIT;
    uint32_t *pids = mem_array(group->ntasks, sizeof(*pids));
    for (uint32_t i = 0; i < group->ntasks; i++)
        pids[i] = (uint32_t)group->tasks[i].started_pid;
    pid_list_encode(&text, pids, group->ntasks);
    free(pids);
    return group->ntasks ? buf_take_text(&text) : NULL;
}

/* What failed ends the program, but for a group that a task spawned: then it is that task's to know. */
static void start_on_done(void *owner)
{
    struct local_group *group = owner;
    struct started_report report = {0};
    task_start_take_report(group->start, &report);
    for (size_t i = 0; i < report.failed.count && !group->shared.launch->spawned; i++)
        exit_report_ended(group->shared.report, report.failed.list[i].ranks, "start",
                          report.failed.list[i].status, report.failed.list[i].text);
    for (size_t i = 0; i < report.failed.count; i++)
        exit_report_add(group->shared.report, report.failed.list[i].status, false,
                        report.failed.list[i].ranks);
    if (!group->shared.launch->spawned)
        start_failures_clear(&report.failed);
    task_start_free(group->start);
    group->start = NULL;
    group->phase = GROUP_RUNNING;
    report.pids = started_pids(group);
    exit_report_started(group->shared.report, &report);
    started_report_clear(&report);
    group->ops->running(group->owner, group);
}

static const struct task_start_ops start_ops = {group_is_ending, start_reads, start_variables,
                                                start_on_started, start_on_done};

/* Begins nothing where it is vain. */
static void group_start_go(struct local_group *group)
{
    group->phase = GROUP_STARTING;
    task_start_go(group->start);
}

/* All or none: other nodes have to be able to start it, too. */
static void report_prepared(struct local_group *group)
{
    struct prepared_report report = {0};
    task_start_prepare(group->start, &report);
    for (size_t i = 0; i < report.failed.count; i++)
        exit_report_add(group->shared.report, report.failed.list[i].status, false,
                        report.failed.list[i].ranks);
    group->phase = GROUP_PREPARED;
    exit_report_prepared(group->shared.report, &report);
    prepared_report_clear(&report);
}

void local_group_begin(struct local_group *group)
{
    struct error err = ERROR_INIT;
    const struct local_services *services = group->shared.services;
    const struct task_start_config config = {.loop = services->loop,
                                             .launch = group->shared.launch,
                                             .topo = services->topo,
                                             .scratch = services->scratch,
                                             .cgroup = services->cgroup,
                                             .stage = local_stage_place(services->stage),
                                             .older = group->older,
                                             .pmix_served = spec_pmi_served & SPEC_PMI_X};
    bool needs_pmix = false;
    group->unbound = group->shared.launch->claim != NULL;
    group->start = task_start_new(&config, &start_ops, group, &err);
    unsigned offered = group->start ? task_start_offered(group->start, &needs_pmix) : 0;
    if (!group->start || group_services_open(group->serves, offered, needs_pmix, &err) < 0) {
        task_start_free(group->start);
        group->start = NULL;
        group_refuse(group, &err);
        error_clear(&err);
        return;
    }
    task_start_serve(group->start, group_services_pmi(group->serves),
                     pmix_job_memory(group->shared.pmix));
    if (group->shared.launch->nnodes > 1 && group->shared.launch->node != UINT32_MAX) {
        report_prepared(group);
    } else {
        group_start_go(group);
    }
}

void local_group_on_go(struct local_group *group, const struct frame *frame)
{
    local_group_send_down(group, frame);
    group->wanted = true;
}

void local_group_go_on(struct local_group *group)
{
    if (group->phase == GROUP_PREPARED && group->wanted)
        group_start_go(group);
}

void local_group_abandon(struct local_group *group, bool all_end)
{
    if (group->phase == GROUP_PREPARED && (group->shared.terminating || all_end))
        group_start_go(group);
}

size_t local_group_starting(const struct local_group *group, pid_t *pids)
{
    return group->start && group->phase == GROUP_STARTING ? task_start_pids(group->start, pids) : 0;
}

/* ---- its end ---- */

bool local_group_reaped(struct local_group *group, pid_t pid, int status)
{
    for (uint32_t i = 0; i < group->ntasks; i++) {
        if (group->tasks[i].pid == pid) {
            local_task_reaped(&group->tasks[i], status);
            group->last_activity = clock_monotonic_seconds();
            group->live--;
            if (task_stdin_reads(group->tasks[i].input))
                group->ops->stdin_written(group->owner);
            return true;
        }
    }
    return false;
}

void local_group_settle_start(struct local_group *group, pid_t pid)
{
    if (group->start && group->phase == GROUP_STARTING)
        task_start_reaped(group->start, pid);
}

void local_group_kill(struct local_group *group)
{
    pid_t *pids = mem_array(group->ntasks, sizeof(*pids));
    size_t count = 0;
    group->shared.terminating = true;
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (group->tasks[i].pid > 0)
            pids[count++] = group->tasks[i].pid;
    task_signals_kill_groups(group->shared.services->signals, pids, count);
    free(pids);
}

void local_group_owe_signal(struct local_group *group, int number)
{
    if (group->phase < GROUP_RUNNING)
        group->shared.owed_signal = number;
}

void local_group_give_up(struct local_group *group)
{
    group->undrained = 0;
    if (group->phase == GROUP_STARTING)
        group->phase = GROUP_RUNNING;
    for (uint32_t i = 0; i < group->ntasks; i++) {
        if (group->tasks[i].started && !group->tasks[i].ended) {
            local_task_give_up(&group->tasks[i]);
            group->live--;
        }
    }
}

void local_group_nodes_gone(struct local_group *group, const struct idset *nodes)
{
    struct idset *left = idset_subtract(group->below, nodes);
    idset_free(group->below);
    group->below = left;
}

static double kill_grace(const struct local_group *group)
{
    return group->shared.launch ? group->shared.launch->spec->kill_grace : 0;
}

/* What a task left running may still be writing for it (`exec > >(tee log)`): while it holds the
 * task's output and says something now and then, it goes on. */
static bool leftovers_go_on(struct local_group *group)
{
    const struct local_services *services = group->shared.services;
    bool open = false;
    for (uint32_t i = 0; i < group->ntasks && !open; i++)
        open = task_output_is_open(group->tasks[i].output);
    if (!open || local_tasks_are_ending(&group->shared) || uplink_is_lost(services->uplink))
        return false;
    if (task_outputs_are_held(services->outputs)) /* nobody listens for the moment */
        return true;
    double rest = group->last_activity + fmin(LEFTOVER_TIMEOUT, kill_grace(group)) -
                  clock_monotonic_seconds();
    if (rest <= 0)
        return false;
    task_termination_look_again(services->termination, rest);
    return true;
}

/* Own tasks have ended and their output is read. Where no other group has tasks, what this one's left
 * behind goes too; else it belongs to the program, and goes with the last. */
static void end_here(struct local_group *group)
{
    struct task_termination *termination = group->shared.services->termination;
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (group->tasks[i].exit_unsettled)
            return; /* openpmix has not seen all that it said */
    if (!group->ops->is_last(group->owner, group)) {
        if (leftovers_go_on(group))
            return;
    } else if (task_termination_has_leftovers(termination)) {
        if (!leftovers_go_on(group))
            task_termination_end_leftovers(termination, kill_grace(group));
        return;
    } else {
        task_termination_nothing_left(termination);
    }
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (!task_output_drain(group->tasks[i].output) &&
            !uplink_is_lost(group->shared.services->uplink))
            return; /* the rest comes when there is room for it */
    group->phase = GROUP_OVER;
    for (uint32_t i = 0; i < group->ntasks; i++) {
        task_stdin_close(group->tasks[i].input);
        task_terminal_close(group->tasks[i].terminal);
        task_output_close(group->tasks[i].output);
    }
    group->ops->over(group->owner, group);
}

static void drain_ended(struct local_group *group)
{
    if (group->undrained == group->live)
        return;
    for (uint32_t i = 0; i < group->ntasks && group->undrained &&
                         !task_outputs_are_held(group->shared.services->outputs);
         i++) {
        struct local_task *task = &group->tasks[i];
        if (!task->ended || task->drained || !task_output_drain(task->output))
            continue;
        task->drained = true;
        group->undrained--;
    }
}

bool local_group_check(struct local_group *group)
{
    const struct local_services *services = group->shared.services;
    if (group->phase == GROUP_RUNNING) {
        drain_ended(group);
        if (!group->live && (!group->undrained || uplink_is_lost(services->uplink)))
            end_here(group);
    }
    if (group->phase != GROUP_OVER || task_outputs_are_held(services->outputs) ||
        !idset_empty(group->below))
        return false;
    exit_report_done(group->shared.report, group->nodes);
    return true;
}

/* ---- frames and bytes ---- */

void local_group_send_down(struct local_group *group, const struct frame *frame)
{
    if (!idset_empty(group->nodes))
        downlink_send_nodes(group->shared.services->downlink, group->nodes, frame);
}

void local_group_on_fence_up(struct local_group *group, const struct frame *frame)
{
    if (group->serves)
        group_fence_up(group_services_fence(group->serves), frame);
}

void local_group_on_fence_down(struct local_group *group, const struct frame *frame)
{
    if (group->serves)
        group_fence_down(group_services_fence(group->serves), frame);
}

void local_group_on_missing(struct local_group *group, const struct frame *frame)
{
    local_group_send_down(group, frame);
    if (frame->len != 8 || !group->shared.launch || local_tasks_are_ending(&group->shared))
        return;
    uint64_t from = frame_get_u64(frame->bytes);
    struct pmi_sockets *pmi = group_services_pmi(group->serves);
    if (frame->flags & FRAME_MISSING_PMIX)
        pmix_job_missing(group->shared.pmix, frame->rank, from);
    else if (pmi)
        pmi_sockets_missing(pmi, frame->rank, from);
}

void local_group_on_done(struct local_group *group, const struct frame *frame)
{
    struct idset *nodes = exit_report_merge(group->shared.report, frame);
    if (nodes)
        local_group_nodes_gone(group, nodes);
    idset_free(nodes);
}

void local_group_on_answer(struct local_group *group, const struct frame *frame)
{
    if (group->serves)
        spawn_and_names_on_answer(group_services_requests(group->serves), frame);
}

void local_group_on_post(struct local_group *group, const struct frame *frame)
{
    if (group->shared.pmix)
        pmix_job_on_post(group->shared.pmix, group->phase == GROUP_WAITING, frame);
}

static bool is_chosen(const struct local_task *task, const struct idset *ranks)
{
    return !ranks || idset_has(ranks, local_task_rank(task));
}

void local_group_on_stdin(struct local_group *group, const struct frame *frame,
                          const struct idset *ranks)
{
    bool end = frame->type == FRAME_STDIN_END;
    for (uint32_t i = 0; i < group->ntasks; i++) {
        struct local_task *task = &group->tasks[i];
        if (!is_chosen(task, ranks))
            continue;
        task_stdin_write(task->input, frame->bytes, frame->len, end && !task->terminal);
        if (end && task->terminal)
            task_terminal_end_input(task->terminal);
    }
}

void local_group_on_terminal(struct local_group *group, const struct frame *frame)
{
    for (uint32_t i = 0; i < group->ntasks; i++) {
        if (!group->tasks[i].terminal)
            continue;
        if (frame->len == 8)
            task_terminal_resize(group->tasks[i].terminal, frame_get_u64(frame->bytes));
        else if (!frame->len)
            local_task_hang_up(&group->tasks[i]);
    }
}

bool local_group_stdin_lags(const struct local_group *group, const struct idset *ranks)
{
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (task_stdin_lags(group->tasks[i].input) && is_chosen(&group->tasks[i], ranks))
            return true;
    return false;
}

void local_group_add_reading(struct local_group *group, const struct idset *ranks,
                             struct idset *reading, struct idset *lagging)
{
    for (uint32_t i = 0; i < group->ntasks; i++) {
        struct local_task *task = &group->tasks[i];
        if (!is_chosen(task, ranks))
            continue;
        task_stdin_look(task->input);
        if (task_stdin_is_open(task->input))
            idset_add(reading, local_task_rank(task));
        if (task_stdin_lags(task->input))
            idset_add(lagging, local_task_rank(task));
    }
}

void local_group_output_resumed(struct local_group *group)
{
    group->last_activity = clock_monotonic_seconds();
}

void local_group_pmix_failed(struct local_group *group, const struct error *err)
{
    exit_report_ended(group->shared.report, NULL, "pmi", W_EXITCODE(1, 0), error_text(err));
}
