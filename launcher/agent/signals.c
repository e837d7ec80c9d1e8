/* What tasks are sent: signals for all of them, and what tasks of the program want done to some. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/state.h"
#include "launcher/process/descend.h"

/* The kernel drops a terminal stop of a session without a terminal unless there is a handler. */
static int signal_for(const struct task *task, int number)
{
    return number == SIGTSTP && !descend_catches(task->pid, SIGTSTP) ? SIGSTOP : number;
}

static void signal_task(const struct task *task, int number)
{
    if (task->pid > 0)
        kill(-task->pid, signal_for(task, number));
}

void signals_group(const struct group *group, int number)
{
    for (uint32_t i = 0; i < group->ntasks; i++)
        signal_task(&group->tasks[i], number);
}

/* ---- what tasks want done ---- */

static void on_killer(struct ev_loop *loop, ev_timer *timer, int events)
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
    ev_timer_init(&task->killer, on_killer, grace, 0);
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
    static const int numbers[HUB_NACTIONS] = {
        [HUB_KILL] = SIGKILL, [HUB_PAUSE] = SIGTSTP, [HUB_RESUME] = SIGCONT};
    task->unwanted |= control->action == HUB_KILL || control->action == HUB_TERMINATE;
    if (control->action == HUB_ABORT)
        abort_task(task, control);
    else if (control->action == HUB_TERMINATE)
        terminate(task);
    else
        signal_task(task, numbers[control->action] ?: (int)control->number);
}

void signals_control(struct group *group, const struct pmix_control *control)
{
    for (uint32_t i = 0; i < group->ntasks; i++)
        if (group->tasks[i].pid > 0 && idset_has(control->ranks, group->tasks[i].what->rank))
            control_task(&group->tasks[i], control);
}

void signals_end(struct task *task)
{
    ev_timer_stop(task->group->agent->loop, &task->killer);
    free(task->aborter);
    task->aborter = NULL;
}
