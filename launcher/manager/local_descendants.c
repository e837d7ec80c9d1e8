/* What is below a manager once its agents end: programs of an instance, and what a lost agent left behind. */
#include "launcher/manager/local_descendants.h"

#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/agent/agent.h"
#include "launcher/agent/agent_guard.h"
#include "launcher/process/descendants.h"

#define PROGRAMS_LOOK 0.05 /* s between looks whether programs of the instance have ended */
#define PROGRAMS_END 10.0  /* s that they may take, and the time of their epilogs */

struct local_descendants {
    struct local_descendants_config config;
    bool agent_lost; /* one ended before it was told to: what it left may be on this machine, */
    bool left_here;  /* and is, for that was this machine's */
    bool unkillable;
    ev_timer look;     /* whether programs of the instance have ended, */
    double wait_begin; /* since this moment (s of the monotonic clock) */
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

struct local_descendants *local_descendants_new(const struct local_descendants_config *config)
{
    struct local_descendants *descendants = mem_alloc(sizeof(*descendants));
    *descendants = (struct local_descendants){.config = *config};
    ev_timer_init(&descendants->look, on_look_for_programs, 0, 0);
    descendants->look.data = descendants;
    return descendants;
}

void local_descendants_free(struct local_descendants *descendants)
{
    if (!descendants)
        return;
    ev_timer_stop(descendants->config.loop, &descendants->look);
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
static char *end_all(struct local_descendants *descendants)
{
    const struct local_descendants_config *config = &descendants->config;
    double epilogs = scratch_directory_inner_epilogs(config->scratch);
    if (descendants->unkillable) {
        cgroup_kill(config->cgroup);
        descendants_signal(SIGKILL, NULL, 0);
        return NULL;
    }
    if (descendants->agent_lost)
        return agent_guard_end_left(config->cgroup, config->scratch);
    return descendants_end(AGENT_LOST_GRACE + epilogs, NULL, 0, config->cgroup);
}

char *local_descendants_end(struct local_descendants *descendants)
{
    struct scratch *scratch = descendants->config.scratch;
    char *survivors = end_all(descendants);
    if (scratch_directory_epilog(scratch) != EPILOG_OWED) /* who runs it needs the files */
        scratch_directory_remove(scratch);
    if (descendants->agent_lost)
        agent_sweep();
    return survivors;
}
