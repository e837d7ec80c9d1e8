/* The end: why, how hard, and when it is one. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/manager/internal.h"

#define END_PATIENCE                                                                               \
    6.0                   /* s that an agent may need beyond the grace to say that it is done: 3 of
                             them it waits for what SIGKILL does not end */
#define GONE_PATIENCE 2.0 /* s that an agent's process may need to go once it is done */

void termination_end(struct manager *manager)
{
    if (manager->phase == PHASE_END)
        return;
    manager->phase = PHASE_END;
    time_limit_stop(manager->limit);
    program_claim_stop(manager->claim);
    ev_timer_stop(manager->loop, &manager->patience);
    graceful_stop_over(manager->stop);
    tree_end(manager->tree, GONE_PATIENCE + (manager->spec->tools ? AGENT_TOOLS_PATIENCE : 0));
}

void termination_refuse(struct manager *manager, const struct error *err)
{
    outcome_other(manager->outcome, clock_monotonic_ns(), err->kind, error_text(err));
    termination_end(manager);
}

void termination_terminate(struct manager *manager, double grace)
{
    if (manager->phase == PHASE_GATHER)
        termination_end(manager);
    if (manager->phase != PHASE_RUN)
        return;
    struct frame frame = {.type = FRAME_TERMINATE, .rank = frame_grace(grace), .group = FRAME_ALL};
    tree_send(manager->tree, &frame);
    ev_timer_stop(manager->loop, &manager->patience);
    if (frame.rank != FRAME_ALL) {
        ev_timer_set(&manager->patience, grace + END_PATIENCE, 0);
        ev_timer_start(manager->loop, &manager->patience);
    }
    manager->terminating = true;
    time_limit_stop_warning(manager->limit);
    graceful_stop_over(manager->stop);
}

/* What it alone used is free again. */
static void group_over(struct manager *manager, struct task_group *group)
{
    struct rset *used = rset_copy(task_group_used(group));
    if (task_group_number(group))
        viewer_say(manager, "group %u: all its tasks have ended", task_group_number(group));
    program_service_remove(manager->service, group);
    spawn_forget(manager->spawns, group);
    task_group_drop(group);
    if (task_groups_first(manager->groups))
        program_claim_release(manager->claim, used);
    rset_free(used);
}

void termination_check(struct manager *manager)
{
    struct task_group *next;
    if (manager->phase != PHASE_RUN)
        return;
    for (struct task_group *group = task_groups_first(manager->groups); group; group = next) {
        next = task_group_next(group);
        if (idset_empty(task_group_pending(group)))
            group_over(manager, group);
    }
    if (task_groups_first(manager->groups))
        return;
    viewer_say(manager, "all tasks have ended, and nothing of them is left");
    termination_end(manager);
}

/* ---- patience and limits ---- */

static void program_termination_give_up(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    struct idset *pending = task_groups_pending(manager->groups);
    (void)loop;
    (void)events;
    IDSET_FOREACH(node, pending)
    {
        char *line = mem_format("%s: its agent did not say that its tasks have ended; what is "
                                "left there has to be ended by hand",
                                host_names(manager->hosts)[node]);
        outcome_always(manager->outcome, UINT64_MAX, ERROR_REFUSED, line);
        free(line);
    }
    idset_free(pending);
    termination_end(manager);
}

static void on_limit_reached(void *owner, const char *line, const char *reason)
{
    struct manager *manager = owner;
    outcome_other(manager->outcome, clock_monotonic_ns(), OUTCOME_TIME_LIMIT, line);
    termination_terminate(manager, manager->spec->stop_grace);
    graceful_stop_terminated(manager->stop, reason, manager->spec->stop_grace);
}

static void on_limit_warning(void *owner, char *before)
{
    struct manager *manager = owner;
    graceful_stop_signal(manager->stop, manager->spec->warn_signal, before, "");
}

static const struct time_limit_ops limit_ops = {on_limit_reached, on_limit_warning};

static void on_stop_note(void *owner, const char *text)
{
    viewer_note(owner, text);
}

static void on_stop_expired(void *owner, int status, const char *line)
{
    struct manager *manager = owner;
    outcome_always(manager->outcome, clock_monotonic_ns(), status, line);
    termination_terminate(manager, 0);
}

static const struct graceful_stop_ops stop_ops = {on_stop_note, on_stop_expired};

void termination_start_limit(struct manager *manager)
{
    const struct rset *R = host_nodes(manager->hosts)->R;
    manager->limit =
        time_limit_new(manager->loop, manager->spec, R ? R->expiration : 0, &limit_ops, manager);
    manager->stop =
        graceful_stop_new(manager->loop, manager->tree, manager->groups, host_count(manager->hosts),
                          manager->spec->stop_grace, &stop_ops, manager);
}

void termination_open(struct manager *manager)
{
    ev_timer_init(&manager->patience, program_termination_give_up, 0, 0);
    manager->patience.data = manager;
}
