/* A group's start: what its tasks share, and the turns in which they are started. */
#include "launcher/task/task_start.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/mem.h"
#include "launcher/task/task_launch.h"
#include "launcher/task/task_start_private.h"

/* ---- tasks that do not start ---- */

/* Tasks of this node whose program cannot be executed here, or not beside the others. */
static void check_programs(struct task_start *start)
{
    const struct launch *launch = start->config.launch;
    for (uint32_t i = 0; i < launch->nlocal; i++) {
        const struct part_setup *part = &start->parts[launch->tasks[i].app];
        if (part->refused)
            task_launch_fail(start, i, W_EXITCODE(part->refused, 0), mem_copy_text(part->refusal));
    }
    if (start->failures.count || launch->nnodes > 1 || launch->spec->nparts == 1)
        return;
    /* Of one node: with several, the manager hears of all families. */
    const char *programs[MPI_FAMILIES] = {NULL};
    for (uint32_t i = 0; i < launch->nlocal; i++) {
        uint32_t app = launch->tasks[i].app;
        programs[start->parts[app].family] = launch->spec->parts[app].argv[0];
    }
    const char *mpich = programs[MPI_FAMILY_MPICH], *open_mpi = programs[MPI_FAMILY_OPEN_MPI];
    for (uint32_t i = 0; i < launch->nlocal && mpich && open_mpi; i++)
        task_launch_fail(start, i, W_EXITCODE(1, 0), mpi_library_mixed(mpich, open_mpi));
}

/* ---- turns ---- */

/* Begin what is left. False when the turn is over, or a child takes its time. */
static bool start_rest(struct task_start *start)
{
    uint64_t end = clock_monotonic_ns() + (uint64_t)(TASK_START_TURN * 1e9);
    while (start->next < start->config.launch->nlocal && !start->stop &&
           !start->ops->is_vain(start->owner)) {
        struct task_launching *at = &start->launching[start->next % TASK_START_MAX];
        if (!task_launch_finish(start, at) || clock_monotonic_ns() > end)
            return false;
        if (!start->stop)
            task_launch_begin(start, at, start->next++);
    }
    for (uint32_t i = 0; i < TASK_START_MAX; i++)
        if (!task_launch_finish(start, &start->launching[i]))
            return false;
    return true;
}

/* All that can be started are, or have failed; false: not yet. */
static bool take_turn(struct task_start *start)
{
    do {
        if (!start_rest(start))
            return false;
        /* One after the other, those that failed beside others. */
        for (uint32_t i = 0; i < TASK_START_MAX; i++) {
            task_launch_retry(&start->launching[i]);
            if (!task_launch_finish(start, &start->launching[i]))
                return false;
        }
        start->stop = start->failures.count;
    } while (start->next < start->config.launch->nlocal && !start->stop &&
             !start->ops->is_vain(start->owner));
    return true;
}

static void task_start_on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct task_start *start = timer->data;
    (void)events;
    if (take_turn(start)) {
        start->ops->done(start->owner);
        return;
    }
    ev_timer_set(&start->turn, 0, 0);
    ev_timer_start(loop, &start->turn);
}

/* ---- life ---- */

struct task_start *task_start_new(const struct task_start_config *config,
                                  const struct task_start_ops *ops, void *owner, struct error *err)
{
    struct launch *launch = config->launch;
    const struct part_setup_source source = {launch, config->topo, config->scratch, config->stage,
                                             config->pmix_served};
    struct exec_memory *memory;
    if (task_binding_check(launch, config->topo, err) < 0 ||
        memory_binding_open(launch, config->topo, &memory, err) < 0)
        return NULL;
    task_cgroup_add(config->cgroup, launch);
    struct task_start *start = mem_alloc(sizeof(*start));
    *start = (struct task_start){.config = *config, .ops = ops, .owner = owner, .memory = memory};
    for (uint32_t i = 0; i < TASK_START_MAX; i++)
        start->launching[i].task = NO_TASK;
    descriptors_raise_limit(); /* four descriptors a task; tasks get theirs back */
    start->texts[0] = task_environment_taskmap(launch);
    start->texts[1] = task_environment_resources(launch);
    start->texts[2] = task_environment_stage(config->stage);
    start->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    start->parts = mem_array(launch->spec->nparts, sizeof(*start->parts));
    for (size_t i = 0; i < launch->spec->nparts; i++)
        part_setup_open(&start->parts[i], &source, i);
    task_binding_open(&start->bindings, launch);
    ev_timer_init(&start->turn, task_start_on_turn, 0, 0);
    start->turn.data = start;
    return start;
}

void task_start_free(struct task_start *start)
{
    if (!start)
        return;
    ev_timer_stop(start->config.loop, &start->turn);
    for (size_t i = 0; i < start->config.launch->spec->nparts; i++)
        part_setup_close(&start->parts[i]);
    for (uint32_t i = 0; i < TASK_START_MAX; i++)
        task_launch_free(&start->launching[i]);
    task_binding_close(&start->bindings);
    free(start->parts);
    free(start->memory);
    start_failures_clear(&start->failures);
    for (size_t i = 0; i < TASK_ENVIRONMENT_LONG; i++)
        free(start->texts[i]);
    close(start->null);
    free(start);
}

/* ---- use ---- */

unsigned task_start_offered(const struct task_start *start, bool *needs_pmix)
{
    unsigned offered = 0;
    *needs_pmix = false;
    for (size_t i = 0; i < start->config.launch->spec->nparts; i++) {
        offered |= start->parts[i].pmi;
        *needs_pmix |= start->parts[i].pmi == SPEC_PMI_X;
    }
    return offered;
}

void task_start_serve(struct task_start *start, bool sockets, const char *memory)
{
    start->sockets = sockets;
    for (size_t i = 0; i < start->config.launch->spec->nparts; i++)
        part_setup_serve(&start->parts[i], memory);
    check_programs(start);
}

void task_start_prepare(struct task_start *start, struct prepared_report *report)
{
    const struct launch *launch = start->config.launch;
    if (launch->spec->nparts > 1 || launch->nnodes > 1) {
        report->mpis = mem_array(launch->nlocal + 1ul, sizeof(*report->mpis));
        report->host = mem_copy_text(launch->hosts[launch->node]);
    }
    for (uint32_t i = 0; report->mpis && i < launch->nlocal; i++) {
        uint32_t app = launch->tasks[i].app;
        if (i == 0 || app != launch->tasks[i - 1].app)
            report->mpis[report->nmpis++] = (struct part_mpi){start->parts[app].family, app};
    }
    report->failed = start->failures;
    start->failures = (struct start_failures){0};
}

void task_start_go(struct task_start *start)
{
    task_start_on_turn(start->config.loop, &start->turn, 0);
}

void task_start_take_report(struct task_start *start, struct started_report *report)
{
    task_binding_take_found(&start->bindings, report);
    report->failed = start->failures;
    start->failures = (struct start_failures){0};
}

void task_start_reaped(struct task_start *start, pid_t pid)
{
    for (uint32_t i = 0; i < TASK_START_MAX; i++)
        if (start->launching[i].task != NO_TASK && start->launching[i].child.pid == pid)
            task_launch_finish(start, &start->launching[i]);
}

size_t task_start_pids(const struct task_start *start, pid_t *pids)
{
    size_t count = 0;
    for (uint32_t i = 0; i < TASK_START_MAX; i++)
        if (start->launching[i].task != NO_TASK)
            pids[count++] = start->launching[i].child.pid;
    return count;
}
