/* How one task ends: its last words, whether that was a bad end, who hears of it. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/agent/local_group_private.h"

/* Of any PMI that it was offered. */
static enum pmi_state task_pmi_state(const struct task *task)
{
    enum pmi_state pmi = pmi_socket_state(task->pmi);
    enum pmi_state pmix = pmix_job_state(task->group->pmix, task->what->local_rank);
    return pmix == PMI_SILENT || pmi == PMI_RUNNING ? pmi : pmix;
}

/* What made this end a bad one, or NULL. */
static const char *bad_end(const struct task *task)
{
    if (task->aborted_by)
        return "aborted";
    if (WIFSIGNALED(task->status))
        return "signal";
    if (WEXITSTATUS(task->status))
        return "exit";
    if (task_pmi_state(task) == PMI_RUNNING)
        return "unfinalized";
    return NULL;
}

static bool program_continues(const struct task *task, const char *why)
{
    const struct local_group *group = task->group;
    bool keeps = group->launch->spec->on_failure == SPEC_FAILURE_CONTINUE;
    return task->kill_requested || task_termination_counts_down(group->services->termination) ||
           (keeps && strcmp(why, "unfinalized") != 0);
}

static void report_end(const struct task *task, const char *why, int status, const char *text)
{
    exit_report_ended_rank_at(task->group->report, task->ended_at, task_rank(task), why, status,
                              text);
}

/* Who waits for it in vain hears of it first. */
static void report_bad_end(struct task *task, const char *why)
{
    struct local_group *group = task->group;
    int status = task->aborted_by ? W_EXITCODE(task->abort_status, 0) : task->status;
    char *text = task->aborted_by ? mem_format("aborted by %s", task->aborted_by)
                                  : task_cgroup_explain(group->services->cgroup, task->status);
    task->failed_but_continues = program_continues(task, why);
    pmix_job_died(group->pmix, task->what->local_rank, task->status, task->failed_but_continues);
    if (!task->killed_by_tprun)
        report_end(task, why, status, text);
    free(text);
}

static void task_pmix_gone(struct task *task)
{
    if (!task->failed_but_continues)
        pmix_job_gone(task->group->pmix, task->what->local_rank, task->what->rank);
}

/* Nothing more is sent to it, nor heard of it by PMI: others may wait for it in vain. */
static void task_gone(struct task *task)
{
    task_control_end(task);
    pmi_socket_close(task->pmi);
    if (group_is_ending(task->group))
        return;
    task_pmix_gone(task);
    pmi_socket_gone(task->pmi);
}

void task_settled(struct task *task)
{
    struct local_group *group = task->group;
    if (!task->exit_unsettled)
        return;
    task->exit_unsettled = false;
    group->unsettled--;
    if (task->status != 0)
        return; /* it was told at once */
    const char *why = bad_end(task);
    bool late = group_is_ending(group);
    if (late && why) /* it ended before others did because of it */
        report_end(task, why, task->status, NULL);
    if (late)
        return;
    if (why)
        report_bad_end(task, why);
    else
        task_pmix_gone(task);
}

/* The order decides who is blamed: its last words by PMI, openpmix's view of its end, the report, then the end of
 * all that is meant for it, and of its socket. */
void task_reaped(struct task *task, int status)
{
    struct local_group *group = task->group;
    const struct local_services *services = group->services;
    task->status = status;
    task->ended_at = clock_monotonic_ns();
    task->killed_by_tprun = group_is_ending(group) || task->kill_requested;
    task->ended = true;
    group->last_activity = ev_now(services->loop);
    group->live--;

    pmi_socket_drain(task->pmi);
    pmix_job_drain(group->pmix);
    bool unsettled = pmix_job_ended(group->pmix, task->what->local_rank);

    const char *why = bad_end(task);
    bool offered = task->pmi || pmix_job_is_open(group->pmix);
    if (!why && offered && task_pmi_state(task) == PMI_SILENT)
        exit_report_add_silent(group->report, task_rank(task));
    task->pid = 0;
    exit_report_add_rank(group->report, status, task->killed_by_tprun, task_rank(task));
    task->exit_unsettled =
        unsettled && WIFEXITED(status) && !task->killed_by_tprun && !task->aborted_by;
    if (task->exit_unsettled) /* its last words may still be on their way */
        group->unsettled++;
    if (why && !(task->exit_unsettled && status == 0) && !group_is_ending(group))
        report_bad_end(task, why);

    task_gone(task);
}

void task_give_up(struct task *task)
{
    struct local_group *group = task->group;
    task->status = SIGKILL;
    task->killed_by_tprun = task->ended = task->drained = true;
    task->pid = 0;
    group->live--;
    exit_report_add_rank(group->report, task->status, true, task_rank(task));
    task_gone(task);
}

/* ---- what PMIx is told of it ---- */

struct task_info task_info_of(const struct task *task)
{
    bool speaks = task->started && !task->ended && task_pmi_state(task) == PMI_RUNNING;
    return (struct task_info){.rank = task->what->rank,
                              .pid = (uint32_t)task->pid,
                              .state = task->ended     ? TASK_ENDED
                                       : speaks        ? TASK_SPEAKS
                                       : task->started ? TASK_RUNS
                                                       : TASK_WAITS,
                              .status = task->ended ? task->status : 0};
}
