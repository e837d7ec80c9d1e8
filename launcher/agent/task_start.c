/* A group's start: each task's descriptors, binding and program. It goes in turns, so that the loop
 * hears what comes meanwhile, however many tasks there are and however long an exec takes. One group
 * is started at a time. */
#include "launcher/agent/task_start.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

static void start_open(struct task_start *start, struct group *group)
{
    const struct launch *launch = group->launch;
    const struct topo *topo = group->agent->topo;
    const struct part_setup_source source = {launch, topo, group->agent->config->scratch,
                                             spec_pmi_served & SPEC_PMI_X};
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max; /* four descriptors a task; tasks get theirs back */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    start->group = group;
    start->texts[0] = task_environment_taskmap(launch);
    start->texts[1] = task_environment_resources(launch);
    start->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    start->parts = mem_array(launch->spec->nparts, sizeof(*start->parts));
    for (size_t i = 0; i < launch->spec->nparts; i++)
        part_setup_open(&start->parts[i], &source, i);
    task_binding_open(&start->bindings, launch);
    openmp_variables_open(&start->threads, launch, topo);
}

void start_free(struct group *group)
{
    struct task_start *start = group->start;
    if (!start)
        return;
    ev_timer_stop(group->agent->loop, &start->turn);
    for (size_t i = 0; i < group->launch->spec->nparts; i++)
        part_setup_close(&start->parts[i]);
    for (uint32_t i = 0; i < TASK_START_SLOTS; i++)
        task_launch_free(&start->slots[i]);
    task_binding_close(&start->bindings);
    free(start->parts);
    openmp_variables_close(&start->threads);
    free(start->memory);
    start_failures_clear(&start->failures);
    for (size_t i = 0; i < TASK_ENVIRONMENT_LONG; i++)
        free(start->texts[i]);
    close(start->null);
    free(start);
    group->start = NULL;
}

static bool start_is_vain(const struct task_start *start)
{
    return start->group->terminating || start->group->agent->terminating;
}

/* Begin what is left. False when the turn is over, or a child takes its time. */
static bool start_rest(struct task_start *start)
{
    struct group *group = start->group;
    uint64_t end = clock_monotonic_ns() + (uint64_t)(TASK_START_TURN * 1e9);
    while (start->next < group->ntasks && !start->stop && !start_is_vain(start)) {
        struct task_start_slot *slot = &start->slots[start->next % TASK_START_SLOTS];
        if (!task_launch_finish(start, slot) || clock_monotonic_ns() > end)
            return false;
        if (!start->stop)
            task_launch_start(start, slot, &group->tasks[start->next++]);
    }
    for (uint32_t i = 0; i < TASK_START_SLOTS; i++)
        if (!task_launch_finish(start, &start->slots[i]))
            return false;
    return true;
}

/* One after the other, those that failed beside others. */
static bool start_suspects(struct task_start *start)
{
    for (uint32_t i = 0; i < TASK_START_SLOTS; i++) {
        struct task_start_slot *slot = &start->slots[i];
        task_launch_retry(slot);
        if (!task_launch_finish(start, slot))
            return false;
    }
    return true;
}

/* All that can be started are, or have failed; false: not yet. */
static bool start_turn(struct task_start *start)
{
    do {
        if (!start_rest(start) || !start_suspects(start))
            return false;
        start->stop = start->failures.count;
    } while (start->next < start->group->ntasks && !start->stop && !start_is_vain(start));
    return true;
}

static struct group *task_start_find(const struct agent *agent, enum group_phase phase)
{
    struct group *group = agent->groups;
    while (group && group->phase != phase)
        group = group->next;
    return group;
}

void start_settle(struct agent *agent, pid_t pid)
{
    struct group *group = task_start_find(agent, GROUP_STARTING);
    for (uint32_t i = 0; group && i < TASK_START_SLOTS; i++) {
        struct task_start_slot *slot = &group->start->slots[i];
        if (slot->task && slot->child.pid == pid)
            task_launch_finish(group->start, slot);
    }
}

size_t start_on_way(const struct agent *agent, pid_t *pids)
{
    const struct group *group = task_start_find(agent, GROUP_STARTING);
    size_t count = 0;
    for (uint32_t i = 0; group && i < TASK_START_SLOTS; i++)
        if (group->start->slots[i].task)
            pids[count++] = group->start->slots[i].child.pid;
    return count;
}

/* What ends the program, but for a group that a task spawned: then it is that task's to know, and moved to
 * `spawned`. */
static void report_failures(struct group *group, struct start_failures *failures,
                            struct start_failures *spawned)
{
    for (size_t i = 0; i < failures->count && !group->launch->spawned; i++)
        exit_report_ended(group->report, failures->list[i].ranks, "start", failures->list[i].status,
                          failures->list[i].text);
    for (size_t i = 0; i < failures->count; i++)
        exit_report_add(group->report, failures->list[i].status, false, failures->list[i].ranks);
    if (group->launch->spawned) {
        *spawned = *failures;
        *failures = (struct start_failures){0};
    }
}

static void on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct task_start *start = timer->data;
    struct group *group = start->group;
    (void)events;
    if (!start_turn(start)) {
        ev_timer_set(&start->turn, 0, 0);
        ev_timer_start(loop, &start->turn);
        return;
    }
    struct started_report report = {0};
    task_binding_take_found(&start->bindings, &report);
    report_failures(group, &start->failures, &report.failed);
    start_free(group);
    group->phase = GROUP_RUNNING;
    exit_report_started(group->report, &report);
    started_report_clear(&report);
    host_register_open(group);
    quota_tell(group);
}

void start_refuse(struct group *group, const struct error *err)
{
    struct started_report report = {0};
    struct start_failure failure = {mem_copy_text(error_text(err)), W_EXITCODE(1, 0), idset_new()};
    if (group->launch && group->launch->spawned)
        report.failed = (struct start_failures){&failure, 1};
    else
        exit_report_ended(group->report, NULL, "start", failure.status, failure.text);
    group->phase = GROUP_RUNNING;
    exit_report_started(group->report, &report);
    idset_free(failure.ranks);
    free(failure.text);
}

/* What may be more than a program needs, since nothing is known of it, need not be there. */
static int start_serve(const struct task_start *start, struct error *err)
{
    unsigned offered = 0;
    bool needed = start->group->launch->spec->tools;
    for (size_t i = 0; i < start->group->launch->spec->nparts; i++) {
        offered |= start->parts[i].pmi;
        needed |= start->parts[i].pmi == SPEC_PMI_X;
    }
    pmi_socket_start(start->group, offered);
    if (pmix_open(start->group, offered, err) < 0 && needed)
        return -1;
    error_clear(err);
    const char *memory = pmix_memory(start->group);
    for (size_t i = 0; i < start->group->launch->spec->nparts; i++)
        part_setup_serve(&start->parts[i], memory);
    return 0;
}

/* Begins nothing where it is vain. */
static void start_go(struct group *group)
{
    group->phase = GROUP_STARTING;
    on_turn(group->agent->loop, &group->start->turn, 0);
}

/* All or none: other nodes have to be able to start it, too. */
static void start_prepared(struct group *group)
{
    struct task_start *start = group->start;
    struct prepared_report report = {0};
    if (group->launch->spec->nparts > 1)
        report.mpis = mem_array(group->ntasks + 1ul, sizeof(*report.mpis));
    for (uint32_t i = 0; report.mpis && i < group->ntasks; i++) {
        uint32_t app = group->tasks[i].what->app;
        if (i == 0 || app != group->tasks[i - 1].what->app)
            report.mpis[report.nmpis++] = (struct part_mpi){start->parts[app].family, app};
    }
    report.failed = start->failures;
    start->failures = (struct start_failures){0};
    for (size_t i = 0; i < report.failed.count; i++)
        exit_report_add(group->report, report.failed.list[i].status, false,
                        report.failed.list[i].ranks);
    group->phase = GROUP_PREPARED;
    exit_report_prepared(group->report, &report);
    prepared_report_clear(&report);
}

static int start_begin(struct group *group, struct error *err)
{
    const struct launch *launch = group->launch;
    struct agent *agent = group->agent;
    struct exec_memory *memory;
    if (!group->number)
        agent->input_nodes =
            launch_input_nodes(launch->spec, launch->map, launch->tree_node, launch->nnodes);
    if (task_binding_check(launch, agent->topo, err) < 0 ||
        memory_binding_open(launch, agent->topo, &memory, err) < 0)
        return -1;
    group->unbound = launch->claim != NULL;
    task_cgroup_open(group);
    group->start = mem_alloc(sizeof(*group->start));
    group->start->memory = memory;
    start_open(group->start, group);
    if (start_serve(group->start, err) < 0) {
        start_free(group);
        return -1;
    }
    ev_timer_init(&group->start->turn, on_turn, 0, 0);
    group->start->turn.data = group->start;
    start_failures_check(group->start);
    if (launch->nnodes > 1 && launch->node != UINT32_MAX)
        start_prepared(group);
    else
        start_go(group);
    return 0;
}

void start_take_go(struct agent *agent, const struct frame *frame)
{
    struct group *group = group_find(agent, frame->group);
    if (!group)
        return;
    group_send(group, frame);
    group->wanted = true;
    start_next(agent);
}

void start_abandon(struct agent *agent)
{
    struct group *group = task_start_find(agent, GROUP_PREPARED);
    if (group && (group->terminating || (agent->terminating && !agent->sweeping)))
        start_go(group);
}

void start_next(struct agent *agent)
{
    struct error err = ERROR_INIT;
    struct group *group = task_start_find(agent, GROUP_PREPARED);
    if (group && group->wanted && !agent->sweeping)
        start_go(group);
    while (!agent->sweeping && !task_start_find(agent, GROUP_STARTING) &&
           !task_start_find(agent, GROUP_PREPARED) &&
           (group = task_start_find(agent, GROUP_WAITING))) {
        if (start_begin(group, &err) < 0)
            start_refuse(group, &err);
        error_clear(&err);
    }
}
