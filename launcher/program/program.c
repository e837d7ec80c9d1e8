/* A program: its objects, and what they tell it. */
#include "launcher/program/program.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/ledger/ledger_entry.h"
#include "launcher/program/program_private.h"

static void program_on_say(void *owner, const char *text)
{
    program_say(owner, "%s", text);
}

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

/* ---- its start ---- */

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

static void program_on_opened(void *owner)
{
    struct program *program = owner;
    struct program_start *start = program->start;
    struct resources *resources = program_start_resources(start);
    program_open_log(program);
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
    program_open_log(program);
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
    program_on_note,         program_on_say,     program_on_show,    program_on_draw,
    program_on_progress,     program_on_event,   program_on_opened,  program_on_waits,
    program_on_planned,      program_on_refused, program_send_early, program_forget_early,
    program_on_prepared_late};

/* ---- its end ---- */

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
    program->groups = program_groups_new(program);
    program->service = program_service_new(loop, tree, program->groups, &service_ops, program);
    program->requests = task_requests_new(tree, program->groups, program->service, program->outcome,
                                          &requests_ops, program);
    program->termination =
        program_termination_new(loop, tree, program->groups, &termination_ops, program);
    program->start = program_start_new(loop, spec, tree, bootstrap, local, &start_ops, program);
    program->inquiries = inquiries_new(loop, program_send_inquiry, program);
    return program;
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

void program_set_stage(struct program *program, struct stage_source *source)
{
    stage_sender_set(program_start_stage(program->start), source);
}

void program_begin(struct program *program)
{
    program_event(program, PROGRAM_ASKED, 0);
}

/* ---- what is passed on to its objects ---- */

void program_room(struct program *program)
{
    stage_sender_room(program_start_stage(program->start));
}

void program_agents_idle(struct program *program, double until)
{
    program_log_agents_used(program->log, until);
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
