/* What is below a manager once its agents end: programs of an instance, and what a lost agent left behind. */
#include "launcher/manager/local_descendants.h"

#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/agent/agent_guard.h"

#define PROGRAMS_LOOK 0.05 /* s between looks whether programs of the instance have ended */
#define PROGRAMS_SOON 0.5  /* s at the end in which looks are more frequent */
#define PROGRAMS_END 10.0  /* s that they may take, and the time of their epilogs */

struct local_descendants {
    struct local_descendants_config config;
    bool agent_lost; /* one ended before it was told to: what it left may be on this machine, */
    bool left_here;  /* and is, for that was this machine's */
    bool unkillable;
    ev_timer look;     /* whether programs of the instance have ended, */
    double wait_begin; /* since this moment (s of the monotonic clock) */
    struct agent_guard_left left;
    ev_timer step; /* of its end */
};

/* What a lost agent left behind is not told from these programs: then nobody is waited for. */
static bool programs_are_left(const struct local_descendants *descendants)
{
    const struct local_descendants_config *config = &descendants->config;
    double most = PROGRAMS_END + scratch_directory_inner_epilogs(config->scratch);
    size_t count;
    const pid_t *agents = tree_pids(config->tree, &count);
    return !descendants->left_here && clock_monotonic_seconds() - descendants->wait_begin < most &&
           descendants_signal(0, agents, count);
}

static void on_look_for_programs(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct local_descendants *descendants = timer->data;
    (void)events;
    if (programs_are_left(descendants)) {
        ev_timer_set(timer, PROGRAMS_LOOK, 0);
        ev_timer_start(loop, timer);
    } else {
        descendants->config.ended(descendants->config.owner);
    }
}

static void descendants_gone(struct local_descendants *descendants, char *survivors)
{
    scratch_directory_remove(descendants->config.scratch);
    if (descendants->agent_lost)
        agent_sweep();
    descendants->config.gone(descendants->config.owner, survivors);
}

static void on_end_step(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct local_descendants *descendants = timer->data;
    const struct descendants_end *end = &descendants->left.end;
    char *survivors;
    (void)events;
    if (agent_guard_left_step(&descendants->left, &survivors)) {
        ev_timer_stop(loop, timer);
        descendants_gone(descendants, survivors);
        return;
    }
    bool waits = !end->slept && clock_monotonic_seconds() - end->begun > PROGRAMS_SOON;
    timer->repeat = waits ? PROGRAMS_LOOK : DESCENDANTS_STEP;
    ev_timer_again(loop, timer);
}

struct local_descendants *local_descendants_new(const struct local_descendants_config *config)
{
    struct local_descendants *descendants = mem_alloc(sizeof(*descendants));
    *descendants = (struct local_descendants){.config = *config};
    ev_timer_init(&descendants->look, on_look_for_programs, 0, 0);
    ev_timer_init(&descendants->step, on_end_step, DESCENDANTS_STEP, DESCENDANTS_STEP);
    descendants->look.data = descendants->step.data = descendants;
    return descendants;
}

void local_descendants_free(struct local_descendants *descendants)
{
    if (!descendants)
        return;
    ev_timer_stop(descendants->config.loop, &descendants->look);
    ev_timer_stop(descendants->config.loop, &descendants->step);
    free(descendants);
}

bool local_descendants_agent_lost(struct local_descendants *descendants, bool here)
{
    bool first = !descendants->agent_lost;
    descendants->agent_lost = true;
    descendants->left_here |= here;
    return first;
}

void local_descendants_unkillable(struct local_descendants *descendants)
{
    descendants->unkillable = true;
}

void local_descendants_wait(struct local_descendants *descendants)
{
    descendants->wait_begin = clock_monotonic_seconds();
    on_look_for_programs(descendants->config.loop, &descendants->look, 0);
}

/* Programs of the instance, and their agents here, have the time of their epilogs. */
void local_descendants_end(struct local_descendants *descendants)
{
    const struct local_descendants_config *config = &descendants->config;
    double epilogs = scratch_directory_inner_epilogs(config->scratch);
    if (descendants->unkillable) {
        cgroup_kill(config->cgroup);
        descendants_signal(SIGKILL, NULL, 0);
        descendants_gone(descendants, NULL);
        return;
    }
    if (descendants->agent_lost)
        agent_guard_left_begin(&descendants->left, config->cgroup, config->scratch);
    else
        descendants->left.end =
            (struct descendants_end){.grace = AGENT_LOST_GRACE + epilogs, .cgroup = config->cgroup};
    on_end_step(config->loop, &descendants->step, 0);
}
