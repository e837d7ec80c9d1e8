/* A task on its way: its descriptors, its variables, its exec. */
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
#include "launcher/agent/task_start.h"

static void ends_close(struct ends *ends, int side)
{
    int *const all[] = {ends->in, ends->out, ends->err, ends->pmi};
    for (size_t i = 0; i < 4; i++)
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

/* PMI-1 or PMI-2, which have a descriptor. */
static bool speaks_lines(const struct task_start *start, const struct task *task)
{
    return task->group->pmi && start->parts[task->what->app].pmi & (SPEC_PMI_1 | SPEC_PMI_2);
}

/* Who writes to it is known from the first byte on. */
static int pmi_open(int ends[2])
{
    int yes = 1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    return setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes));
}

static int ends_open(const struct task_start *start, const struct task *task, struct ends *ends)
{
    *ends = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    if (pipe_for(ends->out, 1) < 0 || pipe_for(ends->err, 1) < 0 ||
        (task->reads && pipe_for(ends->in, 0) < 0) ||
        (speaks_lines(start, task) && pmi_open(ends->pmi) < 0))
        return -1;
    return 0;
}

static int failure_status(const struct exec_failure *failure)
{
    if (failure->step == EXEC_EXEC)
        return W_EXITCODE(failure->number == ENOENT ? 127 : 126, 0);
    return W_EXITCODE(1, 0);
}

static void slot_begin(struct task_start *start, struct task_start_slot *slot, struct task *task)
{
    const struct launch_task *what = task->what;
    const struct part_setup *part = &start->parts[what->app];
    const struct launch *launch = start->group->launch;
    const struct ends *ends = &slot->ends;
    struct task_environment_source source = {launch,
                                             part,
                                             start->texts,
                                             ends->pmi[0] >= 0,
                                             pmix_variables(task, part->pmi),
                                             openmp_variables_of(&start->threads, part, what),
                                             start->group->older};
    task_environment_fill(&slot->vars, &source, what);
    slot->task = task;
    slot->spawn = (struct exec){.path = part->path,
                                .argv = launch->spec->parts[what->app].argv,
                                .envp = slot->vars.list,
                                .fds = {ends->in[0] >= 0 ? ends->in[0] : start->null, ends->out[0],
                                        ends->err[0], ends->pmi[0]},
                                .directory = part->directory,
                                .umask = part->umask,
                                .death_signal = SIGTERM, /* the guard does the rest */
                                .group = true,
                                .cpus = start->bindings.sets[what->binding],
                                .cpus_size = start->bindings.size,
                                .memory = memory_binding_of(launch, start->memory, what),
                                .limits = part->limits};
    task_cgroup_begin(task, &slot->child, &slot->spawn);
}

static bool slot_is_alone(const struct task_start *start, const struct task_start_slot *slot)
{
    for (uint32_t i = 0; i < TASK_START_SLOTS; i++)
        if (&start->slots[i] != slot && start->slots[i].task && !start->slots[i].suspect)
            return false;
    return true;
}

static void slot_failed(struct task_start *start, struct task_start_slot *slot, struct task *task)
{
    struct error err = ERROR_INIT;
    exec_explain(&slot->spawn, &slot->child.failure, &err);
    task_start_fail(start, task, failure_status(&slot->child.failure),
                    mem_copy_text(error_text(&err)));
    error_clear(&err);
    ends_close(&slot->ends, 1);
}

/* What is to be shown is what the kernel said, not what it was asked for. */
static void slot_found(struct task_start *start, const struct task_start_slot *slot, uint32_t rank)
{
    const cpu_set_t *set = exec_cpus(&slot->child);
    if ((start->group->launch->spec->display & LAYOUT_SHOW_BIND) && set)
        task_binding_add_found(&start->bindings, set, rank);
}

static void slot_started(struct task_start *start, struct task_start_slot *slot, struct task *task,
                         pid_t pid)
{
    struct group *group = task->group;
    struct ends *ends = &slot->ends;
    task->pid = pid;
    task->started = true;
    task->drained = false;
    group->live++;
    group->undrained++;
    task_streams_open(task, ends->out[1], ends->err[1], ends->in[1]);
    if (ends->pmi[1] >= 0)
        pmi_socket_open(task, ends->pmi[1]);
    slot_found(start, slot, task_rank(task));
    task_signals_started(task);
}

bool task_launch_finish(struct task_start *start, struct task_start_slot *slot)
{
    struct task *task = slot->task;
    if (!task || slot->suspect)
        return true;
    if (!exec_wait(&slot->child, TASK_START_TURN))
        return false;
    pid_t pid = exec_finish(&slot->child);
    slot->suspect = pid < 0 && !slot_is_alone(start, slot);
    start->stop |= pid < 0;
    if (slot->suspect)
        return true;
    slot->task = NULL;
    ends_close(&slot->ends, 0);
    if (pid < 0)
        slot_failed(start, slot, task);
    else
        slot_started(start, slot, task, pid);
    return true;
}

/* Two pipes a task, and a socket where it has PMI: the agent's limit is what is reached first. */
static char *pipes_refused(int number)
{
    struct rlimit files;
    if (number != EMFILE || getrlimit(RLIMIT_NOFILE, &files) < 0)
        return mem_format("cannot make its pipes: %s", strerror(number));
    return mem_format("cannot make its pipes: %s: raise \"ulimit -n\", which is %llu here",
                      strerror(number), (unsigned long long)files.rlim_cur);
}

void task_launch_start(struct task_start *start, struct task_start_slot *slot, struct task *task)
{
    if (ends_open(start, task, &slot->ends) < 0) {
        task_start_fail(start, task, W_EXITCODE(1, 0), pipes_refused(errno));
        ends_close(&slot->ends, 0);
        ends_close(&slot->ends, 1);
        return;
    }
    slot_begin(start, slot, task);
}

void task_launch_retry(struct task_start_slot *slot)
{
    if (!slot->suspect)
        return;
    slot->suspect = false;
    exec_begin(&slot->child, &slot->spawn);
}

void task_launch_free(struct task_start_slot *slot)
{
    task_environment_free(&slot->vars);
    exec_process_free(&slot->child);
}
