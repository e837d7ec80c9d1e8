/* What agents report of a program, by a table of frame types. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/program/fence.h"
#include "launcher/program/program_private.h"
#include "launcher/protocol/frame_check.h"
#include "launcher/protocol/task_report.h"

/* ---- whether it can be ---- */

/* What cannot be is the doing of an agent that is broken. */
static void refuse_message(struct program *program, const char *line)
{
    if (!program->terminated)
        program_fail(program, ERROR_REFUSED, line, program->spec->kill_grace);
}

int program_check_frame(struct program *program, const struct frame *frame, json_t **value)
{
    struct error err = ERROR_INIT;
    const struct host_table *hosts = program_start_hosts(program->start);
    const struct task_group *group = task_groups_find(program->groups, frame->group);
    struct frame_check_limits limits = {.nnodes = hosts ? host_count(hosts) : 0,
                                        .nranks = task_groups_ranks(program->groups),
                                        .has_group = group,
                                        .group_nranks = group ? task_group_ntasks(group) : 0,
                                        .group_nnodes = group ? task_group_nnodes(group) : 0};
    int rc = frame_check_read(frame, &limits, value, &err);
    if (rc < 0 && program->state != PROGRAM_COMPLETE) {
        char *line = mem_format("%s: %s", program_host_name(program, frame->node) ?: "a node",
                                error_text(&err));
        refuse_message(program, line);
        free(line);
    }
    error_clear(&err);
    return rc;
}

/* ---- tasks ---- */

static void on_ended(struct program *program, uint32_t child, const struct frame *frame,
                     const json_t *value)
{
    struct task_group *group = task_groups_find(program->groups, frame->group);
    uint64_t time = ended_report_time(frame) - (uint64_t)tree_clock_offset(program->tree, child);
    if (!spawn_holds_end(program->spawns, group, time, frame->node, value))
        program_task_ended(program, group, time, frame->node, value);
}

static void on_done(struct program *program, uint32_t child, const struct frame *frame,
                    const json_t *value)
{
    struct task_group *group = task_groups_find(program->groups, frame->group);
    struct done_report report = {0};
    done_report_from_json(&report, value);
    for (size_t i = 0; i < report.nexits; i++)
        if (report.exits[i].killed_by_tprun && !spawn_has_failed(program->spawns, group))
            outcome_killed(program->outcome, report.exits[i].ranks);
    program_log_ended(program->log, frame->group, &report);
    if (report.silent)
        no_pmi_add(program->no_pmi, report.silent);
    if (report.nodes && group)
        task_group_nodes_done(group, report.nodes);
    done_report_clear(&report);
    tree_consumed(program->tree, child, link_weight(frame));
    program_check_groups(program);
    program_log_write(program->log);
}

static void on_prepared(struct program *program, uint32_t child, const struct frame *frame,
                        const json_t *value)
{
    struct task_group *group = task_groups_find(program->groups, frame->group);
    (void)child;
    if (group && !program->terminated)
        task_group_prepared(group, frame->node, value);
}

/* Only bindings of the first group are shown. */
static void on_started(struct program *program, uint32_t child, const struct frame *frame,
                       const json_t *value)
{
    struct error err = ERROR_INIT;
    (void)child;
    if (!frame->group && value && program_is_live(program) &&
        display_bindings(program_start_display(program->start), value, &err) < 0)
        program_fail(program, ERROR_REFUSED, error_text(&err), program->spec->kill_grace);
    error_clear(&err);
    program_log_started(program->log, frame->group, frame->node, value);
    if (frame->group) /* the state does not change */
        program_log_write(program->log);
    spawn_node_started(program->spawns, task_groups_find(program->groups, frame->group),
                       frame->node, value);
    if (frame->group || !program->starting || !idset_has(program->starting, frame->node))
        return;
    idset_remove(program->starting, frame->node);
    if (idset_empty(program->starting))
        program_event(program, PROGRAM_STARTED, 0);
}

static void on_running(struct program *program, uint32_t child, const struct frame *frame,
                       const json_t *value)
{
    (void)child, (void)value;
    graceful_stop_count(program->stop, frame);
}

static void on_inquiry_answer(struct program *program, uint32_t child, const struct frame *frame,
                              const json_t *value)
{
    (void)child;
    inquiries_answer(program->inquiries, frame, value);
}

/* Of an older choice nobody wants to know it. */
static void on_stdin_gone(struct program *program, uint32_t child, const struct frame *frame,
                          const json_t *value)
{
    (void)child;
    if (frame->rank != program->input_number)
        return;
    struct idset *ranks = idset_decode(json_string_value(json_object_get(value, "ranks")), NULL);
    program->ops->input_gone(program->owner, ranks);
    idset_free(ranks);
}

/* ---- PMI ---- */

static void on_fence_up(struct program *program, uint32_t child, const struct frame *frame,
                        const json_t *value)
{
    struct task_group *group = task_groups_find(program->groups, frame->group);
    struct error err = ERROR_INIT;
    (void)child, (void)value;
    if (group && fence_enter(task_group_fence(group), frame, &err) < 0)
        refuse_message(program, error_text(&err));
    error_clear(&err);
}

static void on_missing(struct program *program, uint32_t child, const struct frame *frame,
                       const json_t *value)
{
    struct task_group *group = task_groups_find(program->groups, frame->group);
    (void)child, (void)value;
    if (group)
        fence_missing(task_group_fence(group), frame);
}

static void on_service(struct program *program, uint32_t child, const struct frame *frame,
                       const json_t *value)
{
    struct error err = ERROR_INIT;
    (void)child, (void)value;
    if (program_service_message(program->service, frame, &err) < 0)
        refuse_message(program, error_text(&err));
    error_clear(&err);
}

static void on_ask(struct program *program, uint32_t child, const struct frame *frame,
                   const json_t *value)
{
    (void)child;
    task_requests_take(program->requests, frame, value);
}

static void on_post(struct program *program, uint32_t child, const struct frame *frame,
                    const json_t *value)
{
    (void)child, (void)value;
    tree_send_node(program->tree, frame->node, frame);
}

/* For tools; whoever watches the program has it from its owner. */
static void on_task_output(struct program *program, uint32_t child, const struct frame *frame,
                           const json_t *value)
{
    (void)child, (void)value;
    program_service_output(program->service, frame);
}

static void on_stage_answer(struct program *program, uint32_t child, const struct frame *frame,
                            const json_t *value)
{
    (void)child;
    stage_sender_answer(program_start_stage(program->start), frame, value);
}

static void on_hook_ended(struct program *program, uint32_t child, const struct frame *frame,
                          const json_t *value)
{
    (void)child;
    program_hooks_ended(program_start_hooks(program->start), frame->node, value);
}

/* ---- hosts ---- */

/* It is up, or has failed: before the program runs, or late. */
static void host_settled(struct program *program)
{
    if (program_is_live(program) && !host_awaited(program_start_hosts(program->start)))
        agents_keep(program_start_agents(program->start));
    group_starts_settled(program_start_groups(program->start));
}

static void on_hello(struct program *program, uint32_t child, const struct frame *frame,
                     const json_t *value)
{
    const struct host_table *hosts = program_start_hosts(program->start);
    (void)child, (void)value;
    agents_hello(program_start_agents(program->start), frame);
    if (program->lost && !program_is_pending(program) &&
        host_at(hosts, frame->node)->state == HOST_UP) {
        if (lost_hosts_remove(program->lost, frame->node))
            idset_add(program->returned, frame->node);
        program_start_prepare_late(program->start, frame->node);
    }
    host_settled(program);
}

static void (*const takers[])(struct program *program, uint32_t child, const struct frame *frame,
                              const json_t *value) = {
    [FRAME_HELLO] = on_hello,
    [FRAME_PREPARED] = on_prepared,
    [FRAME_STARTED] = on_started,
    [FRAME_ASK] = on_ask,
    [FRAME_OUTPUT] = on_task_output,
    [FRAME_ENDED] = on_ended,
    [FRAME_POST] = on_post,
    [FRAME_SERVICE] = on_service,
    [FRAME_DONE] = on_done,
    [FRAME_FENCE_UP] = on_fence_up,
    [FRAME_MISSING] = on_missing,
    [FRAME_RUNNING] = on_running,
    [FRAME_INQUIRY_ANSWER] = on_inquiry_answer,
    [FRAME_STDIN_GONE] = on_stdin_gone,
    [FRAME_STAGED] = on_stage_answer,
    [FRAME_HOOK_ENDED] = on_hook_ended,
};

void program_frame(struct program *program, uint32_t child, const struct frame *frame,
                   const json_t *value)
{
    if (frame->type < sizeof(takers) / sizeof(takers[0]) && takers[frame->type])
        takers[frame->type](program, child, frame, value);
}

/* An agent's word counts only until tasks run. */
void program_host_unreached(struct program *program, const struct tree_unreached *what, bool direct)
{
    if (direct ? program->state == PROGRAM_COMPLETE : !program_is_pending(program))
        return;
    agents_unreached(program_start_agents(program->start), what, direct);
    host_settled(program);
}

/* They are of no use to groups that may still be spawned; those that run do not need them. */
static void idle_lost(struct program *program, const struct idset *nodes, const char *why)
{
    struct host_table *hosts = program_start_hosts(program->start);
    IDSET_FOREACH(node, nodes)
    {
        if (node < host_count(hosts))
            host_lost(hosts, node, why);
    }
    char *names = program_hosts_text(program, nodes);
    char *line = program->lost ? mem_format("%s: lost: %s; programs run elsewhere until it answers",
                                            names, why)
                               : mem_format("%s: lost: %s; nothing ran there", names, why);
    if (program->lost)
        program->ops->note(program->owner, line);
    else if (program->spec->verbose)
        program->ops->say(program->owner, line);
    free(line);
    free(names);
    tree_forget(program->tree, nodes);
    lost_hosts_add(program->lost, nodes);
}

void program_nodes_lost(struct program *program, const char *host, const struct idset *nodes,
                        const char *why, bool first, double grace)
{
    struct buf line = BUF_INIT;
    size_t others = 0;
    program_hooks_lost(program_start_hooks(program->start), nodes);
    if (!program_is_pending(program)) /* else the program ends */
        stage_sender_lost(program_start_stage(program->start), nodes);
    if (program->state == PROGRAM_COMPLETE)
        return;
    if (program_is_live(program) && !task_groups_use(program->groups, nodes)) {
        idle_lost(program, nodes, why);
        return;
    }
    IDSET_FOREACH(node, nodes)
    {
        const char *name = program_host_name(program, node);
        others += name && strcmp(name, host) != 0;
    }
    buf_printf(&line, "%s: lost: %s", host, why);
    if (others)
        buf_printf(&line, " (and with it %zu host%s behind it)", others, others > 1 ? "s" : "");
    /* Its tasks' peers may hear of it before tprun does, and abort; one is enough to say. */
    (first ? outcome_always : outcome_other)(program->outcome, clock_monotonic_ns(), ERROR_REFUSED,
                                             buf_text(&line));
    char *hosts = program_hosts_text(program, nodes);
    program_log_event(program->log, "nodes-lost",
                      json_pack("{s:s, s:o}", "hosts", hosts, "why", frame_text(buf_text(&line))));
    program_log_write(program->log);
    free(hosts);
    buf_free(&line);
    inquiries_lost(program->inquiries, nodes);
    program->left |= program_is_live(program);
    program_service_lost(program->service, nodes);
    for (struct task_group *group = task_groups_first(program->groups); group;
         group = task_group_next(group))
        task_group_nodes_done(group, nodes);
    program_event(program, PROGRAM_TERMINATE, grace);
    program_check_groups(program);
}
