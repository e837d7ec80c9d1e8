/* A task group on this node, from its launch to its last word. */
#include "launcher/agent/local_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "launcher/agent/group_services.h"
#include "launcher/agent/group_tasks.h"
#include "launcher/protocol/environment_block.h"
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
    struct group_tasks *tasks;
    uint32_t older;      /* tasks of groups that were added before, also of those that are gone */
    struct idset *nodes; /* below this one, that take part */
    struct idset *below; /* those of them that have not reported their end */
    struct group_services *serves;
    bool wanted;  /* all its nodes can start it */
    bool unbound; /* as mapped; a cgroup may keep its tasks all the same */
};

static struct launch *read_launch(uint32_t node, const struct frame *frame, struct error *err)
{
    char **environment = NULL;
    json_t *value = environment_block_read(frame, &environment, err);
    struct launch *launch = value ? launch_from_json(value, node, err) : NULL;
    json_decref(value);
    if (launch)
        spec_take_environment(launch->spec, environment);
    else
        string_list_free(environment);
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

static bool group_is_ending(void *owner)
{
    const struct local_group *group = owner;
    return local_tasks_are_ending(&group->shared);
}

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
    group->tasks = group_tasks_new(&group->shared, ops->stdin_written, owner);
    if (group->shared.launch) {
        const struct group_services_config config = {.shared = &group->shared,
                                                     .nodes = group->nodes,
                                                     .task_ops = &group_tasks_pmix_ops,
                                                     .tasks = group->tasks,
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
    group_tasks_close(group->tasks);
    group_services_free(group->serves, retained);
    topology_file_forget(group->shared.services->topology_file, group->shared.launch);
    group_tasks_free(group->tasks);
    launch_free(group->shared.launch);
    idset_free(group->nodes);
    idset_free(group->below);
    exit_report_free(group->shared.report);
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

struct group_tasks *local_group_tasks(const struct local_group *group)
{
    return group->tasks;
}

/* Some may have ended before the last one was started. */
uint32_t local_group_count(const struct local_group *group)
{
    return group->phase >= GROUP_RUNNING ? group_tasks_running(group->tasks)
                                         : group_tasks_not_ended(group->tasks);
}

bool local_group_is_named(const struct local_group *group, const char *job)
{
    char *own = group->shared.launch ? pmix_job_name(group->shared.launch, group->number) : NULL;
    bool same = own && !strcmp(own, job);
    free(own);
    return same;
}

/* ---- its start ---- */

static bool start_reads(void *owner, uint32_t task)
{
    return group_tasks_reads(((struct local_group *)owner)->tasks, task);
}

static char *const *start_variables(void *owner, uint32_t task, unsigned offered)
{
    struct local_group *group = owner;
    return pmix_job_variables(group->shared.pmix, group->shared.launch->tasks[task].local_rank,
                              offered);
}

static void start_on_started(void *owner, uint32_t number, pid_t pid,
                             const struct task_pipes *pipes)
{
    struct local_group *group = owner;
    group_tasks_started(group->tasks, number, pid, pipes, group_services_pmi(group->serves));
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
    report.pids = group_tasks_pids(group->tasks);
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

void local_group_settle_start(struct local_group *group, pid_t pid)
{
    if (group->start && group->phase == GROUP_STARTING)
        task_start_reaped(group->start, pid);
}

void local_group_kill(struct local_group *group)
{
    group->shared.terminating = true;
    group_tasks_kill(group->tasks);
}

void local_group_owe_signal(struct local_group *group, int number)
{
    if (group->phase < GROUP_RUNNING)
        group->shared.owed_signal = number;
}

void local_group_give_up(struct local_group *group)
{
    if (group->phase == GROUP_STARTING)
        group->phase = GROUP_RUNNING;
    group_tasks_give_up(group->tasks);
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
    if (!group_tasks_output_is_open(group->tasks) || local_tasks_are_ending(&group->shared) ||
        uplink_is_lost(services->uplink))
        return false;
    if (task_outputs_are_held(services->outputs)) /* nobody listens for the moment */
        return true;
    double rest = group_tasks_last_activity(group->tasks) +
                  fmin(LEFTOVER_TIMEOUT, kill_grace(group)) - clock_monotonic_seconds();
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
    if (!group_tasks_are_settled(group->tasks))
        return;
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
    if (!group_tasks_drain(group->tasks))
        return; /* the rest comes when there is room for it */
    group->phase = GROUP_OVER;
    group_tasks_close(group->tasks);
    group->ops->over(group->owner, group);
}

bool local_group_check(struct local_group *group)
{
    const struct local_services *services = group->shared.services;
    if (group->phase == GROUP_RUNNING && group_tasks_have_ended(group->tasks))
        end_here(group);
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

bool local_group_has_asked(const struct local_group *group)
{
    return group->serves && spawn_and_names_were_any(group_services_requests(group->serves));
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

void local_group_pmix_failed(struct local_group *group, const struct error *err)
{
    exit_report_ended(group->shared.report, NULL, "pmi", W_EXITCODE(1, 0), error_text(err));
}
