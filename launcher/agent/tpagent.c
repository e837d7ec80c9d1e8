/* tpagent - the agent's program: what ssh, srun or the like runs on a node. Not called by hand. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "launcher/agent/agent_guard.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/descendants.h"
#include "launcher/process/exec.h"
#include "launcher/process/job_signals.h"
#include "launcher/process/user_namespace.h"
#include "launcher/stdio/terminal.h"

/* The link moves out of the way: 0 and 1 become /dev/null. */
static int move_up(int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    close(fd);
    return moved;
}

/* What would have come on standard input, where the command that starts agents has none for them. */
static int take_from_file(const char *path)
{
    char bytes[65536]; /* as much as a pipe holds */
    int pair[2], fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : -1;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (len < 0 || null < 0 || pipe2(pair, O_CLOEXEC) < 0 ||
        write(pair[1], bytes, (size_t)len) < len)
        return -1;
    explicit_bzero(bytes, sizeof(bytes));
    dup2(pair[0], STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    close(fd);
    close(null);
    close(pair[0]);
    close(pair[1]);
    return 0;
}

static void tpagent_complain(const char *text)
{
    char name[256] = "";
    gethostname(name, sizeof(name) - 1);
    terminal_complain(name, text, strlen(text));
}

static int tpagent_refuse(struct error *err)
{
    tpagent_complain(error_text(err));
    error_clear(err);
    return 1;
}

static int refuse_file(const char *path)
{
    struct error err = ERROR_INIT;
    error_set(&err,
              "%s: %s: the agent is told there how to reach its parent, so this host has to share "
              "that file system",
              path, strerror(errno));
    return tpagent_refuse(&err);
}

int main(int argc, char *argv[])
{
    bool called = argc == 3 && strcmp(argv[1], "--call") == 0;
    if (called && take_from_file(argv[2]) < 0)
        return refuse_file(argv[2]);
    if (argc > 1 && !called) {
        int known = strcmp(argv[1], "--version") == 0;
        const char *text = known
                               ? "tpagent " PACKAGE_VERSION "\n"
                               : "tpagent: started by tprun on each node; it takes no arguments\n";
        terminal_print(known ? STDOUT_FILENO : STDERR_FILENO, text, strlen(text));
        return known ? 0 : 2;
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    job_signals_reset(); /* the command that starts agents may ignore some: tasks must not */
    job_signals_survive();
    struct error err = ERROR_INIT;
    if (user_namespace_check(&err) < 0)
        return tpagent_refuse(&err);
    struct agent_config config = {.cgroup = cgroup_new(), .scratch = scratch_directory_new(NULL)};
    config.in = move_up(0);
    config.out = move_up(1);
    int status = agent_guard_run(&config, &err);
    if (err.text)
        tpagent_complain(err.text);
    error_clear(&err);
    return status;
}
