/* What tasks are sent: signals for all of them, and what tasks of the program want done to some. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/internal.h"

/* ---- all of them ---- */

/* What is below this process, but for agents and those who reach them, and, unless they are wanted,
 * for tasks that have not executed their program yet. */
static void signals_list(const struct agent *agent, bool starting, struct process_set *set)
{
    size_t count = 0, more = 0;
    const pid_t *pids = downlink_pids(agent->downlink, &count);
    pid_t *except = mem_array(count + START_WAY_MAX, sizeof(*except));
    for (size_t i = 0; i < count; i++)
        except[i] = pids[i];
    if (!starting)
        more = start_on_way(agent, except + count);
    process_set_add_below(set, except, count + more);
    free(except);
}

static bool signals_same_group(const struct process_set *set, pid_t group)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->list[i].group == group)
            return true;
    return false;
}

/* Nobody hears SIGTERM twice because tprun wants an end for two reasons. What was forked while it
 * was sent is in a process group that heard it. */
static void signals_remember(struct agent *agent, const struct process_set *sent)
{
    struct process_set now = {0};
    process_set_add(&agent->heard_term, sent);
    signals_list(agent, true, &now);
    for (size_t i = 0; i < now.count; i++)
        if (signals_same_group(sent, now.list[i].group))
            process_set_add(&agent->heard_term,
                            &(struct process_set){.list = &now.list[i], .count = 1});
    process_set_clear(&now);
}

void task_signals_forward(struct agent *agent, int number)
{
    struct process_set set = {0};
    signals_list(agent, false, &set);
    process_set_signal(&set, NULL, number);
    if (number == SIGTERM)
        signals_remember(agent, &set);
    process_set_clear(&set);
    for (struct group *group = agent->groups; group; group = group->next)
        if (group->phase < GROUP_RUNNING)
            group->owed = number;
}

void task_signals_terminate(struct agent *agent)
{
    struct process_set set = {0};
    signals_list(agent, true, &set);
    process_set_signal(&set, &agent->heard_term, SIGTERM);
    process_set_signal(&set, NULL, SIGCONT); /* a stopped task has to hear of it */
    signals_remember(agent, &set);
    process_set_clear(&set);
}

void task_signals_kill(struct agent *agent)
{
    struct process_set set = {0};
    cgroup_kill(agent->config->cgroup);
    signals_list(agent, true, &set);
    process_set_signal(&set, NULL, SIGKILL);
    process_set_clear(&set);
}

char *task_signals_survivors(const struct agent *agent)
{
    struct process_set set = {0};
    signals_list(agent, true, &set);
    char *text = process_set_describe_left(&set, agent->config->cgroup);
    process_set_clear(&set);
    return text;
}

/* ---- one ---- */

/* With what it forked into its process group. */
static void signal_task(const struct task *task, int number)
{
    struct agent *agent = task->group->agent;
    struct process_set set = {0};
    if (task->pid <= 0)
        return;
    signals_list(agent, true, &set);
    process_set_keep_groups(&set, &task->pid, 1);
    process_set_signal(&set, number == SIGTERM ? &agent->heard_term : NULL, number);
    if (number == SIGTERM)
        signals_remember(agent, &set);
    process_set_clear(&set);
}

void task_signals_started(struct task *task)
{
    struct group *group = task->group;
    if (group->terminating)
        signal_task(task, SIGKILL);
    else if (group->agent->terminating)
        signal_task(task, SIGTERM);
    else if (group->owed)
        signal_task(task, group->owed);
}

void task_signals_kill_group(const struct group *group)
{
    struct process_set set = {0};
    pid_t *tasks = mem_array(group->ntasks, sizeof(*tasks));
    size_t count = 0;
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (group->tasks[i].pid > 0)
            tasks[count++] = group->tasks[i].pid;
    signals_list(group->agent, true, &set);
    process_set_keep_groups(&set, tasks, count);
    process_set_signal(&set, NULL, SIGKILL);
    process_set_clear(&set);
    free(tasks);
}

/* ---- what tasks want done ---- */

static void task_signals_on_killer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    signal_task(timer->data, SIGKILL);
}

static void terminate(struct task *task)
{
    double grace = task->group->launch->spec->kill_grace;
    if (ev_is_active(&task->killer))
        return;
    if (grace > 0) {
        signal_task(task, SIGTERM);
        signal_task(task, SIGCONT); /* a stopped task has to hear of it */
    }
    ev_timer_init(&task->killer, task_signals_on_killer, grace, 0);
    task->killer.data = task;
    ev_timer_start(task->group->agent->loop, &task->killer);
}

/* By the program's count of ranks, where that is known here. */
static char *name_of(const struct group *group, const struct pmix_control *control)
{
    char *own = pmix_name(group->launch, group->number);
    char *name = strcmp(own, control->job) == 0
                     ? mem_format("rank %u", group->launch->first_rank + control->rank)
                     : mem_format("rank %u of %s", control->rank, control->job);
    free(own);
    return name;
}

static void abort_task(struct task *task, const struct pmix_control *control)
{
    if (!task->aborter) {
        task->aborter = name_of(task->group, control);
        task->aborted = (int)control->number & 0xff;
    }
    terminate(task);
}

static void control_task(struct task *task, const struct pmix_control *control)
{
    static const int numbers[CONTROL_NACTIONS] = {
        [CONTROL_KILL] = SIGKILL, [CONTROL_PAUSE] = SIGTSTP, [CONTROL_RESUME] = SIGCONT};
    task->unwanted |= control->action == CONTROL_KILL || control->action == CONTROL_TERMINATE;
    if (control->action == CONTROL_ABORT)
        abort_task(task, control);
    else if (control->action == CONTROL_TERMINATE)
        terminate(task);
    else
        signal_task(task, numbers[control->action] ?: (int)control->number);
}

void task_signals_control(struct group *group, const struct pmix_control *control)
{
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (group->tasks[i].pid > 0 && idset_has(control->ranks, group->tasks[i].what->rank))
            control_task(&group->tasks[i], control);
}

void task_signals_end(struct task *task)
{
    ev_timer_stop(task->group->agent->loop, &task->killer);
    free(task->aborter);
    task->aborter = NULL;
}
