/* tpagent - the agent's program: what runs at the other end of ssh. Nobody calls it by hand. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "launcher/agent/agent.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/descend.h"
#include "launcher/process/spawn.h"

/* The guard: should the agent itself be killed, ends what it leaves behind. It holds neither end
 * of the link, so that the agent's death is seen above at once. */
static int guard(pid_t agent, const struct agent_config *config)
{
    int status = 0;
    close(0);
    close(1);
    spawn_reserve();
    descend_adopt();
    signal(SIGHUP, SIG_IGN);
    for (;;) {
        pid_t pid = waitpid(-1, &status, 0);
        if (pid == agent || (pid < 0 && errno == ECHILD))
            break;
    }
    descend_end(AGENT_LOST_GRACE, NULL, 0, config->cgroup);
    scratch_remove(config->scratch);
    if (WIFSIGNALED(status))
        agent_sweep();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* The link moves out of the way: 0 and 1 become /dev/null. */
static int move_up(int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    close(fd);
    return moved;
}

int main(int argc, char *argv[])
{
    int life[2];
    if (argc > 1) {
        int known = strcmp(argv[1], "--version") == 0;
        fprintf(known ? stdout : stderr,
                known ? "tpagent " PACKAGE_VERSION "\n"
                      : "tpagent: started by tprun on each node; it takes no arguments\n");
        return known ? 0 : 2;
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_IGN);
    struct agent_config config = {.cgroup = cgroup_new(), .scratch = scratch_new()};
    if (pipe2(life, O_CLOEXEC) < 0)
        return 1;
    pid_t agent = fork();
    if (agent < 0)
        return 1;
    if (agent > 0) {
        close(life[0]);
        return guard(agent, &config);
    }
    close(life[1]);
    config.in = move_up(0);
    config.out = move_up(1);
    config.guard = move_up(life[0]);
    spawn_reserve();
    return agent_run(&config);
}
