/* How tasks end: one by one, together, and the proof that nothing of them is left. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "launcher/agent/state.h"
#include "launcher/process/descend.h"

#define LINGER 1.0       /* s of silence after which what a task left behind is ended */
#define KILL_PERIOD 0.05 /* s between rounds of KILL: what was born meanwhile is found */

/* ---- what is left ---- */

static size_t ending_descend(struct agent *agent, int number)
{
    size_t count = 0;
    const pid_t *pids = agent->tree ? tree_pids(agent->tree, &count) : NULL;
    return descend_signal(number, pids, count);
}

static void ending_all(struct agent *agent, int number)
{
    if (number == SIGKILL)
        cgroup_kill(agent->config->cgroup);
    ending_signal(agent, number);
    ending_descend(agent, number);
}

/* What a task left running may still be writing for it (`exec > >(tee log)`): while it holds the
 * task's output and says something now and then, it goes on. */
static bool ending_lingers(struct group *group)
{
    struct agent *agent = group->agent;
    bool open = false;
    for (uint32_t i = 0; i < group->ntasks && !open; i++)
        open = group->tasks[i].streams[0].fd >= 0 || group->tasks[i].streams[1].fd >= 0;
    double rest = group->heard + LINGER - ev_now(agent->loop);
    if (!open || agent->terminating || group->terminating || !agent->parent)
        return false;
    if (agent->stalled) /* it is not silent: nobody listens for the moment */
        return true;
    if (rest <= 0)
        return false;
    if (ev_is_active(&agent->linger) && ev_timer_remaining(agent->loop, &agent->linger) <= rest)
        return true;
    ev_timer_stop(agent->loop, &agent->linger);
    ev_timer_set(&agent->linger, rest, 0);
    ev_timer_start(agent->loop, &agent->linger);
    return true;
}

static bool ending_is_last(const struct group *group)
{
    for (const struct group *other = group->agent->groups; other; other = other->next)
        if (other != group && (other->phase == GROUP_STARTING || other->phase == GROUP_RUNNING))
            return false;
    return true;
}

static bool ending_left(const struct agent *agent)
{
    return ending_descend((struct agent *)(uintptr_t)agent, 0) ||
           cgroup_populated(agent->config->cgroup);
}

/* Where no other group has tasks, what this one's left behind goes too; else it belongs to the
 * program, and goes with the last. True when nothing is to be waited for. */
static bool ending_swept(struct group *group)
{
    struct agent *agent = group->agent;
    if (!ending_is_last(group))
        return !ending_lingers(group);
    if (ending_left(agent)) {
        if (ending_lingers(group))
            return false;
        if (!agent->terminating) {
            ending_terminate(agent, group->launch ? group->launch->spec->kill_grace : 0);
            agent->sweeping = true;
        }
        return false;
    }
    ev_timer_stop(agent->loop, &agent->killer);
    if (agent->sweeping)
        agent->sweeping = agent->terminating = false;
    return true;
}

/* Own tasks have ended and their output is read. */
static void ending_over(struct group *group)
{
    struct agent *agent = group->agent;
    if (!ending_swept(group))
        return;
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (!streams_drain(&group->tasks[i]) && agent->parent)
            return; /* the rest comes when there is room for it */
    group->phase = GROUP_OVER;
    for (uint32_t i = 0; i < group->ntasks; i++)
        streams_close(&group->tasks[i]);
    confine_close(group);
    register_close(group);
}

static void ending_drain(struct group *group)
{
    if (group->undrained == group->live)
        return;
    for (uint32_t i = 0; i < group->ntasks && group->undrained && !group->agent->stalled; i++) {
        struct task *task = &group->tasks[i];
        if (!task->ended || task->drained || !streams_drain(task))
            continue;
        task->drained = true;
        group->undrained--;
    }
}

/* True when it has said its last word, and is gone. */
static bool ending_check_group(struct group *group)
{
    struct agent *agent = group->agent;
    if (group->phase == GROUP_RUNNING) {
        ending_drain(group);
        if (!group->live && !group->ndoubtful && (!group->undrained || !agent->parent))
            ending_over(group);
    }
    if (group->phase != GROUP_OVER || agent->stalled || !idset_empty(group->below))
        return false;
    report_done(group);
    group_free(group);
    return true;
}

void ending_check(struct agent *agent)
{
    struct group *next;
    bool told = false;
    for (struct group *group = agent->groups; group; group = next) {
        next = group->next;
        told |= ending_check_group(group);
    }
    if (!told || agent->groups)
        return;
    if (agent->parent)
        link_flush(agent->parent, 0);
    confine_remove(agent); /* this process is waited for: tprun ends later */
}

/* ---- ending them ---- */

static void on_killer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct agent *agent = timer->data;
    (void)events;
    if (ev_now(loop) >= agent->kill_at)
        ending_all(agent, SIGKILL);
}

static void on_linger(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events; /* the turn that it makes is enough */
}

void ending_open(struct agent *agent)
{
    ev_timer_init(&agent->linger, on_linger, 0, 0);
    ev_timer_init(&agent->killer, on_killer, KILL_PERIOD, KILL_PERIOD);
    agent->linger.data = agent->killer.data = agent;
}

void ending_terminate(struct agent *agent, double grace)
{
    double at = ev_now(agent->loop) + grace;
    if (agent->terminating && at >= agent->kill_at) {
        agent->sweeping = false;
        return;
    }
    bool first = !agent->terminating;
    agent->terminating = true;
    agent->sweeping = false;
    agent->kill_at = at;
    if (first && grace > 0) {
        ending_all(agent, SIGTERM);
        ending_all(agent, SIGCONT); /* a stopped task has to hear of it */
    } else if (grace <= 0) {
        ending_all(agent, SIGKILL);
    }
    if (first)
        ev_timer_start(agent->loop, &agent->killer);
}

void ending_signal(struct agent *agent, int number)
{
    for (const struct group *group = agent->groups; group; group = group->next)
        signals_group(group, number);
}

void ending_terminate_group(struct group *group)
{
    group->terminating = true;
    signals_group(group, SIGKILL);
}

/* ---- one by one ---- */

/* What made this end a bad one, or NULL. */
static const char *ending_why(const struct task *task)
{
    if (task->aborter)
        return "aborted";
    if (WIFSIGNALED(task->status))
        return "signal";
    if (WEXITSTATUS(task->status))
        return "exit";
    if (rendezvous_state(task) == PMI_RUNNING)
        return "unfinalized";
    return NULL;
}

static bool ending_goes_on(const struct task *task, const char *why)
{
    bool keeps = task->group->launch->spec->on_failure == SPEC_FAILURE_CONTINUE;
    return task->unwanted || (keeps && strcmp(why, "unfinalized") != 0);
}

/* Who waits for it in vain hears of it first. */
static void ending_tell(struct task *task, const char *why)
{
    int status = task->aborter ? W_EXITCODE(task->aborted, 0) : task->status;
    char *text = task->aborter ? mem_format("aborted by %s", task->aborter) : NULL;
    task->mourned = ending_goes_on(task, why);
    pmix_died(task, task->mourned);
    if (!task->victim)
        report_ended_rank(task->group, task_rank(task), why, status, text);
    free(text);
}

static struct task *ending_find(const struct agent *agent, pid_t pid)
{
    for (const struct group *group = agent->groups; group; group = group->next)
        for (uint32_t i = 0; i < group->ntasks; i++)
            if (group->tasks[i].pid == pid)
                return &group->tasks[i];
    return NULL;
}

void ending_settled(struct task *task)
{
    struct group *group = task->group;
    if (!task->doubtful)
        return;
    task->doubtful = false;
    group->ndoubtful--;
    const char *why = ending_why(task);
    if (group->agent->terminating || group->terminating)
        return;
    if (why)
        ending_tell(task, why);
    else
        pmix_gone(task);
}

void ending_reaped(struct agent *agent, pid_t pid, int status)
{
    start_settle(agent, pid);
    struct task *task = ending_find(agent, pid);
    if (!task) /* an orphan that was adopted: they may come too fast to look each time */
        return;
    struct group *group = task->group;
    task->status = status;
    task->victim = agent->terminating || group->terminating || task->unwanted;
    task->ended = true;
    group->heard = ev_now(agent->loop);
    group->live--;
    rendezvous_drain(task);
    bool doubtful = pmix_ended(task);
    const char *why = ending_why(task);
    if (!why && (task->client || group->pmix) && rendezvous_state(task) == PMI_SILENT)
        idset_add(group->silent, task_rank(task));
    task->pid = 0;
    report_add_rank(group, status, task->victim, task_rank(task));
    task->doubtful = doubtful && status == 0 && !task->victim && !task->aborter;
    if (task->doubtful)
        group->ndoubtful++;
    else if (why && !agent->terminating && !group->terminating)
        ending_tell(task, why);
    signals_end(task);
    rendezvous_gone(task);
    if (task->reads)
        streams_input_settle(agent);
}
