/* Signals sent to all tasks of this node, or to the process groups of some. */
#include "launcher/agent/task_signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

struct task_signals {
    struct downlink *downlink;
    struct cgroup *cgroup;
    struct process_set heard_term;
    size_t (*starting)(void *owner, pid_t *pids);
    void *owner;
};

struct task_signals *task_signals_new(struct downlink *downlink, struct cgroup *cgroup,
                                      size_t (*starting)(void *owner, pid_t *pids), void *owner)
{
    struct task_signals *signals = mem_alloc(sizeof(*signals));
    *signals = (struct task_signals){
        .downlink = downlink, .cgroup = cgroup, .starting = starting, .owner = owner};
    return signals;
}

void task_signals_free(struct task_signals *signals)
{
    if (signals)
        process_set_clear(&signals->heard_term);
    free(signals);
}

/* What is below this process, but for agents and those who reach them, and, unless they are wanted,
 * for tasks that have not executed their program yet. */
static void list_processes(const struct task_signals *signals, bool starting,
                           struct process_set *set)
{
    size_t count = 0, more = 0;
    const pid_t *pids = downlink_pids(signals->downlink, &count);
    pid_t *except = mem_array(count + TASK_SIGNALS_STARTING_MAX, sizeof(*except));
    for (size_t i = 0; i < count; i++)
        except[i] = pids[i];
    if (!starting)
        more = signals->starting(signals->owner, except + count);
    process_set_add_below(set, except, count + more);
    free(except);
}

static bool has_group(const struct process_set *set, pid_t group)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->list[i].group == group)
            return true;
    return false;
}

/* What was forked while SIGTERM was sent is in a process group that heard it. */
static void remember_term(struct task_signals *signals, const struct process_set *sent)
{
    struct process_set now = {0};
    process_set_add(&signals->heard_term, sent);
    list_processes(signals, true, &now);
    for (size_t i = 0; i < now.count; i++)
        if (has_group(sent, now.list[i].group))
            process_set_add(&signals->heard_term,
                            &(struct process_set){.list = &now.list[i], .count = 1});
    process_set_clear(&now);
}

void task_signals_forward(struct task_signals *signals, int number)
{
    struct process_set set = {0};
    list_processes(signals, false, &set);
    process_set_signal(&set, NULL, number);
    if (number == SIGTERM)
        remember_term(signals, &set);
    process_set_clear(&set);
}

void task_signals_terminate(struct task_signals *signals)
{
    struct process_set set = {0};
    list_processes(signals, true, &set);
    process_set_signal(&set, &signals->heard_term, SIGTERM);
    process_set_signal(&set, NULL, SIGCONT); /* a stopped task has to hear of it */
    remember_term(signals, &set);
    process_set_clear(&set);
}

void task_signals_kill(struct task_signals *signals)
{
    struct process_set set = {0};
    cgroup_kill(signals->cgroup);
    list_processes(signals, true, &set);
    process_set_signal(&set, NULL, SIGKILL);
    process_set_clear(&set);
}

void task_signals_send(struct task_signals *signals, pid_t task, int number)
{
    struct process_set set = {0};
    if (task <= 0)
        return;
    list_processes(signals, true, &set);
    process_set_keep_groups(&set, &task, 1);
    process_set_signal(&set, number == SIGTERM ? &signals->heard_term : NULL, number);
    if (number == SIGTERM)
        remember_term(signals, &set);
    process_set_clear(&set);
}

void task_signals_send_tasks(struct task_signals *signals, const pid_t *tasks, size_t count,
                             int number)
{
    struct process_set set = {0};
    list_processes(signals, true, &set);
    process_set_keep_groups(&set, tasks, count);
    process_set_signal(&set, NULL, number);
    if (number == SIGTERM)
        remember_term(signals, &set);
    process_set_clear(&set);
}

void task_signals_list(const struct task_signals *signals, struct process_set *set)
{
    list_processes(signals, true, set);
}

void task_signals_hang_up(struct task_signals *signals, pid_t task)
{
    struct process_set set = {0};
    if (task <= 0)
        return;
    list_processes(signals, true, &set);
    process_set_keep_groups(&set, &task, 1);
    process_set_signal(&set, NULL, SIGHUP);
    process_set_signal(&set, NULL, SIGCONT);
    remember_term(signals, &set);
    process_set_clear(&set);
}

void task_signals_kill_groups(struct task_signals *signals, const pid_t *tasks, size_t count)
{
    struct process_set set = {0};
    list_processes(signals, true, &set);
    process_set_keep_groups(&set, tasks, count);
    process_set_signal(&set, NULL, SIGKILL);
    process_set_clear(&set);
}

char *task_signals_survivors(const struct task_signals *signals)
{
    struct process_set set = {0};
    list_processes(signals, true, &set);
    char *text = process_set_describe_left(&set, signals->cgroup);
    process_set_clear(&set);
    return text;
}
