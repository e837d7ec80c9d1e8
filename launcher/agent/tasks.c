/* What the program's hub is told of this node's tasks, whether they speak PMIx or not. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/state.h"
#include "pmi-server/hub/tasks.h"

static struct hub_task describe(const struct task *task)
{
    bool speaks = task->started && !task->ended && rendezvous_state(task) == PMI_RUNNING;
    return (struct hub_task){.rank = task->what->rank,
                             .pid = (uint32_t)task->pid,
                             .state = task->ended     ? HUB_TASK_ENDED
                                      : speaks        ? HUB_TASK_SPEAKS
                                      : task->started ? HUB_TASK_RUNS
                                                      : HUB_TASK_WAITS,
                             .status = task->ended ? task->status : 0};
}

/* NULL: its tasks are not known here, or not any more. */
static const struct group *find_job(const struct agent *agent, const char *name)
{
    for (const struct group *group = agent->groups; group; group = group->next) {
        char *own = group->launch ? pmix_name(group->launch, group->number) : NULL;
        bool same = own && !strcmp(own, name);
        free(own);
        if (same)
            return group;
    }
    return NULL;
}

static void tell(struct agent *agent, uint64_t number, const char *job)
{
    const struct group *group = find_job(agent, job);
    uint32_t count = group ? group->ntasks : 0;
    struct hub_task *tasks = mem_array(count, sizeof(*tasks));
    struct buf message = BUF_INIT;
    for (uint32_t i = 0; i < count; i++)
        tasks[i] = describe(&group->tasks[i]);
    tasks_put_answer(&message, number, job, tasks, count);
    struct frame frame = {
        .type = FRAME_HUB, .node = agent->node, .bytes = buf_bytes(&message), .len = message.len};
    report_send(agent, &frame);
    buf_free(&message);
    free(tasks);
}

bool tasks_told(struct agent *agent, const struct frame *frame)
{
    uint64_t number;
    char *job;
    if (!tasks_wanted(frame->bytes, frame->len, &number, &job))
        return false;
    tell(agent, number, job);
    free(job);
    return true;
}
