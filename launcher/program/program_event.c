/* The states of a program: what each change of them does, and how it is logged. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "affinity/sets/hostlist.h"
#include "base/clock.h"
#include "base/mem.h"
#include "launcher/ledger/instance_directory.h"
#include "launcher/ledger/instance_lock.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/program/program_private.h"
#include "launcher/protocol/launch.h"

void program_say(struct program *program, const char *fmt, ...)
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

void program_on_note(void *owner, const char *text)
{
    struct program *program = owner;
    program->ops->note(program->owner, text);
}

/* ---- its time limit, and tasks that are asked to end ---- */

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

static void limit_time(struct program *program)
{
    const struct rset *R = host_nodes(program_start_hosts(program->start))->R;
    program->limit =
        time_limit_new(program->loop, program->spec, R ? R->expiration : 0, &limit_ops, program);
}

static void on_stop_expired(void *owner, int status, const char *line)
{
    struct program *program = owner;
    outcome_always(program->outcome, clock_monotonic_ns(), status, line);
    program_event(program, PROGRAM_TERMINATE, 0);
}

static const struct graceful_stop_ops stop_ops = {program_on_note, on_stop_expired};

/* ---- what a change of state does ---- */

static struct task_group_origin origin_of_groups(const struct program *program)
{
    const struct resources *resources = program_start_resources(program->start);
    return (struct task_group_origin){.program = entry_id(resources_entry(resources)),
                                      .instance = instance_path(resources_instance(resources)),
                                      .instance_id = resources_instance_id(resources),
                                      .enclosing = resources_enclosing(resources),
                                      .hosts = host_names(program_start_hosts(program->start))};
}

struct task_group *program_launch_group(void *owner, const struct task_group_source *from)
{
    struct program *program = owner;
    struct task_group_origin origin = origin_of_groups(program);
    return task_group_start(program->groups, from, &origin);
}

void program_send_early(void *owner, const struct plan *plan)
{
    struct program *program = owner;
    struct task_group_source from = {.spec = program->spec, .plan = plan};
    struct task_group_origin origin = origin_of_groups(program);
    task_groups_set_claim(program->groups, plan_claim(plan));
    task_groups_send_early(program->groups, &from, &origin);
}

void program_forget_early(void *owner)
{
    struct program *program = owner;
    task_groups_forget_early(program->groups);
    task_groups_set_claim(program->groups, NULL);
}

/* Where agents are, which run nothing of this program. */
static void log_agents(struct program *program)
{
    const struct host_table *hosts = program_start_hosts(program->start);
    struct hostlist *up = hostlist_new();
    IDSET_FOREACH(number, host_used(hosts))
    {
        if (host_at(hosts, number)->state == HOST_UP)
            hostlist_append(up, host_names(hosts)[number]);
    }
    char *names = hostlist_encode(up);
    program_log_event(program->log, "agents", json_pack("{s:s}", "hosts", names));
    free(names);
    hostlist_free(up);
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
void program_open_log(struct program *program)
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
    program_open_log(program);
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

void program_fail(struct program *program, int status, const char *line, double grace)
{
    outcome_other(program->outcome, clock_monotonic_ns(), status, line);
    program_event(program, PROGRAM_TERMINATE, grace);
}

enum program_state program_state(const struct program *program)
{
    return program->state;
}

bool program_is_pending(const struct program *program)
{
    return program->state <= PROGRAM_PENDING;
}

bool program_is_live(const struct program *program)
{
    return program->state >= PROGRAM_STARTING && program->state <= PROGRAM_ENDING;
}
