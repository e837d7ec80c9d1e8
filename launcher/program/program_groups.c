/* The task groups of a program: their start, tasks that end badly, and the end of the last group. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/program/program_private.h"
#include "launcher/program/start_advice.h"
#include "launcher/protocol/task_report.h"

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
    if (!task_group_number(group))
        program->ops->launched(program->owner, launch);
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

struct task_groups *program_groups_new(struct program *program)
{
    return task_groups_new(program->tree, &groups_ops, program);
}

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
    /* at once: the agent of an early launch ends its link now */
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
