/* A task group on this node, from its launch to its last word. */
#include "launcher/agent/local_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "launcher/agent/local_group_private.h"

/* s of silence after which what a task left behind is ended; at most the kill grace */
#define LEFTOVER_TIMEOUT 1.0

/* ---- known ---- */

static void group_on_activity(void *owner)
{
    struct local_group *group = owner;
    group->last_activity = ev_now(group->services->loop);
}

static void group_on_stdin_written(void *owner)
{
    struct local_group *group = owner;
    group->ops->stdin_written(group->owner);
}

static void make_tasks(struct local_group *group)
{
    const struct launch *launch = group->launch;
    const struct local_services *services = group->services;
    group->ntasks = launch->nlocal;
    group->tasks = mem_array(group->ntasks, sizeof(*group->tasks));
    for (uint32_t i = 0; i < group->ntasks; i++) {
        struct task *task = &group->tasks[i];
        task->group = group;
        task->what = &launch->tasks[i];
        task->drained = true;
        if (!group->number &&
            launch_reads_input(launch->spec, launch->input_ranks, task->what->rank))
            task->input = task_stdin_new(services->loop, group_on_stdin_written, group);
        const struct task_output_config config = {.group = group->number,
                                                  .rank = task_rank(task),
                                                  .unbuffered = launch->spec->unbuffered,
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
    const struct launch *launch = group->launch;
    const struct idset *below = downlink_nodes(group->services->downlink);
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
    if (group->launch && group->launch->spawned)
        report.failed = (struct start_failures){&failure, 1};
    else
        exit_report_ended(group->report, NULL, "start", failure.status, failure.text);
    group->phase = GROUP_RUNNING;
    exit_report_started(group->report, &report);
    idset_free(failure.ranks);
    free(failure.text);
}

static void group_serve(struct local_group *group)
{
    const struct local_services *services = group->services;
    group->fence = group_fence_new(services->uplink, services->downlink, group->launch,
                                   group->nodes, &group_fence_ops, group);
    const struct group_pmix_job_config config = {.host = services->pmix,
                                                 .fence = group->fence,
                                                 .launch = group->launch,
                                                 .ops = &group_pmix_ops,
                                                 .owner = group,
                                                 .post = group->ops->post,
                                                 .sender = group->owner};
    group->pmix = pmix_job_new(&config);
    group->requests =
        spawn_and_names_new(services->uplink, group->launch, group->pmix, services->topology_file);
}

struct local_group *local_group_new(const struct local_services *services,
                                    const struct frame *frame, uint32_t older,
                                    const struct local_group_ops *ops, void *owner)
{
    struct error err = ERROR_INIT;
    struct local_group *group = mem_alloc(sizeof(*group));
    *group = (struct local_group){
        .services = services, .ops = ops, .owner = owner, .number = frame->group, .older = older};
    group->report = exit_report_new(services->uplink, group->number);
    if (!group->number) /* it may be large: it is passed on before it is read */
        downlink_send(services->downlink, frame);
    group->launch = read_launch(uplink_node(services->uplink), frame, &err);
    group->nodes = nodes_below(group);
    group->below = idset_copy(group->nodes);
    if (group->number)
        local_group_send_down(group, frame);
    if (group->launch) {
        make_tasks(group);
        group_serve(group);
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
    for (uint32_t i = 0; i < group->ntasks; i++)
        task_control_end(&group->tasks[i]);
    if (group->pmix && retained && !group_is_ending(group))
        pmix_job_retain(retained, group->pmix);
    else
        pmix_job_free(group->pmix);
    for (uint32_t i = 0; i < group->ntasks; i++)
        pmi_socket_close(group->tasks[i].pmi);
    pmi_sockets_free(group->pmi);
    group_fence_free(group->fence);
    spawn_and_names_free(group->requests);
    topology_file_forget(group->services->topology_file, group->launch);
    for (uint32_t i = 0; i < group->ntasks; i++) {
        pmi_socket_free(group->tasks[i].pmi);
        task_stdin_free(group->tasks[i].input);
        task_output_free(group->tasks[i].output);
    }
    launch_free(group->launch);
    idset_free(group->nodes);
    idset_free(group->below);
    exit_report_free(group->report);
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
    return group->launch;
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
    char *own = group->launch ? pmix_job_name(group->launch, group->number) : NULL;
    bool same = own && !strcmp(own, job);
    free(own);
    return same;
}

struct task_info *local_group_states(const struct local_group *group)
{
    struct task_info *states = mem_array(group->ntasks, sizeof(*states));
    for (uint32_t i = 0; i < group->ntasks; i++)
        states[i] = task_info_of(&group->tasks[i]);
    return states;
}

/* ---- its start ---- */

static bool start_is_vain(void *owner)
{
    return group_is_ending(owner);
}

static bool start_reads(void *owner, uint32_t task)
{
    return task_stdin_reads(((struct local_group *)owner)->tasks[task].input);
}

static char *const *start_variables(void *owner, uint32_t task, unsigned offered)
{
    struct local_group *group = owner;
    return pmix_job_variables(group->pmix, group->tasks[task].what->local_rank, offered);
}

static void start_on_started(void *owner, uint32_t number, pid_t pid,
                             const struct task_pipes *pipes)
{
    struct local_group *group = owner;
    struct task *task = &group->tasks[number];
    task->pid = pid;
    task->started = true;
    task->drained = false;
    group->live++;
    group->undrained++;
    task_output_open(task->output, pipes->out, pipes->err);
    if (pipes->in >= 0)
        task_stdin_open(task->input, pipes->in);
    if (pipes->pmi >= 0)
        task->pmi = pmi_socket_open(group->pmi, task->what, pipes->pmi);
    task_started_signals(task);
}

/* What failed ends the program, but for a group that a task spawned: then it is that task's to know. */
static void start_on_done(void *owner)
{
    struct local_group *group = owner;
    struct started_report report = {0};
    task_start_take_report(group->start, &report);
    for (size_t i = 0; i < report.failed.count && !group->launch->spawned; i++)
        exit_report_ended(group->report, report.failed.list[i].ranks, "start",
                          report.failed.list[i].status, report.failed.list[i].text);
    for (size_t i = 0; i < report.failed.count; i++)
        exit_report_add(group->report, report.failed.list[i].status, false,
                        report.failed.list[i].ranks);
    if (!group->launch->spawned)
        start_failures_clear(&report.failed);
    task_start_free(group->start);
    group->start = NULL;
    group->phase = GROUP_RUNNING;
    exit_report_started(group->report, &report);
    started_report_clear(&report);
    group->ops->running(group->owner, group);
}

static const struct task_start_ops start_ops = {start_is_vain, start_reads, start_variables,
                                                start_on_started, start_on_done};

/* What may be more than a program needs, since nothing is known of it, need not be there. */
static int group_open_pmi(struct local_group *group, struct error *err)
{
    const struct local_services *services = group->services;
    bool needs_pmix;
    unsigned offered = task_start_offered(group->start, &needs_pmix);
    group->pmi = pmi_sockets_new(services->loop, group->launch, offered, &group_pmi_ops, group);
    if (pmix_job_open(group->pmix, offered, err) < 0 && (needs_pmix || group->launch->spec->tools))
        return -1;
    error_clear(err);
    task_start_serve(group->start, group->pmi, pmix_job_memory(group->pmix));
    return 0;
}

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
        exit_report_add(group->report, report.failed.list[i].status, false,
                        report.failed.list[i].ranks);
    group->phase = GROUP_PREPARED;
    exit_report_prepared(group->report, &report);
    prepared_report_clear(&report);
}

void local_group_begin(struct local_group *group)
{
    struct error err = ERROR_INIT;
    const struct local_services *services = group->services;
    const struct task_start_config config = {.loop = services->loop,
                                             .launch = group->launch,
                                             .topo = services->topo,
                                             .scratch = services->scratch,
                                             .cgroup = services->cgroup,
                                             .older = group->older,
                                             .pmix_served = spec_pmi_served & SPEC_PMI_X};
    group->unbound = group->launch->claim != NULL;
    group->start = task_start_new(&config, &start_ops, group, &err);
    if (!group->start || group_open_pmi(group, &err) < 0) {
        task_start_free(group->start);
        group->start = NULL;
        group_refuse(group, &err);
    } else if (group->launch->nnodes > 1 && group->launch->node != UINT32_MAX) {
        report_prepared(group);
    } else {
        group_start_go(group);
    }
    error_clear(&err);
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
    if (group->phase == GROUP_PREPARED && (group->terminating || all_end))
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
            task_reaped(&group->tasks[i], status);
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
    group->terminating = true;
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (group->tasks[i].pid > 0)
            pids[count++] = group->tasks[i].pid;
    task_signals_kill_groups(group->services->signals, pids, count);
    free(pids);
}

void local_group_owe_signal(struct local_group *group, int number)
{
    if (group->phase < GROUP_RUNNING)
        group->owed_signal = number;
}

void local_group_give_up(struct local_group *group)
{
    group->undrained = 0;
    if (group->phase == GROUP_STARTING)
        group->phase = GROUP_RUNNING;
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (group->tasks[i].started && !group->tasks[i].ended)
            task_give_up(&group->tasks[i]);
}

void local_group_nodes_gone(struct local_group *group, const struct idset *nodes)
{
    struct idset *left = idset_subtract(group->below, nodes);
    idset_free(group->below);
    group->below = left;
}

static double kill_grace(const struct local_group *group)
{
    return group->launch ? group->launch->spec->kill_grace : 0;
}

/* What a task left running may still be writing for it (`exec > >(tee log)`): while it holds the
 * task's output and says something now and then, it goes on. */
static bool leftovers_go_on(struct local_group *group)
{
    const struct local_services *services = group->services;
    bool open = false;
    for (uint32_t i = 0; i < group->ntasks && !open; i++)
        open = task_output_is_open(group->tasks[i].output);
    if (!open || group_is_ending(group) || uplink_is_lost(services->uplink))
        return false;
    if (task_outputs_are_held(services->outputs)) /* nobody listens for the moment */
        return true;
    double rest =
        group->last_activity + fmin(LEFTOVER_TIMEOUT, kill_grace(group)) - ev_now(services->loop);
    if (rest <= 0)
        return false;
    task_termination_look_again(services->termination, rest);
    return true;
}

/* Where no other group has tasks, what this one's left behind goes too; else it belongs to the
 * program, and goes with the last. */
static bool nothing_left(struct local_group *group)
{
    struct task_termination *termination = group->services->termination;
    if (!group->ops->is_last(group->owner, group))
        return !leftovers_go_on(group);
    if (!task_termination_has_leftovers(termination)) {
        task_termination_nothing_left(termination);
        return true;
    }
    if (!leftovers_go_on(group))
        task_termination_end_leftovers(termination, kill_grace(group));
    return false;
}

/* Own tasks have ended and their output is read. */
static void end_here(struct local_group *group)
{
    if (!nothing_left(group))
        return;
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (!task_output_drain(group->tasks[i].output) && !uplink_is_lost(group->services->uplink))
            return; /* the rest comes when there is room for it */
    group->phase = GROUP_OVER;
    for (uint32_t i = 0; i < group->ntasks; i++) {
        task_stdin_close(group->tasks[i].input);
        task_output_close(group->tasks[i].output);
    }
    group->ops->over(group->owner, group);
}

static void drain_ended(struct local_group *group)
{
    if (group->undrained == group->live)
        return;
    for (uint32_t i = 0;
         i < group->ntasks && group->undrained && !task_outputs_are_held(group->services->outputs);
         i++) {
        struct task *task = &group->tasks[i];
        if (!task->ended || task->drained || !task_output_drain(task->output))
            continue;
        task->drained = true;
        group->undrained--;
    }
}

bool local_group_check(struct local_group *group)
{
    const struct local_services *services = group->services;
    if (group->phase == GROUP_RUNNING) {
        drain_ended(group);
        if (!group->live && !group->unsettled &&
            (!group->undrained || uplink_is_lost(services->uplink)))
            end_here(group);
    }
    if (group->phase != GROUP_OVER || task_outputs_are_held(services->outputs) ||
        !idset_empty(group->below))
        return false;
    exit_report_done(group->report, group->nodes);
    return true;
}

/* ---- frames and bytes ---- */

void local_group_send_down(struct local_group *group, const struct frame *frame)
{
    if (!idset_empty(group->nodes))
        downlink_send_nodes(group->services->downlink, group->nodes, frame);
}

void local_group_on_fence_up(struct local_group *group, const struct frame *frame)
{
    if (group->fence)
        group_fence_up(group->fence, frame);
}

void local_group_on_fence_down(struct local_group *group, const struct frame *frame)
{
    if (group->fence)
        group_fence_down(group->fence, frame);
}

void local_group_on_missing(struct local_group *group, const struct frame *frame)
{
    local_group_send_down(group, frame);
    if (frame->len != 8 || !group->launch || group_is_ending(group))
        return;
    uint64_t from = frame_get_u64(frame->bytes);
    if (frame->flags & FRAME_MISSING_PMIX)
        pmix_job_missing(group->pmix, frame->rank, from);
    else if (group->pmi)
        pmi_sockets_missing(group->pmi, frame->rank, from);
}

void local_group_on_done(struct local_group *group, const struct frame *frame)
{
    struct idset *nodes = exit_report_merge(group->report, frame);
    if (nodes)
        local_group_nodes_gone(group, nodes);
    idset_free(nodes);
}

void local_group_on_answer(struct local_group *group, const struct frame *frame)
{
    if (group->requests)
        spawn_and_names_on_answer(group->requests, frame);
}

void local_group_on_post(struct local_group *group, const struct frame *frame)
{
    if (group->pmix)
        pmix_job_on_post(group->pmix, group->phase == GROUP_WAITING, frame);
}

void local_group_on_stdin(struct local_group *group, const struct frame *frame)
{
    for (uint32_t i = 0; i < group->ntasks; i++)
        task_stdin_write(group->tasks[i].input, frame->bytes, frame->len,
                         frame->type == FRAME_STDIN_END);
}

bool local_group_stdin_lags(const struct local_group *group)
{
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (task_stdin_lags(group->tasks[i].input))
            return true;
    return false;
}

void local_group_output_resumed(struct local_group *group)
{
    group->last_activity = ev_now(group->services->loop);
}

void local_group_pmix_failed(struct local_group *group, const struct error *err)
{
    exit_report_ended(group->report, NULL, "pmi", W_EXITCODE(1, 0), error_text(err));
}
