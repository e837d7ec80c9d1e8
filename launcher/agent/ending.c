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
static bool ending_lingers(struct agent *agent)
{
    bool open = false;
    for (uint32_t i = 0; i < agent->ntasks && !open; i++)
        open = agent->tasks[i].streams[0].fd >= 0 || agent->tasks[i].streams[1].fd >= 0;
    double rest = agent->heard + LINGER - ev_now(agent->loop);
    if (!open || agent->terminating || !agent->parent)
        return false;
    if (agent->stalled) /* it is not silent: nobody listens for the moment */
        return true;
    if (rest <= 0)
        return false;
    ev_timer_stop(agent->loop, &agent->linger);
    ev_timer_set(&agent->linger, rest, 0);
    ev_timer_start(agent->loop, &agent->linger);
    return true;
}

/* Own tasks have ended and their output is read: what they left behind goes too. */
static void ending_over(struct agent *agent)
{
    if (ending_descend(agent, 0) || cgroup_populated(agent->config->cgroup)) {
        if (ending_lingers(agent))
            return;
        if (!agent->terminating)
            ending_terminate(agent, agent->launch ? agent->launch->spec->kill_grace : 0);
        return;
    }
    for (uint32_t i = 0; i < agent->ntasks; i++)
        if (!streams_drain(&agent->tasks[i]) && agent->parent)
            return; /* the rest comes when there is room for it */
    agent->over = true;
    ev_timer_stop(agent->loop, &agent->killer);
    for (uint32_t i = 0; i < agent->ntasks; i++)
        streams_close(&agent->tasks[i]);
}

static void ending_drain(struct agent *agent)
{
    if (agent->undrained == agent->live)
        return;
    for (uint32_t i = 0; i < agent->ntasks && agent->undrained && !agent->stalled; i++) {
        struct task *task = &agent->tasks[i];
        if (!task->ended || task->drained || !streams_drain(task))
            continue;
        task->drained = true;
        agent->undrained--;
    }
}

void ending_check(struct agent *agent)
{
    if (!agent->launched || agent->told)
        return;
    ending_drain(agent);
    if (!agent->over && !agent->live && (!agent->undrained || !agent->parent))
        ending_over(agent);
    if (!agent->over || agent->stalled || (agent->below && !idset_empty(agent->below)))
        return;
    report_done(agent);
    if (agent->parent)
        link_flush(agent->parent, 0);
    cgroup_remove(agent->config->cgroup); /* this process is waited for: tprun ends later */
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
    if (agent->terminating && at >= agent->kill_at)
        return;
    bool first = !agent->terminating;
    agent->terminating = true;
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

/* The kernel drops a terminal stop of a session without a terminal unless there is a handler. */
static int signal_for(const struct task *task, int number)
{
    return number == SIGTSTP && !descend_catches(task->pid, SIGTSTP) ? SIGSTOP : number;
}

void ending_signal(struct agent *agent, int number)
{
    for (uint32_t i = 0; i < agent->ntasks; i++)
        if (agent->tasks[i].pid > 0)
            kill(-agent->tasks[i].pid, signal_for(&agent->tasks[i], number));
}

/* ---- one by one ---- */

/* What made this end a bad one, or NULL. */
static const char *ending_why(const struct task *task)
{
    if (WIFSIGNALED(task->status))
        return "signal";
    if (WEXITSTATUS(task->status))
        return "exit";
    if (task->client && pmi_client_state(task->client) == PMI_RUNNING)
        return "unfinalized";
    return NULL;
}

void ending_reaped(struct agent *agent, pid_t pid, int status)
{
    struct task *task = NULL;
    start_settle(agent, pid);
    for (uint32_t i = 0; i < agent->ntasks && !task; i++)
        if (agent->tasks[i].pid == pid)
            task = &agent->tasks[i];
    if (!task) /* an orphan that was adopted: they may come too fast to look each time */
        return;
    task->status = status;
    task->victim = agent->terminating;
    task->ended = true;
    agent->heard = ev_now(agent->loop);
    agent->live--;
    rendezvous_drain(task);
    const char *why = ending_why(task);
    task->pid = 0;
    report_add_rank(agent, status, task->victim, task->what->rank);
    if (why && !task->victim) {
        struct idset *one = idset_new();
        idset_add(one, task->what->rank);
        report_ended(agent, one, why, status, NULL);
        idset_free(one);
    }
    rendezvous_gone(task);
    if (task->reads)
        streams_input_settle(agent);
}
