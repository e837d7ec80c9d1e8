/* How tasks end: one by one, together, and the proof that nothing of them is left. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/agent/internal.h"
#include "launcher/process/descendants.h"

#define LINGER                                                                                     \
    1.0                  /* s of silence after which what a task left behind is ended; at most the
                            kill grace */
#define KILL_PERIOD 0.05 /* s between rounds of KILL: what was born meanwhile is found */
#define KILL_ROUNDS 60   /* 3 s of them; what is left then is named, and not waited for */
#define RECOUNT 0.2      /* s between counts of the tasks that are left */

/* ---- what is left ---- */

static double ending_grace(const struct group *group)
{
    return group->launch ? group->launch->spec->kill_grace : 0;
}

/* What a task left running may still be writing for it (`exec > >(tee log)`): while it holds the
 * task's output and says something now and then, it goes on. */
static bool ending_lingers(struct group *group)
{
    struct agent *agent = group->agent;
    bool open = false;
    for (uint32_t i = 0; i < group->ntasks && !open; i++)
        open = group->tasks[i].streams[0].fd >= 0 || group->tasks[i].streams[1].fd >= 0;
    double rest = group->heard + fmin(LINGER, ending_grace(group)) - ev_now(agent->loop);
    if (!open || agent->terminating || group->terminating || uplink_is_lost(agent->uplink))
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
    size_t count = 0;
    const pid_t *pids = downlink_pids(agent->downlink, &count);
    return !agent->given_up &&
           (descendants_signal(0, pids, count) || cgroup_populated(agent->config->cgroup));
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
            task_termination_terminate(agent, ending_grace(group));
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
        if (!task_streams_drain(&group->tasks[i]) && !uplink_is_lost(agent->uplink))
            return; /* the rest comes when there is room for it */
    group->phase = GROUP_OVER;
    for (uint32_t i = 0; i < group->ntasks; i++)
        task_streams_close(&group->tasks[i]);
    task_cgroup_close(group);
    host_register_close(group);
}

static void ending_drain(struct group *group)
{
    if (group->undrained == group->live)
        return;
    for (uint32_t i = 0; i < group->ntasks && group->undrained && !group->agent->stalled; i++) {
        struct task *task = &group->tasks[i];
        if (!task->ended || task->drained || !task_streams_drain(task))
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
        if (!group->live && !group->ndoubtful &&
            (!group->undrained || uplink_is_lost(agent->uplink)))
            ending_over(group);
    }
    if (group->phase != GROUP_OVER || agent->stalled || !idset_empty(group->below))
        return false;
    exit_report_done(group->report, group->nodes);
    group_free(group);
    return true;
}

void task_termination_check(struct agent *agent)
{
    struct group *next;
    bool told = false;
    for (struct group *group = agent->groups; group; group = next) {
        next = group->next;
        told |= ending_check_group(group);
    }
    if (!told || agent->groups)
        return;
    uplink_flush(agent->uplink);
    task_cgroup_remove(agent); /* this process is waited for: tprun ends later */
}

/* ---- ending them ---- */

/* It outlives SIGKILL. */
static void ending_forsake(struct task *task)
{
    struct group *group = task->group;
    task->status = SIGKILL;
    task->victim = task->ended = task->drained = true;
    task->pid = 0;
    group->live--;
    exit_report_add_rank(group->report, task->status, true, task_rank(task));
    task_signals_end(task);
    pmi_socket_gone(task);
}

/* What is left may not be signalled, being another user's, or waits for hardware. */
static void ending_give_up(struct agent *agent)
{
    char *left = task_signals_survivors(agent);
    char *text = mem_format("cannot end process %s: still there %g s after SIGKILL", left,
                            KILL_PERIOD * KILL_ROUNDS);
    struct frame frame = {.type = FRAME_SURVIVORS,
                          .node = uplink_node(agent->uplink),
                          .bytes = text,
                          .len = strlen(text)};
    uplink_send(agent->uplink, &frame);
    agent->given_up = true;
    for (struct group *group = agent->groups; group; group = group->next) {
        group->undrained = 0;
        if (group->phase == GROUP_STARTING)
            group->phase = GROUP_RUNNING;
        for (uint32_t i = 0; i < group->ntasks; i++)
            if (group->tasks[i].started && !group->tasks[i].ended)
                ending_forsake(&group->tasks[i]);
    }
    free(text);
    free(left);
}

static void task_termination_on_killer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct agent *agent = timer->data;
    (void)events;
    if (ev_now(loop) < agent->kill_at)
        return;
    task_signals_kill(agent);
    if (++agent->kills == KILL_ROUNDS && ending_left(agent))
        ending_give_up(agent);
}

/* Tasks that run, or will and hear then of a signal that came before. */
static uint32_t ending_count(const struct agent *agent)
{
    uint32_t count = 0;
    for (const struct group *group = agent->groups; group; group = group->next)
        count += group->phase < GROUP_RUNNING ? group->ntasks : group->live;
    return count;
}

static void tell_running(struct agent *agent, uint32_t count, bool first)
{
    struct frame frame = {.type = FRAME_RUNNING,
                          .flags = first ? FRAME_RUNNING_FIRST : 0,
                          .node = uplink_node(agent->uplink),
                          .rank = count};
    uplink_send(agent->uplink, &frame);
}

/* The manager says who is waited for: it hears at once when the first task ends, and then now and
 * then. */
static void ending_recount(struct agent *agent)
{
    uint32_t count = ending_count(agent);
    if (!agent->counting || ev_is_active(&agent->recount) || count == agent->counted)
        return;
    agent->counted = count;
    tell_running(agent, count, false);
    ev_timer_set(&agent->recount, RECOUNT, 0);
    ev_timer_start(agent->loop, &agent->recount);
}

static void on_recount(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    ending_recount(timer->data);
}

void task_termination_count_down(struct agent *agent)
{
    agent->counting = true;
    agent->counted = ending_count(agent);
    tell_running(agent, agent->counted, true);
}

static void on_linger(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events; /* the turn that it makes is enough */
}

void task_termination_open(struct agent *agent)
{
    ev_timer_init(&agent->linger, on_linger, 0, 0);
    ev_timer_init(&agent->killer, task_termination_on_killer, KILL_PERIOD, KILL_PERIOD);
    ev_timer_init(&agent->recount, on_recount, 0, 0);
    agent->linger.data = agent->killer.data = agent->recount.data = agent;
}

void task_termination_close(struct agent *agent)
{
    process_set_clear(&agent->heard_term);
}

void task_termination_terminate(struct agent *agent, double grace)
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
    if (first && grace > 0)
        task_signals_terminate(agent);
    else if (grace <= 0)
        task_signals_kill(agent);
    if (!first)
        return;
    agent->kills = 0;
    agent->given_up = false;
    ev_timer_start(agent->loop, &agent->killer);
}

void task_termination_terminate_group(struct group *group)
{
    group->terminating = true;
    task_signals_kill_group(group);
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
    if (pmi_socket_state(task) == PMI_RUNNING)
        return "unfinalized";
    return NULL;
}

static bool ending_goes_on(const struct task *task, const char *why)
{
    bool keeps = task->group->launch->spec->on_failure == SPEC_FAILURE_CONTINUE;
    return task->unwanted || task->group->agent->counting ||
           (keeps && strcmp(why, "unfinalized") != 0);
}

/* Who waits for it in vain hears of it first. */
static void ending_tell(struct task *task, const char *why)
{
    int status = task->aborter ? W_EXITCODE(task->aborted, 0) : task->status;
    char *text =
        task->aborter ? mem_format("aborted by %s", task->aborter) : task_cgroup_killed(task);
    task->mourned = ending_goes_on(task, why);
    pmix_died(task, task->mourned);
    if (!task->victim)
        exit_report_ended_rank_at(task->group->report, task->ended_at, task_rank(task), why, status,
                                  text);
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

void task_termination_settled(struct task *task)
{
    struct group *group = task->group;
    if (!task->doubtful)
        return;
    task->doubtful = false;
    group->ndoubtful--;
    if (task->status != 0)
        return; /* it was told at once */
    const char *why = ending_why(task);
    bool late = group->agent->terminating || group->terminating;
    if (late && why) /* it ended before others did because of it */
        exit_report_ended_rank_at(task->group->report, task->ended_at, task_rank(task), why,
                                  task->status, NULL);
    if (late)
        return;
    if (why)
        ending_tell(task, why);
    else
        pmix_gone(task);
}

void task_termination_reaped(struct agent *agent, pid_t pid, int status)
{
    start_settle(agent, pid);
    struct task *task = ending_find(agent, pid);
    if (!task) /* an orphan that was adopted: they may come too fast to look each time */
        return;
    struct group *group = task->group;
    task->status = status;
    task->ended_at = clock_monotonic_ns();
    task->victim = agent->terminating || group->terminating || task->unwanted;
    task->ended = true;
    group->heard = ev_now(agent->loop);
    group->live--;
    pmi_socket_drain(task);
    bool doubtful = pmix_ended(task);
    const char *why = ending_why(task);
    if (!why && (task->client || group->pmix) && pmi_socket_state(task) == PMI_SILENT)
        exit_report_add_silent(group->report, task_rank(task));
    task->pid = 0;
    exit_report_add_rank(group->report, status, task->victim, task_rank(task));
    task->doubtful = doubtful && WIFEXITED(status) && !task->victim && !task->aborter;
    if (task->doubtful) /* its last words may still be on their way */
        group->ndoubtful++;
    if (why && !(task->doubtful && status == 0) && !agent->terminating && !group->terminating)
        ending_tell(task, why);
    task_signals_end(task);
    pmi_socket_gone(task);
    if (task->reads)
        task_streams_input_settle(agent);
    ending_recount(agent);
}
