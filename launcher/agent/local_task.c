/* One task of a group: what it is sent, and how it ends. */
#include "launcher/agent/local_task.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/process/process_usage.h"

uint32_t local_task_rank(const struct local_task *task)
{
    return task->shared->launch->first_rank + task->what->rank;
}

bool local_tasks_are_ending(const struct local_tasks *shared)
{
    return shared->terminating || task_termination_is_on(shared->services->termination);
}

/* ---- what it is sent ---- */

static void task_send(const struct local_task *task, int number)
{
    task_signals_send(task->shared->services->signals, task->pid, number);
}

void local_task_started(struct local_task *task, pid_t pid, const struct task_pipes *pipes,
                        struct pmi_sockets *pmi)
{
    const struct local_tasks *shared = task->shared;
    task->pid = task->started_pid = pid;
    task->started_at = clock_monotonic_ns();
    task->started = true;
    task->drained = false;
    task_output_open(task->output, pipes->out, pipes->err);
    if (pipes->in >= 0)
        task_stdin_open(task->input, pipes->in);
    if (pipes->terminal >= 0)
        task_terminal_open(task->terminal, pipes->terminal);
    if (pipes->pmi >= 0)
        task->pmi = pmi_socket_open(pmi, task->what, pipes->pmi);
    if (shared->terminating)
        task_send(task, SIGKILL);
    else if (task_termination_is_on(shared->services->termination))
        task_send(task, SIGTERM);
    else if (shared->owed_signal)
        task_send(task, shared->owed_signal);
}

/* The leader hears it: a shell tells its jobs, and the kernel tells what is in the foreground when the leader ends. */
void local_task_hang_up(const struct local_task *task)
{
    task_signals_hang_up(task->shared->services->signals, task->pid);
}

static void local_task_on_killer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    task_send(timer->data, SIGKILL);
}

static void task_terminate(struct local_task *task)
{
    double grace = task->shared->launch->spec->kill_grace;
    if (ev_is_active(&task->killer))
        return;
    if (grace > 0) {
        task_send(task, SIGTERM);
        task_send(task, SIGCONT); /* a stopped task has to hear of it */
    }
    ev_timer_init(&task->killer, local_task_on_killer, grace, 0);
    task->killer.data = task;
    ev_timer_start(task->shared->services->loop, &task->killer);
}

void local_task_control(struct local_task *task, const struct pmix_control *control)
{
    static const int numbers[CONTROL_NACTIONS] = {
        [CONTROL_KILL] = SIGKILL, [CONTROL_PAUSE] = SIGTSTP, [CONTROL_RESUME] = SIGCONT};
    if (task->pid <= 0 || !idset_has(control->ranks, task->what->rank))
        return;
    task->kill_requested |= control->action == CONTROL_KILL || control->action == CONTROL_TERMINATE;
    if (control->action == CONTROL_ABORT && !task->aborted_by) {
        /* By the program's count of ranks, where that is known here. */
        const struct launch *launch = task->shared->launch;
        char *own = pmix_job_name(launch, launch->group);
        task->aborted_by = strcmp(own, control->job) == 0
                               ? mem_format("rank %u", launch->first_rank + control->rank)
                               : mem_format("rank %u of %s", control->rank, control->job);
        free(own);
        task->abort_status = (int)control->number & 0xff;
    }
    if (control->action == CONTROL_ABORT || control->action == CONTROL_TERMINATE)
        task_terminate(task);
    else
        task_send(task, numbers[control->action] ?: (int)control->number);
}

void local_task_end_control(struct local_task *task)
{
    ev_timer_stop(task->shared->services->loop, &task->killer);
    free(task->aborted_by);
    task->aborted_by = NULL;
}

/* ---- its end ---- */

/* Of any PMI that it was offered. */
static enum pmi_state task_pmi_state(const struct local_task *task)
{
    enum pmi_state pmi = pmi_socket_state(task->pmi);
    enum pmi_state pmix = pmix_job_state(task->shared->pmix, task->what->local_rank);
    return pmix == PMI_SILENT || pmi == PMI_RUNNING ? pmi : pmix;
}

/* What made this end a bad one, or NULL. */
static const char *bad_end(const struct local_task *task)
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

static void report_end(const struct local_task *task, const char *why, int status, const char *text)
{
    exit_report_ended_rank_at(task->shared->report, task->ended_at, local_task_rank(task), why,
                              status, text);
}

/* Who waits for it in vain hears of it first. */
static void report_bad_end(struct local_task *task, const char *why)
{
    const struct local_tasks *shared = task->shared;
    int status = task->aborted_by ? W_EXITCODE(task->abort_status, 0) : task->status;
    char *text = task->aborted_by ? mem_format("aborted by %s", task->aborted_by)
                                  : task_cgroup_explain(shared->services->cgroup, task->status);
    bool keeps = shared->launch->spec->on_failure == SPEC_FAILURE_CONTINUE;
    task->failed_but_continues = task->kill_requested ||
                                 task_termination_counts_down(shared->services->termination) ||
                                 (keeps && strcmp(why, "unfinalized") != 0);
    pmix_job_died(shared->pmix, task->what->local_rank, task->status, task->failed_but_continues);
    if (!task->killed_by_tprun)
        report_end(task, why, status, text);
    free(text);
}

static void task_pmix_gone(struct local_task *task)
{
    if (!task->failed_but_continues)
        pmix_job_gone(task->shared->pmix, task->what->local_rank, task->what->rank);
}

/* Nothing more is sent to it, nor heard of it by PMI: others may wait for it in vain. */
static void task_gone(struct local_task *task)
{
    local_task_end_control(task);
    pmi_socket_close(task->pmi);
    if (local_tasks_are_ending(task->shared))
        return;
    task_pmix_gone(task);
    pmi_socket_gone(task->pmi);
}

void local_task_settled(struct local_task *task)
{
    if (!task->exit_unsettled)
        return;
    task->exit_unsettled = false;
    if (task->status != 0)
        return; /* it was told at once */
    const char *why = bad_end(task);
    bool late = local_tasks_are_ending(task->shared);
    if (late && why) /* it ended before others did because of it */
        report_end(task, why, task->status, NULL);
    else if (!late && why)
        report_bad_end(task, why);
    else if (!late)
        task_pmix_gone(task);
}

static uint64_t microseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static void report_usage(const struct local_task *task, const struct rusage *used)
{
    const struct task_usage usage = {local_task_rank(task),
                                     {[USAGE_ENDED] = task->ended_at / 1000,
                                      [USAGE_RAN] = (task->ended_at - task->started_at) / 1000,
                                      [USAGE_USER] = microseconds(&used->ru_utime),
                                      [USAGE_SYSTEM] = microseconds(&used->ru_stime),
                                      [USAGE_MEMORY] = (uint64_t)used->ru_maxrss}};
    exit_report_add_usage(task->shared->report, task->status, task->killed_by_tprun, &usage);
}

/* The order decides who is blamed: its last words by PMI, openpmix's view of its end, the report, then the end of
 * all that is meant for it, and of its socket. */
void local_task_reaped(struct local_task *task, int status)
{
    const struct local_tasks *shared = task->shared;
    struct rusage used;
    bool is_known = process_usage_of(task->pid, &used); /* before anybody else is reaped */
    task->status = status;
    task->ended_at = clock_monotonic_ns();
    task->killed_by_tprun = local_tasks_are_ending(shared) || task->kill_requested;
    task->ended = true;

    pmi_socket_drain(task->pmi);
    pmix_job_drain(shared->pmix);
    bool unsettled = pmix_job_ended(shared->pmix, task->what->local_rank);

    const char *why = bad_end(task);
    bool offered = task->pmi || pmix_job_is_open(shared->pmix);
    if (!why && offered && task_pmi_state(task) == PMI_SILENT)
        exit_report_add_silent(shared->report, local_task_rank(task));
    task->pid = 0;
    exit_report_add_rank(shared->report, status, task->killed_by_tprun, local_task_rank(task));
    if (is_known)
        report_usage(task, &used);
    task->exit_unsettled = /* its last words may still be on their way */
        unsettled && WIFEXITED(status) && !task->killed_by_tprun && !task->aborted_by;
    if (why && !(task->exit_unsettled && status == 0) && !local_tasks_are_ending(shared))
        report_bad_end(task, why);

    task_gone(task);
}

void local_task_give_up(struct local_task *task)
{
    const struct local_tasks *shared = task->shared;
    task->status = SIGKILL;
    task->killed_by_tprun = task->ended = task->drained = true;
    task->pid = 0;
    exit_report_add_rank(shared->report, task->status, true, local_task_rank(task));
    task_gone(task);
}

/* ---- what PMIx is told of it ---- */

struct task_info local_task_info(const struct local_task *task)
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
