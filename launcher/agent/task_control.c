/* What single tasks are sent: signals that came while they started, and what tasks of the program want done
 * to them. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/local_group_private.h"

static void task_send(const struct task *task, int number)
{
    task_signals_send(task->group->services->signals, task->pid, number);
}

void task_started_signals(struct task *task)
{
    const struct local_group *group = task->group;
    if (group->terminating)
        task_send(task, SIGKILL);
    else if (task_termination_is_on(group->services->termination))
        task_send(task, SIGTERM);
    else if (group->owed_signal)
        task_send(task, group->owed_signal);
}

static void task_control_on_killer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    task_send(timer->data, SIGKILL);
}

static void task_terminate(struct task *task)
{
    double grace = task->group->launch->spec->kill_grace;
    if (ev_is_active(&task->killer))
        return;
    if (grace > 0) {
        task_send(task, SIGTERM);
        task_send(task, SIGCONT); /* a stopped task has to hear of it */
    }
    ev_timer_init(&task->killer, task_control_on_killer, grace, 0);
    task->killer.data = task;
    ev_timer_start(task->group->services->loop, &task->killer);
}

/* By the program's count of ranks, where that is known here. */
static char *requester_name(const struct local_group *group, const struct pmix_control *control)
{
    char *own = pmix_job_name(group->launch, group->number);
    char *name = strcmp(own, control->job) == 0
                     ? mem_format("rank %u", group->launch->first_rank + control->rank)
                     : mem_format("rank %u of %s", control->rank, control->job);
    free(own);
    return name;
}

static void control_task(struct task *task, const struct pmix_control *control)
{
    static const int numbers[CONTROL_NACTIONS] = {
        [CONTROL_KILL] = SIGKILL, [CONTROL_PAUSE] = SIGTSTP, [CONTROL_RESUME] = SIGCONT};
    task->kill_requested |= control->action == CONTROL_KILL || control->action == CONTROL_TERMINATE;
    if (control->action == CONTROL_ABORT && !task->aborted_by) {
        task->aborted_by = requester_name(task->group, control);
        task->abort_status = (int)control->number & 0xff;
    }
    if (control->action == CONTROL_ABORT || control->action == CONTROL_TERMINATE)
        task_terminate(task);
    else
        task_send(task, numbers[control->action] ?: (int)control->number);
}

void group_control(struct local_group *group, const struct pmix_control *control)
{
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (group->tasks[i].pid > 0 && idset_has(control->ranks, group->tasks[i].what->rank))
            control_task(&group->tasks[i], control);
}

void task_control_end(struct task *task)
{
    ev_timer_stop(task->group->services->loop, &task->killer);
    free(task->aborted_by);
    task->aborted_by = NULL;
}
