/*
 * agent_guard - an agent with a process beside it that outlives it: should the agent itself be
 * killed, that one ends what it leaves behind.
 */
#ifndef LAUNCHER_AGENT_AGENT_GUARD_H
#define LAUNCHER_AGENT_AGENT_GUARD_H

#include "base/error.h"
#include "launcher/agent/agent.h"
#include "launcher/process/descendants.h"

/* Runs to the end of both, in this process and a forked one: the exit status. *err is the sentence
 * of the agent, or says why there is none. The config's guard is set here. */
int agent_guard_run(struct agent_config *config, struct error *err);

/* The end of what an agent that was killed has left below this process. Its tasks have
 * AGENT_LOST_GRACE, and programs in its instance the time of their epilogs. */
struct agent_guard_left {
    struct descendants_end end; /* of tasks, then of the others */
    pid_t *inner;
    double epilogs;
    char *survivors;
};
void agent_guard_left_begin(struct agent_guard_left *left, struct cgroup *cgroup,
                            const struct scratch *scratch);
/* As descendants_end_step(). */
bool agent_guard_left_step(struct agent_guard_left *left, char **survivors);

#endif
