/* A program: what each change of its state does, and what its objects tell it. */
#include "launcher/program/program.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/sets/hostlist.h"
#include "base/clock.h"
#include "base/mem.h"
#include "launcher/ledger/completed.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/ledger/instance_lock.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/process/signal_name.h"
#include "launcher/program/program_private.h"
#include "launcher/program/run_report.h"
#include "launcher/program/start_advice.h"
#include "launcher/protocol/launch.h"
#include "launcher/protocol/task_report.h"

/* With -v. */
__attribute__((format(printf, 2, 3))) static void program_say(struct program *program,
                                                              const char *fmt, ...)
{
    char text[512];
    va_list args;
    if (!program->spec->verbose)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    program->ops->say(program->owner, text);
}

/* ---- what a change of state does ---- */

static struct task_group *program_launch_group(void *owner, const struct task_group_source *from)
{
    struct program *program = owner;
    const struct resources *resources = program_start_resources(program->start);
    struct task_group_origin origin = {.program = entry_id(resources_entry(resources)),
                                       .instance = instance_path(resources_instance(resources)),
                                       .instance_id = resources_instance_id(resources),
                                       .enclosing = resources_enclosing(resources),
                                       .hosts = host_names(program_start_hosts(program->start))};
    return task_group_start(program->groups, from, &origin);
}

static const struct time_limit_ops limit_ops;
static const struct graceful_stop_ops stop_ops;

static void limit_time(struct program *program)
{
    const struct rset *R = host_nodes(program_start_hosts(program->start))->R;
    program->limit =
        time_limit_new(program->loop, program->spec, R ? R->expiration : 0, &limit_ops, program);
}

/* Where agents are, which run nothing of this program. */
static void log_agents(struct program *program)
{
    const struct host_table *hosts = program_start_hosts(program->start);
    struct hostlist *up = hostlist_new();
    for (uint32_t i = 0; i < host_count(hosts); i++)
        if (host_at(hosts, i)->state == HOST_UP)
            hostlist_append(up, host_names(hosts)[i]);
    char *names = hostlist_encode(up);
    program_log_event(program->log, "agents", json_pack("{s:s}", "hosts", names));
    free(names);
    hostlist_free(up);
}

void program_agents_idle(struct program *program, double until)
{
    program_log_agents_used(program->log, until);
}

static void program_launch(struct program *program)
{
    struct resources *resources = program_start_resources(program->start);
    const struct host_table *hosts = program_start_hosts(program->start);
    const struct plan *plan = program_start_plan(program->start);
    const struct layout *layout = plan_layout(plan);
    struct instance *instance = resources_instance(resources);
    struct ledger_entry *entry = resources_entry(resources);
    double longest;
    program_start_tasks_run(program->start);
    if (program->spec->agents_only) {
        limit_time(program);
        return;
    }
    program_say(program, "program %s: %u task%s on %u node%s", entry_id(entry), layout->ntasks,
                layout->ntasks > 1 ? "s" : "", layout->nnodes, layout->nnodes > 1 ? "s" : "");
    size_t locks = instance_locks(instance, &longest);
    program_say(program, "instance %s: locked %zu times, for %.3f ms at most",
                instance_path(instance), locks, longest * 1e3);
    display_expect_bindings(program_start_display(program->start));
    if (program->spec->abort_may_succeed)
        outcome_abort_may_succeed(program->outcome);
    program_service_start(program->service, instance, entry, resources_instance_id(resources),
                          host_names(hosts));
    task_groups_set_claim(program->groups, plan_claim(plan));
    struct task_group_source from = {.spec = program->spec, .plan = plan};
    const struct task_group *group = program_launch_group(program, &from);
    program->starting = idset_copy(task_group_nodes(group));
    program->input_nodes =
        launch_input_nodes(program->spec, task_group_map(group), task_group_tree_nodes(group),
                           task_group_nnodes(group));
    limit_time(program);
    resources_begin_limit(resources, plan_claim(plan));
    program->stop =
        graceful_stop_new(program->loop, program->tree, program->groups, host_count(hosts),
                          program->spec->stop_grace, &stop_ops, program);
}

/* The tasks hear of it; again in case there is less time than before. */
static void program_end_tasks(struct program *program, double grace)
{
    program_termination_start(program->termination, grace);
    program->terminated = true;
    time_limit_stop_warning(program->limit);
    graceful_stop_over(program->stop);
}

/* An agent knows of epilogs on its own node only, and waits for those below it as long as we do. */
static void program_end_tree(void *owner)
{
    struct program *program = owner;
    double epilogs = program->ops->inner_epilogs(program->owner);
    struct frame frame = {.type = FRAME_EPILOGS, .node = FRAME_ALL, .rank = frame_grace(epilogs)};
    if (epilogs > 0)
        tree_send(program->tree, &frame);
    tree_end(program->tree, program->gone_patience + epilogs);
}

void program_begin_end(struct program *program)
{
    program_hooks_epilog(program_start_hooks(program->start),
                         program->ops->inner_epilogs(program->owner), program_end_tree, program);
}

static void program_finish(struct program *program)
{
    program_start_stop(program->start);
    time_limit_stop(program->limit);
    program_termination_stop(program->termination);
    program_claim_stop(program->claim);
    graceful_stop_over(program->stop);
    lost_hosts_stop(program->lost);
    inquiries_settle(program->inquiries);
    if (program->spec->epilog || program->spec->agents_only)
        program->ops->finishing(program->owner);
    else
        program_begin_end(program);
}

/* ---- states ---- */

/* Once the ledger knows the program. */
static void open_log(struct program *program)
{
    const struct resources *resources = program_start_resources(program->start);
    if (resources)
        program_log_attach(program->log, resources_entry(resources), program->spec);
}

/* Written before anybody hears of it, and as soon as the ledger knows the program. With what is launched comes
 * another event, and both are written then. */
static void log_transition(struct program *program, enum program_event event,
                           struct program_transition change, double grace)
{
    const char *name = program_event_name(event);
    json_t *context = NULL;
    if (change.action == PROGRAM_LAUNCH && program->spec->agents_only) {
        log_agents(program);
    } else if (change.action == PROGRAM_LAUNCH) {
        const struct layout *layout = plan_layout(program_start_plan(program->start));
        program_log_event(program->log, "alloc",
                          json_pack("{s:I, s:I}", "ntasks", (json_int_t)layout->ntasks, "nnodes",
                                    (json_int_t)layout->nnodes));
    } else if (change.action == PROGRAM_END_TASKS) {
        context = json_pack("{s:f}", "grace", grace);
        if (program->ended_by)
            json_object_set_new(context, "who", frame_text(program->ended_by));
    } else if (change.action == PROGRAM_FINISH) {
        name = "finish";
    }
    if (name && (change.action != PROGRAM_NOTHING || change.next != program->state))
        program_log_event(program->log, name, context);
    if (change.action != PROGRAM_LAUNCH)
        program_log_write(program->log);
}

/* The state is changed first: what is done may cause the next event. */
void program_event(struct program *program, enum program_event event, double grace)
{
    struct program_transition change = program_transition(program->state, event);
    assert(change.action != PROGRAM_UNEXPECTED);
    open_log(program);
    log_transition(program, event, change, grace);
    program->state = change.next;
    if (change.action == PROGRAM_ASK)
        program_start_begin(program->start);
    else if (change.action == PROGRAM_LAUNCH)
        program_launch(program);
    else if (change.action == PROGRAM_END_TASKS && !program->spec->agents_only)
        program_end_tasks(program, grace);
    else if (change.action == PROGRAM_FINISH)
        program_finish(program);
    if (program->spec->agents_only && change.action == PROGRAM_LAUNCH)
        program_event(program, PROGRAM_STARTED, 0);
    else if (program->spec->agents_only && change.action == PROGRAM_END_TASKS) {
        program->terminated = true; /* others' tasks are others' affair */
        program_event(program, PROGRAM_OVER, 0);
    }
    if (event == PROGRAM_STARTED && program->state == PROGRAM_RUNNING)
        program->ops->runs(program->owner);
}

enum program_state program_state(const struct program *program)
{
    return program->state;
}

void program_set_stage(struct program *program, struct stage_source *source)
{
    stage_sender_set(program_start_stage(program->start), source);
}

void program_room(struct program *program)
{
    stage_sender_room(program_start_stage(program->start));
}

bool program_is_pending(const struct program *program)
{
    return program->state <= PROGRAM_PENDING;
}

bool program_is_live(const struct program *program)
{
    return program->state >= PROGRAM_STARTING && program->state <= PROGRAM_ENDING;
}

void program_fail(struct program *program, int status, const char *line, double grace)
{
    outcome_other(program->outcome, clock_monotonic_ns(), status, line);
    program_event(program, PROGRAM_TERMINATE, grace);
}

/* ---- limits and signals ---- */

static void on_limit_reached(void *owner, const char *line, const char *reason)
{
    struct program *program = owner;
    program_fail(program, OUTCOME_TIME_LIMIT, line, program->spec->stop_grace);
    graceful_stop_terminated(program->stop, reason, program->spec->stop_grace);
}

static void on_limit_warning(void *owner, char *before)
{
    struct program *program = owner;
    graceful_stop_signal(program->stop, program->spec->warn_signal, before, "");
}

static const struct time_limit_ops limit_ops = {on_limit_reached, on_limit_warning};

static void program_on_note(void *owner, const char *text)
{
    struct program *program = owner;
    program->ops->note(program->owner, text);
}

static void on_stop_expired(void *owner, int status, const char *line)
{
    struct program *program = owner;
    outcome_always(program->outcome, clock_monotonic_ns(), status, line);
    program_event(program, PROGRAM_TERMINATE, 0);
}

static const struct graceful_stop_ops stop_ops = {program_on_note, on_stop_expired};

/* ---- the start ---- */

static void program_on_say(void *owner, const char *text)
{
    program_say(owner, "%s", text);
}

static void program_on_show(void *owner, const char *text, bool error)
{
    struct program *program = owner;
    program->ops->show(program->owner, text, error);
}

static int program_on_draw(void *owner, const char *text, struct error *err)
{
    struct program *program = owner;
    return program->ops->result(program->owner, FRAME_RESULT_DRAW, text, err);
}

static bool program_on_progress(void *owner, const json_t *progress)
{
    struct program *program = owner;
    return program->ops->progress(program->owner, progress);
}

static void program_on_event(void *owner, const char *name, json_t *context)
{
    struct program *program = owner;
    program_log_event(program->log, name, context);
    program_log_write(program->log);
}

static const struct spawns_ops spawns_ops;

static void program_on_opened(void *owner)
{
    struct program *program = owner;
    struct program_start *start = program->start;
    struct resources *resources = program_start_resources(start);
    open_log(program);
    program_log_write(program->log);
    struct group_starts *starts = program_start_groups(start);
    outcome_set_hosts(program->outcome, host_names(program_start_hosts(start)));
    program->claim = program_claim_new(program->loop, program->spec, resources,
                                       group_starts_lock(starts), program->groups);
    struct spawn_base base = {.spec = program->spec,
                              .resources = resources,
                              .agents = program_start_agents(start),
                              .groups = program->groups,
                              .starts = starts,
                              .claim = program->claim,
                              .tree = program->tree,
                              .stage = program_start_stage(start)};
    program->spawns = spawns_new(&base, &spawns_ops, program);
    program->returned = idset_new();
    if (program->spec->initial_program && !program->spec->dry_run)
        program->lost = lost_hosts_new(program->loop, program_start_agents(start));
}

static void program_on_waits(void *owner, const char *what)
{
    struct program *program = owner;
    open_log(program);
    program_log_event(program->log, "waiting", json_pack("{s:s}", "for", what));
    program_log_write(program->log);
}

static void program_on_planned(void *owner)
{
    struct program *program = owner;
    program_event(program, program->spec->dry_run ? PROGRAM_SHOWN : PROGRAM_PLANNED, 0);
}

static void program_on_refused(void *owner, const struct error *err)
{
    struct program *program = owner;
    outcome_other(program->outcome, clock_monotonic_ns(), err->kind, error_text(err));
    program_event(program, PROGRAM_REFUSED, 0);
}

/* Programs of this instance find its files on each host, after its prolog. */
static void program_on_prepared_late(void *owner, const struct error *err)
{
    struct program *program = owner;
    if (program->state == PROGRAM_COMPLETE)
        return;
    struct idset *returned = idset_copy(program->returned);
    if (err) {
        char *line = mem_format("%s; programs run elsewhere", error_text(err));
        program->ops->note(program->owner, line);
        free(line);
    }
    IDSET_FOREACH(node, returned)
    {
        if (program_start_lacks(program->start, node))
            continue;
        char *line = mem_format("%s: answers again; programs may run there",
                                program_host_name(program, node));
        program->ops->note(program->owner, line);
        free(line);
        idset_remove(program->returned, node);
    }
    idset_free(returned);
}

static const struct program_start_ops start_ops = {
    program_on_note,     program_on_say,     program_on_show,         program_on_draw,
    program_on_progress, program_on_event,   program_on_opened,       program_on_waits,
    program_on_planned,  program_on_refused, program_on_prepared_late};

/* ---- groups ---- */

static void on_group_added(void *owner, struct task_group *group,
                           const struct task_group_source *from)
{
    struct program *program = owner;
    program_service_add(program->service, group, from);
}

static void on_group_launched(void *owner, struct task_group *group, const json_t *launch)
{
    struct program *program = owner;
    program_log_launch(program->log, task_group_number(group), launch, task_group_tree_nodes(group),
                       task_group_nnodes(group));
    program_log_write(program->log);
}

static void on_group_mapped(void *owner, const json_t *table)
{
    struct program *program = owner;
    program->ops->mapped(program->owner, table);
}

static void on_group_refused(void *owner, struct task_group *group, uint64_t time, int status,
                             const char *text, const struct idset *ranks)
{
    struct program *program = owner;
    struct idset *nodes = task_group_nodes_of(group, ranks);
    char *advice = start_advice(program->spec, text);
    if (spawn_is_of(program->spawns, group))
        spawn_refuse(program->spawns, group, status, text, ranks);
    else
        outcome_task_ended(program->outcome, time, "start", status, advice ? advice : text, ranks,
                           nodes);
    free(advice);
    idset_free(nodes);
}

static void on_group_unstartable(void *owner, struct task_group *group)
{
    struct program *program = owner;
    if (spawn_is_of(program->spawns, group))
        spawn_give_up(program->spawns, group);
    else
        program_event(program, PROGRAM_TERMINATE, 0);
}

static const struct task_groups_ops groups_ops = {
    on_group_added, on_group_launched, on_group_mapped, on_group_refused, on_group_unstartable};

/* What it alone used is free again. */
static void group_over(struct program *program, struct task_group *group)
{
    struct rset *used = rset_copy(task_group_used(group));
    if (task_group_number(group))
        program_say(program, "group %u: all its tasks have ended", task_group_number(group));
    program_service_remove(program->service, group);
    spawn_forget(program->spawns, group);
    task_group_drop(group);
    if (task_groups_first(program->groups))
        program_claim_release(program->claim, used);
    rset_free(used);
}

void program_check_groups(struct program *program)
{
    struct task_group *next;
    if (!program_is_live(program))
        return;
    for (struct task_group *group = task_groups_first(program->groups); group; group = next) {
        next = task_group_next(group);
        if (idset_empty(task_group_pending(group)))
            group_over(program, group);
    }
    if (task_groups_first(program->groups))
        return;
    program_say(program, "all tasks have ended, and nothing of them is left");
    program_event(program, PROGRAM_OVER, 0);
}

void program_task_ended(struct program *program, const struct task_group *group, uint64_t time,
                        uint32_t node, const json_t *value)
{
    struct ended_report report = {0};
    if (ended_report_from_json(&report, value) < 0) {
        program_fail(program, ERROR_REFUSED,
                     "a task failed, and its agent's message about it is malformed",
                     program->spec->kill_grace);
        ended_report_clear(&report);
        return;
    }
    const char *why = report.why;
    if (report.ranks) {
        struct idset *nodes = group ? task_group_nodes_of(group, report.ranks) : idset_new();
        if (idset_empty(nodes) && program_host_name(program, node))
            idset_add(nodes, node);
        char *advice = strcmp(why, "start") == 0 ? start_advice(program->spec, report.text) : NULL;
        outcome_task_ended(program->outcome, time, why, report.status,
                           advice ? advice : report.text, report.ranks, nodes);
        free(advice);
        idset_free(nodes);
    }
    bool keeps =
        program->spec->on_failure == SPEC_FAILURE_CONTINUE &&
        (strcmp(why, "exit") == 0 || strcmp(why, "signal") == 0 || strcmp(why, "aborted") == 0);
    if (graceful_stop_explains(program->stop, why))
        graceful_stop_exited(program->stop);
    else if (!keeps && !program->terminated)
        program_event(program, PROGRAM_TERMINATE, program->spec->kill_grace);
    ended_report_clear(&report);
}

static void on_silent(void *owner, const struct idset *nodes)
{
    struct program *program = owner;
    IDSET_FOREACH(node, nodes)
    {
        char *line = mem_format("%s: its agent did not say that its tasks have ended; what is "
                                "left there has to be ended by hand",
                                program_host_name(program, node));
        outcome_always(program->outcome, UINT64_MAX, ERROR_REFUSED, line);
        free(line);
    }
    program->left = true;
    program_event(program, PROGRAM_SILENT, 0);
}

static const struct program_termination_ops termination_ops = {on_silent};

/* ---- what tasks ask for ---- */

static bool spawn_is_ending(void *owner)
{
    const struct program *program = owner;
    return program->state >= PROGRAM_ENDING;
}

static void spawn_on_ended(void *owner, const struct task_group *group, uint64_t time,
                           uint32_t node, const json_t *value)
{
    program_task_ended(owner, group, time, node, value);
}

static const struct spawns_ops spawns_ops = {spawn_is_ending, program_launch_group, spawn_on_ended,
                                             program_on_note, program_on_say};

static void on_request_spawn(void *owner, struct task_request *request,
                             const struct requester *requester)
{
    struct program *program = owner;
    spawn_take(program->spawns, request, requester);
}

static const struct task_requests_ops requests_ops = {on_request_spawn, program_on_note};

static double on_time_left(void *owner)
{
    return time_limit_left(((struct program *)owner)->limit);
}

static const struct program_service_ops service_ops = {on_time_left, program_on_say};

/* ---- questions of commands ---- */

static void program_send_inquiry(void *arg, const struct idset *nodes, const struct frame *frame)
{
    tree_send_nodes(((struct program *)arg)->tree, nodes, frame);
}

/* ---- life ---- */

struct program *program_new(struct ev_loop *loop, const struct spec *spec, struct tree *tree,
                            struct host_bootstrap *bootstrap, struct local_topology *local,
                            double gone_patience, const struct program_ops *ops, void *owner)
{
    struct program *program = mem_alloc(sizeof(*program));
    *program = (struct program){.loop = loop,
                                .spec = spec,
                                .tree = tree,
                                .gone_patience = gone_patience,
                                .ops = ops,
                                .owner = owner};
    program->outcome = outcome_new();
    program->no_pmi = no_pmi_new();
    program->log = program_log_new(program_on_note, program);
    program->groups = task_groups_new(tree, &groups_ops, program);
    program->service = program_service_new(loop, tree, program->groups, &service_ops, program);
    program->requests = task_requests_new(tree, program->groups, program->service, program->outcome,
                                          &requests_ops, program);
    program->termination =
        program_termination_new(loop, tree, program->groups, &termination_ops, program);
    program->start = program_start_new(loop, spec, tree, bootstrap, local, &start_ops, program);
    program->inquiries = inquiries_new(loop, program_send_inquiry, program);
    return program;
}

void program_begin(struct program *program)
{
    program_event(program, PROGRAM_ASKED, 0);
}

int program_directory(const struct program *program)
{
    const struct resources *resources = program_start_resources(program->start);
    const struct ledger_entry *entry = resources ? resources_entry(resources) : NULL;
    return entry ? entry_dir(entry) : -1;
}

const char *program_path_of(const struct program *program)
{
    const struct resources *resources = program_start_resources(program->start);
    const struct ledger_entry *entry = resources ? resources_entry(resources) : NULL;
    return entry ? entry_path(entry) : NULL;
}

void program_free(struct program *program)
{
    if (!program)
        return;
    inquiries_free(program->inquiries);
    task_requests_free(program->requests);
    spawns_free(program->spawns);
    lost_hosts_free(program->lost);
    program_claim_free(program->claim);
    task_groups_free(program->groups);
    program_service_free(program->service);
    graceful_stop_free(program->stop);
    time_limit_free(program->limit);
    program_termination_free(program->termination);
    program_start_free(program->start);
    idset_free(program->starting);
    idset_free(program->returned);
    idset_free(program->input_nodes);
    idset_free(program->input_target);
    outcome_free(program->outcome);
    no_pmi_free(program->no_pmi);
    program_log_free(program->log);
    free(program);
}
