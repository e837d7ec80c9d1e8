/* A task on its way: its descriptors, its variables, its exec. */
#include "launcher/task/task_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/process/pseudo_terminal.h"
#include "launcher/process/terminal_modes.h"
#include "launcher/task/task_start_private.h"

/* ---- descriptors ---- */

static void ends_close(struct both_ends *ends, int side)
{
    int *const all[] = {ends->in, ends->out, ends->err, ends->pmi, ends->terminal};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i][side] >= 0)
            close(all[i][side]);
}

static int pipe_for(int ends[2], int task_end)
{
    int made[2];
    if (pipe2(made, O_CLOEXEC) < 0)
        return -1;
    ends[0] = made[task_end];
    ends[1] = made[1 - task_end];
    return 0;
}

/* One descriptor for each use, so that each can be closed by who has it. */
static int terminal_for(const struct task_start *start, struct both_ends *ends, struct error *err)
{
    const char *modes = start->config.launch->spec->terminal;
    if (pseudo_terminal_open(&ends->terminal[1], &ends->in[0], err) < 0 ||
        (modes && terminal_modes_set(ends->in[0], modes, err) < 0))
        return -1;
    ends->out[0] = fcntl(ends->in[0], F_DUPFD_CLOEXEC, 10);
    ends->err[0] = fcntl(ends->in[0], F_DUPFD_CLOEXEC, 10);
    ends->in[1] = fcntl(ends->terminal[1], F_DUPFD_CLOEXEC, 10);
    ends->out[1] = fcntl(ends->terminal[1], F_DUPFD_CLOEXEC, 10);
    return ends->out[0] < 0 || ends->err[0] < 0 || ends->in[1] < 0 || ends->out[1] < 0 ? -1 : 0;
}

/* -1 with errno, or with a sentence. */
static int ends_open(const struct task_start *start, uint32_t task, struct both_ends *ends,
                     struct error *err)
{
    unsigned offered = start->parts[start->config.launch->tasks[task].app].pmi;
    bool has_socket = start->sockets && offered & (SPEC_PMI_1 | SPEC_PMI_2);
    *ends = (struct both_ends){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    if (launch_has_terminal(start->config.launch, &start->config.launch->tasks[task])) {
        if (terminal_for(start, ends, err) < 0)
            return -1;
    } else if (pipe_for(ends->out, 1) < 0 || pipe_for(ends->err, 1) < 0 ||
               (start->ops->reads(start->owner, task) && pipe_for(ends->in, 0) < 0)) {
        return -1;
    }
    if (!has_socket)
        return 0;
    /* For PMI-1 or PMI-2. Who writes to it is known from the first byte on. */
    int yes = 1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->pmi) < 0)
        return -1;
    return setsockopt(ends->pmi[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes));
}

/* ---- begun ---- */

void task_launch_fail(struct task_start *start, uint32_t task, int status, char *text)
{
    const struct launch *launch = start->config.launch;
    start->stop = true;
    start_failures_add(&start->failures, launch->first_rank + launch->tasks[task].rank, status,
                       text);
}

static void launch_exec(struct task_start *start, struct task_launching *at, uint32_t task)
{
    const struct launch *launch = start->config.launch;
    const struct launch_task *what = &launch->tasks[task];
    const struct part_setup *part = &start->parts[what->app];
    const struct both_ends *ends = &at->ends;
    struct task_environment_source source = {launch,
                                             part,
                                             start->texts,
                                             ends->pmi[0] >= 0,
                                             start->ops->variables(start->owner, task, part->pmi),
                                             part_setup_gpus(part, what),
                                             part_setup_openmp(part, what),
                                             start->config.older};
    task_environment_fill(&at->vars, &source, what);
    at->task = task;
    at->spawn = (struct exec){.path = part->path,
                              .argv = launch->spec->parts[what->app].argv,
                              .envp = at->vars.list,
                              .fds = {ends->in[0] >= 0 ? ends->in[0] : start->null, ends->out[0],
                                      ends->err[0], ends->pmi[0]},
                              .directory = part->directory,
                              .umask = part->umask,
                              .death_signal = SIGTERM, /* the guard does the rest */
                              .group = true,
                              .terminal = ends->terminal[1] >= 0,
                              .cpus = start->bindings.sets[what->binding],
                              .cpus_size = start->bindings.size,
                              .memory = memory_binding_of(launch, start->memory, what),
                              .limits = part->limits};
    task_cgroup_exec(start->config.cgroup, launch, what, &at->child, &at->spawn);
}

void task_launch_begin(struct task_start *start, struct task_launching *at, uint32_t task)
{
    struct error err = ERROR_INIT;
    if (ends_open(start, task, &at->ends, &err) < 0) {
        /* Two pipes a task, and a socket where it has PMI: this limit is reached first. */
        int number = errno;
        struct rlimit files;
        bool limited = number == EMFILE && getrlimit(RLIMIT_NOFILE, &files) == 0;
        char *text =
            err.text ? mem_copy_text(err.text)
            : limited
                ? mem_format("cannot make its pipes: %s: raise \"ulimit -n\", which is %llu here",
                             strerror(number), (unsigned long long)files.rlim_cur)
                : mem_format("cannot make its pipes: %s", strerror(number));
        task_launch_fail(start, task, W_EXITCODE(1, 0), text);
        error_clear(&err);
        ends_close(&at->ends, 0);
        ends_close(&at->ends, 1);
        return;
    }
    launch_exec(start, at, task);
}

/* ---- finished ---- */

static bool is_alone(const struct task_start *start, const struct task_launching *at)
{
    for (uint32_t i = 0; i < TASK_START_MAX; i++) {
        const struct task_launching *other = &start->launching[i];
        if (other != at && other->task != NO_TASK && !other->retry_alone)
            return false;
    }
    return true;
}

static void launch_started(struct task_start *start, struct task_launching *at, uint32_t task,
                           pid_t pid)
{
    const struct launch *launch = start->config.launch;
    const struct both_ends *ends = &at->ends;
    const struct task_pipes pipes = {ends->in[1], ends->out[1], ends->err[1], ends->pmi[1],
                                     ends->terminal[1]};
    /* what is to be shown is what the kernel said, not what it was asked for; what a claim keeps unbound tasks
     * to the manager does not know */
    const cpu_set_t *set = exec_cpus(&at->child);
    if (((launch->spec->display & LAYOUT_SHOW_BIND) || launch->claim) && set)
        task_binding_add_found(&start->bindings, set,
                               launch->first_rank + launch->tasks[task].rank);
    start->ops->started(start->owner, task, pid, &pipes);
}

bool task_launch_finish(struct task_start *start, struct task_launching *at)
{
    uint32_t task = at->task;
    if (task == NO_TASK || at->retry_alone)
        return true;
    if (!exec_wait(&at->child, TASK_START_TURN))
        return false;
    pid_t pid = exec_finish(&at->child);
    at->retry_alone = pid < 0 && !is_alone(start, at);
    start->stop |= pid < 0;
    if (at->retry_alone)
        return true;
    at->task = NO_TASK;
    ends_close(&at->ends, 0);
    if (pid >= 0) {
        launch_started(start, at, task, pid);
        return true;
    }
    struct error err = ERROR_INIT;
    const struct exec_failure *failure = &at->child.failure;
    int status = failure->step != EXEC_EXEC ? 1 : failure->number == ENOENT ? 127 : 126;
    exec_explain(&at->spawn, failure, &err);
    task_launch_fail(start, task, W_EXITCODE(status, 0), mem_copy_text(error_text(&err)));
    error_clear(&err);
    ends_close(&at->ends, 1);
    return true;
}

void task_launch_retry(struct task_launching *at)
{
    if (!at->retry_alone)
        return;
    at->retry_alone = false;
    exec_begin(&at->child, &at->spawn);
}

void task_launch_free(struct task_launching *at)
{
    task_environment_free(&at->vars);
    exec_process_free(&at->child);
}
