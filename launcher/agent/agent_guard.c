/* The guard of an agent. */
#include "launcher/agent/agent_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/agent/agent_ahead.h"
#include "launcher/agent/local_hooks.h"
#include "launcher/process/descendants.h"
#include "launcher/process/exec.h"
#include "launcher/process/process.h"
#include "launcher/stdio/terminal.h"

/* Agents of programs in the instance are below its nursery, and end by themselves. */
static pid_t *inner_nurseries(size_t *count)
{
    struct process process;
    size_t nchildren;
    pid_t *children = descendants_children(&nchildren);
    *count = 0;
    for (size_t i = 0; i < nchildren; i++)
        if (process_read(children[i], &process) && process.nursery)
            children[(*count)++] = children[i];
    return children;
}

void agent_guard_left_begin(struct agent_guard_left *left, struct cgroup *cgroup,
                            const struct scratch *scratch)
{
    size_t count;
    *left = (struct agent_guard_left){.inner = inner_nurseries(&count),
                                      .epilogs = scratch_directory_inner_epilogs(scratch)};
    left->end = (struct descendants_end){.grace = AGENT_LOST_GRACE,
                                         .except = left->inner,
                                         .nexcept = left->epilogs > 0 ? count : 0,
                                         .cgroup = cgroup};
}

bool agent_guard_left_step(struct agent_guard_left *left, char **survivors)
{
    char *text;
    if (!descendants_end_step(&left->end, &text))
        return false;
    if (left->survivors)
        free(text);
    else
        left->survivors = text;
    if (left->end.nexcept) {
        left->end = (struct descendants_end){.grace = left->epilogs};
        return agent_guard_left_step(left, survivors);
    }
    free(left->inner);
    *survivors = left->survivors;
    return true;
}

static char *end_left_behind(struct cgroup *cgroup, const struct scratch *scratch)
{
    struct agent_guard_left left;
    char *survivors;
    agent_guard_left_begin(&left, cgroup, scratch);
    while (!agent_guard_left_step(&left, &survivors))
        nanosleep(&(struct timespec){0, (long)(DESCENDANTS_STEP * 1e9)}, NULL);
    return survivors;
}

/* It holds neither end of the link, so that the agent's death is seen above at once. */
static int guard(pid_t agent, const struct agent_config *config)
{
    int status = 0;
    close(config->in);
    close(config->out);
    exec_reserve();
    descendants_adopt();
    for (;;) {
        pid_t pid = waitpid(-1, &status, 0);
        if (pid == agent || (pid < 0 && errno == ECHILD))
            break;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != AGENT_LEFT) {
        char *survivors = end_left_behind(config->cgroup, config->scratch);
        if (survivors) {
            terminal_print(STDERR_FILENO, survivors, strlen(survivors));
            terminal_print(STDERR_FILENO, "\n", 1);
        }
        free(survivors);
    }
    local_hooks_run_owed(config->scratch);
    scratch_directory_remove(config->scratch);
    if (WIFSIGNALED(status))
        agent_sweep();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int agent_guard_run(struct agent_config *config, struct error *err)
{
    int life[2];
    if (pipe2(life, O_CLOEXEC) < 0) {
        error_set(err, "cannot make a pipe: %s", strerror(errno));
        return 1;
    }
    pid_t agent = fork();
    if (agent < 0) {
        error_set(err, "cannot start the agent's second process: %s%s", strerror(errno),
                  errno == EAGAIN ? " (\"ulimit -u\" limits processes)" : "");
        return 1;
    }
    if (agent > 0) {
        close(life[0]);
        return guard(agent, config);
    }
    close(life[1]);
    config->guard = fcntl(life[0], F_DUPFD_CLOEXEC, 10);
    close(life[0]);
    config->run_another = agent_guard_run;
    exec_reserve();
    topo_prepare();
    if (config->ahead_on && !agent_ahead_wait(config))
        return 0;
    return agent_run(config, err);
}
