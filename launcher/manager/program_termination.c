/* The end: why, how hard, and when it is one. */
#include <math.h>
#include <stdlib.h>
#include <sys/time.h>

#include "base/duration.h"
#include "base/mem.h"
#include "launcher/manager/internal.h"
#include "launcher/spec/field_words.h"

#define END_PATIENCE                                                                               \
    6.0                   /* s that an agent may need beyond the grace to say that it is done: 3 of
                             them it waits for what SIGKILL does not end */
#define GONE_PATIENCE 2.0 /* s that an agent's process may need to go once it is done */

void termination_end(struct manager *manager)
{
    if (manager->phase == PHASE_END)
        return;
    manager->phase = PHASE_END;
    ev_timer_stop(manager->loop, &manager->limit);
    ev_timer_stop(manager->loop, &manager->warning);
    ev_timer_stop(manager->loop, &manager->patience);
    graceful_stop_over(manager);
    tree_end(manager->tree, GONE_PATIENCE);
}

void termination_refuse(struct manager *manager, const struct error *err)
{
    outcome_other(manager->outcome, link_clock(), err->kind, error_text(err));
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
    ev_timer_stop(manager->loop, &manager->warning);
    graceful_stop_over(manager);
}

/* What it alone used is free again. */
static void group_over(struct manager *manager, struct group *group)
{
    struct rset *claim = rset_copy(group->claim);
    if (group->number)
        viewer_say(manager, "group %u: all its tasks have ended", group->number);
    pmi_services_remove(group);
    groups_drop(group);
    if (manager->groups)
        spawn_resources_give_back(manager, claim);
    rset_free(claim);
}

void termination_check(struct manager *manager)
{
    struct group *next;
    if (manager->phase != PHASE_RUN)
        return;
    for (struct group *group = manager->groups; group; group = next) {
        next = group->next;
        if (idset_empty(group->pending))
            group_over(manager, group);
    }
    if (manager->groups)
        return;
    viewer_say(manager, "all tasks have ended, and nothing of them is left");
    termination_end(manager);
}

/* ---- patience and limits ---- */

static void program_termination_give_up(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    struct idset *pending = groups_pending(manager);
    (void)loop;
    (void)events;
    IDSET_FOREACH(node, pending)
    {
        char *line = mem_format("%s: its agent did not say that its tasks have ended; what is "
                                "left there has to be ended by hand",
                                manager->nodes->list[node].host);
        outcome_always(manager->outcome, UINT64_MAX, ERROR_REFUSED, line);
        free(line);
    }
    idset_free(pending);
    termination_end(manager);
}

static void program_termination_on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    char *limit = duration_encode(manager->spec->time_limit);
    char *line = manager->limit_is_R
                     ? mem_format("R has expired: its program was ended")
                     : mem_format("time limit of %s reached: the program was ended", limit);
    (void)loop;
    (void)events;
    outcome_other(manager->outcome, link_clock(), OUTCOME_TIME_LIMIT, line);
    termination_terminate(manager, manager->spec->stop_grace);
    graceful_stop_terminated(manager,
                             manager->limit_is_R ? "R has expired: " : "time limit reached: ",
                             manager->spec->stop_grace);
    free(limit);
    free(line);
}

static void on_warning(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct manager *manager = timer->data;
    char *before = duration_encode(manager->spec->warn_before);
    char *line = mem_format("%s in %s: ", manager->limit_is_R ? "R expires" : "time limit", before);
    (void)loop;
    (void)events;
    graceful_stop_signal(manager, manager->spec->warn_signal, line, "");
    free(before);
}

/* Until the program is ended; INFINITY: nothing says so. */
static double limit_left(const struct manager *manager, bool *is_R)
{
    double seconds = manager->spec->time_limit;
    const struct rset *R = manager->nodes->R;
    struct timeval now;
    gettimeofday(&now, NULL);
    *is_R = R && R->expiration > 0 && R->expiration - (double)now.tv_sec < seconds;
    return *is_R ? R->expiration - (double)now.tv_sec : seconds;
}

int termination_check_limit(const struct manager *manager, struct error *err)
{
    const struct spec *spec = manager->spec;
    bool is_R;
    double left = limit_left(manager, &is_R);
    if (!spec->warn_signal || (!isinf(left) && left > spec->warn_before))
        return 0;
    char *warning = spec_signal_encode(spec->warn_signal, spec->warn_before);
    char *time = duration_encode(left > 0 ? left : 0);
    if (isinf(left))
        error_usage(err, "--signal %s: there is no limit to warn of: --time-limit sets one",
                    warning);
    else if (is_R)
        error_set(err, "--signal %s: R expires in %s already", warning, time);
    else
        error_usage(err, "--signal %s: must be less than --time-limit %s", warning, time);
    free(time);
    free(warning);
    return -1;
}

static void program_termination_start_timer(struct manager *manager, ev_timer *timer,
                                            double seconds)
{
    ev_timer_set(timer, seconds > 0 ? seconds : 0, 0);
    ev_timer_start(manager->loop, timer);
}

void termination_start_limit(struct manager *manager)
{
    double left = limit_left(manager, &manager->limit_is_R);
    if (isinf(left))
        return;
    program_termination_start_timer(manager, &manager->limit, left);
    if (manager->spec->warn_signal)
        program_termination_start_timer(manager, &manager->warning,
                                        left - manager->spec->warn_before);
}

void termination_open(struct manager *manager)
{
    ev_timer_init(&manager->limit, program_termination_on_limit, 0, 0);
    ev_timer_init(&manager->patience, program_termination_give_up, 0, 0);
    ev_timer_init(&manager->warning, on_warning, 0, 0);
    manager->limit.data = manager->warning.data = manager->patience.data = manager;
    graceful_stop_open(manager);
}
