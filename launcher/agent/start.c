/* A group's start: each task's descriptors, binding and program. It goes in turns, so that the loop
 * hears what comes meanwhile, however many tasks there are and however long an exec takes. One group
 * is started at a time. */
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
#include "launcher/agent/memory.h"
#include "launcher/agent/part.h"
#include "launcher/agent/state.h"
#include "launcher/agent/threads.h"
#include "launcher/agent/variables.h"
#include "launcher/process/spawn.h"

#define TURN 0.1 /* s of starting, or of waiting for an exec, before the loop has its turn */

struct start_found { /* ranks that the kernel lets run on the same processors */
    cpu_set_t *set;
    struct idset *ranks;
};

struct start_failure { /* tasks that did not start, by reason */
    char *text;
    int status;
    struct idset *ranks;
};

struct ends {
    int in[2], out[2], err[2], pmi[2]; /* [0] is the task's */
};

struct start_slot { /* a task on its way; several are, so that all processors take part */
    struct task *task;
    bool suspect; /* has failed, and is to be tried alone */
    struct ends ends;
    struct variables vars;
    struct spawn spawn;
    struct spawning child;
};

enum { START_SLOTS = 8 };

struct start {
    struct group *group;
    struct start_slot slots[START_SLOTS];
    uint32_t next; /* task to begin */
    bool stop;     /* begin no more for now: one has failed */
    ev_timer turn;
    struct part *parts;
    cpu_set_t **bindings;        /* by binding of the launch */
    struct spawn_memory *memory; /* the same; NULL: no part asks */
    struct threads threads;
    struct start_failure *failures;
    size_t nfailures;
    struct start_found *found; /* where that is to be shown */
    size_t nfound;
    size_t set_size; /* bytes of a set of processors that the kernel answers into */
    char *texts[VARIABLES_LONG];
    int null;
};

/* ---- bindings ---- */

/* The kernel refuses to answer into a set smaller than its own. */
static size_t kernel_set_size(void)
{
    size_t count = CPU_SETSIZE;
    for (int small = 1; small; count *= 2) {
        cpu_set_t *set = CPU_ALLOC(count);
        small = sched_getaffinity(0, CPU_ALLOC_SIZE(count), set) < 0 && errno == EINVAL;
        CPU_FREE(set);
        if (!small || count > TOPO_MAX_PUS)
            break;
    }
    return CPU_ALLOC_SIZE(count);
}

static cpu_set_t *binding_open(const struct idset *cpus, size_t size)
{
    cpu_set_t *set = mem_alloc(size);
    IDSET_FOREACH(cpu, cpus)
    CPU_SET_S(cpu, size, set);
    return set;
}

/* What was mapped must lie within what this process may use: nothing is ever widened. */
static int bindings_check(const struct group *group, struct error *err)
{
    struct idset *allowed = topo_allowed_cpus(group->agent->topo);
    int result = 0;
    for (uint32_t i = 0; i < group->launch->ncpus && !result; i++) {
        const struct idset *cpus = group->launch->cpus[i];
        if (idset_within(cpus, allowed))
            continue;
        char *want = idset_encode(cpus), *have = idset_encode(allowed);
        result = error_set(err,
                           "cannot bind tasks to OS processors %s: this node's cgroup and "
                           "inherited mask allow %s; give an R that says no more",
                           want, have);
        free(want);
        free(have);
    }
    idset_free(allowed);
    return result;
}

/* ---- one task ---- */

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

static int ends_open(const struct task *task, struct ends *ends)
{
    *ends = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    if (pipe_for(ends->out, 1) < 0 || pipe_for(ends->err, 1) < 0 ||
        (task->reads && pipe_for(ends->in, 0) < 0) ||
        (task->group->pmi && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->pmi) < 0))
        return -1;
    return 0;
}

/* Takes text. */
static void start_failed(struct start *start, const struct task *task, int status, char *text)
{
    uint32_t rank = task_rank(task);
    start->stop = true;
    for (size_t i = 0; i < start->nfailures; i++) {
        if (strcmp(start->failures[i].text, text) == 0) {
            idset_add(start->failures[i].ranks, rank);
            free(text);
            return;
        }
    }
    start->failures = mem_resize(start->failures, start->nfailures + 1, sizeof(*start->failures));
    start->failures[start->nfailures] = (struct start_failure){text, status, idset_new()};
    idset_add(start->failures[start->nfailures++].ranks, rank);
}

static void start_missing(struct start *start, const struct task *task)
{
    const struct part *part = &start->parts[task->what->app];
    const char *name = start->group->launch->spec->parts[task->what->app].argv[0];
    char *text = part->missing == EACCES
                     ? mem_format("cannot run %s: found, but not executable", name)
                 : strchr(name, '/') ? mem_format("cannot run %s: no such file", name)
                                     : mem_format("cannot run %s: not found along PATH", name);
    start_failed(start, task, W_EXITCODE(part->missing == EACCES ? 126 : 127, 0), text);
}

static int failure_status(const struct spawn_failure *failure)
{
    if (failure->step == SPAWN_EXEC)
        return W_EXITCODE(failure->number == ENOENT ? 127 : 126, 0);
    return W_EXITCODE(1, 0);
}

static void slot_begin(struct start *start, struct start_slot *slot, struct task *task)
{
    const struct launch_task *what = task->what;
    const struct part *part = &start->parts[what->app];
    const struct launch *launch = start->group->launch;
    const struct ends *ends = &slot->ends;
    struct variables_source source = {launch, part, start->texts, start->group->pmi,
                                      threads_of(&start->threads, part, what)};
    variables_fill(&slot->vars, &source, what);
    slot->task = task;
    slot->spawn = (struct spawn){.path = part->path,
                                 .argv = launch->spec->parts[what->app].argv,
                                 .envp = slot->vars.list,
                                 .fds = {ends->in[0] >= 0 ? ends->in[0] : start->null, ends->out[0],
                                         ends->err[0], ends->pmi[0]},
                                 .directory = part->directory,
                                 .umask = part->umask,
                                 .death_signal = SIGTERM, /* the guard does the rest */
                                 .group = true,
                                 .cpus = start->bindings[what->binding],
                                 .cpus_size = start->set_size,
                                 .memory = memory_of(launch, start->memory, what),
                                 .limits = part->limits};
    confine_begin(task, &slot->child, &slot->spawn);
}

static bool slot_is_alone(const struct start *start, const struct start_slot *slot)
{
    for (uint32_t i = 0; i < START_SLOTS; i++)
        if (&start->slots[i] != slot && start->slots[i].task && !start->slots[i].suspect)
            return false;
    return true;
}

static void slot_failed(struct start *start, struct start_slot *slot, struct task *task)
{
    struct error err = ERROR_INIT;
    spawn_explain(&slot->spawn, &slot->child.failure, &err);
    start_failed(start, task, failure_status(&slot->child.failure),
                 mem_copy_text(error_text(&err)));
    error_clear(&err);
    ends_close(&slot->ends, 1);
}

/* What is to be shown is what the kernel said, not what it was asked for. */
static void slot_found(struct start *start, const struct start_slot *slot, uint32_t rank)
{
    const cpu_set_t *set = spawn_cpus(&slot->child);
    size_t i = 0;
    if (!(start->group->launch->spec->display & LAYOUT_SHOW_BIND) || !set)
        return;
    while (i < start->nfound && !CPU_EQUAL_S(start->set_size, start->found[i].set, set))
        i++;
    if (i == start->nfound) {
        start->found = mem_resize(start->found, ++start->nfound, sizeof(*start->found));
        start->found[i] = (struct start_found){mem_alloc(start->set_size), idset_new()};
        memcpy(start->found[i].set, set, start->set_size);
    }
    idset_add(start->found[i].ranks, rank);
}

static void slot_started(struct start *start, struct start_slot *slot, struct task *task, pid_t pid)
{
    struct group *group = task->group;
    struct ends *ends = &slot->ends;
    task->pid = pid;
    task->started = true;
    task->drained = false;
    group->live++;
    group->undrained++;
    streams_open(task, ends->out[1], ends->err[1], ends->in[1]);
    if (ends->pmi[1] >= 0)
        rendezvous_open(task, ends->pmi[1]);
    slot_found(start, slot, task_rank(task));
    if (group->terminating || group->agent->terminating) /* the others have heard it already */
        kill(-pid, group->terminating ? SIGKILL : SIGTERM);
}

/* The task that was begun in this slot runs now, or has failed to; false: not yet. Several that
 * start at once share errno: one that fails beside others is suspect, and tried again alone. */
static bool slot_finish(struct start *start, struct start_slot *slot)
{
    struct task *task = slot->task;
    if (!task || slot->suspect)
        return true;
    if (!spawn_wait(&slot->child, TURN))
        return false;
    pid_t pid = spawn_finish(&slot->child);
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

static void start_task(struct start *start, struct start_slot *slot, struct task *task)
{
    if (start->parts[task->what->app].missing) {
        start_missing(start, task);
        return;
    }
    if (ends_open(task, &slot->ends) < 0) {
        start_failed(start, task, W_EXITCODE(1, 0),
                     mem_format("cannot make its pipes: %s", strerror(errno)));
        ends_close(&slot->ends, 0);
        ends_close(&slot->ends, 1);
        return;
    }
    slot_begin(start, slot, task);
}

/* ---- all of them ---- */

/* What ends the program, but for a group that a task spawned: then it is that task's to know. */
static json_t *start_report(struct start *start)
{
    struct group *group = start->group;
    bool spawned = group->launch->spawned;
    json_t *failed = spawned && start->nfailures ? json_array() : NULL;
    for (size_t i = 0; i < start->nfailures; i++) {
        struct start_failure *failure = &start->failures[i];
        char *ranks = idset_encode(failure->ranks);
        if (spawned)
            json_array_append_new(
                failed, json_pack("[i, o, s]", failure->status, frame_text(failure->text), ranks));
        else
            report_ended(group, failure->ranks, "start", failure->status, failure->text);
        report_add(group, failure->status, false, failure->ranks);
        idset_free(failure->ranks);
        free(failure->text);
        free(ranks);
    }
    free(start->failures);
    return failed;
}

static json_t *found_to_json(const struct start *start)
{
    json_t *list = start->nfound ? json_array() : NULL;
    for (size_t i = 0; i < start->nfound; i++) {
        struct idset *cpus = idset_new();
        for (size_t cpu = 0; cpu < 8 * start->set_size; cpu++)
            if (CPU_ISSET_S(cpu, start->set_size, start->found[i].set))
                idset_add(cpus, (uint32_t)cpu);
        char *set = idset_encode(cpus), *ranks = idset_encode(start->found[i].ranks);
        json_array_append_new(list, json_pack("[s, s]", set, ranks));
        idset_free(cpus);
        free(ranks);
        free(set);
    }
    return list;
}

static void start_open(struct start *start, struct group *group)
{
    const struct launch *launch = group->launch;
    const struct topo *topo = group->agent->topo;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max; /* four descriptors a task; tasks get theirs back */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    start->group = group;
    start->texts[0] = variables_taskmap(launch);
    start->texts[1] = variables_resources(launch);
    start->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    start->parts = mem_array(launch->spec->nparts, sizeof(*start->parts));
    for (size_t i = 0; i < launch->spec->nparts; i++)
        part_open(&start->parts[i], launch, i, topo);
    start->set_size = kernel_set_size();
    start->bindings = mem_array(launch->ncpus, sizeof(*start->bindings));
    for (uint32_t i = 0; i < launch->ncpus; i++)
        start->bindings[i] = binding_open(launch->cpus[i], start->set_size);
    threads_open(&start->threads, launch, topo);
}

void start_free(struct group *group)
{
    struct start *start = group->start;
    if (!start)
        return;
    ev_timer_stop(group->agent->loop, &start->turn);
    for (size_t i = 0; i < group->launch->spec->nparts; i++)
        part_close(&start->parts[i]);
    for (uint32_t i = 0; i < group->launch->ncpus; i++)
        free(start->bindings[i]);
    for (uint32_t i = 0; i < START_SLOTS; i++) {
        variables_free(&start->slots[i].vars);
        spawning_free(&start->slots[i].child);
    }
    for (size_t i = 0; i < start->nfound; i++) {
        free(start->found[i].set);
        idset_free(start->found[i].ranks);
    }
    free(start->found);
    free(start->parts);
    threads_close(&start->threads);
    free(start->bindings);
    free(start->memory);
    for (size_t i = 0; i < VARIABLES_LONG; i++)
        free(start->texts[i]);
    close(start->null);
    free(start);
    group->start = NULL;
}

static bool start_is_vain(const struct start *start)
{
    return start->group->terminating || start->group->agent->terminating;
}

/* Begin what is left. False when the turn is over, or a child takes its time. */
static bool start_rest(struct start *start)
{
    struct group *group = start->group;
    uint64_t end = link_clock() + (uint64_t)(TURN * 1e9);
    while (start->next < group->ntasks && !start->stop && !start_is_vain(start)) {
        struct start_slot *slot = &start->slots[start->next % START_SLOTS];
        if (!slot_finish(start, slot) || link_clock() > end)
            return false;
        if (!start->stop)
            start_task(start, slot, &group->tasks[start->next++]);
    }
    for (uint32_t i = 0; i < START_SLOTS; i++)
        if (!slot_finish(start, &start->slots[i]))
            return false;
    return true;
}

/* One after the other, those that failed beside others. */
static bool start_suspects(struct start *start)
{
    for (uint32_t i = 0; i < START_SLOTS; i++) {
        struct start_slot *slot = &start->slots[i];
        if (slot->suspect) {
            slot->suspect = false;
            spawn_begin(&slot->child, &slot->spawn);
        }
        if (!slot_finish(start, slot))
            return false;
    }
    return true;
}

/* All that can be started are, or have failed; false: not yet. */
static bool start_turn(struct start *start)
{
    do {
        if (!start_rest(start) || !start_suspects(start))
            return false;
        start->stop = start->nfailures;
    } while (start->next < start->group->ntasks && !start->stop && !start_is_vain(start));
    return true;
}

static struct group *start_find(const struct agent *agent, enum group_phase phase)
{
    struct group *group = agent->groups;
    while (group && group->phase != phase)
        group = group->next;
    return group;
}

void start_settle(struct agent *agent, pid_t pid)
{
    struct group *group = start_find(agent, GROUP_STARTING);
    for (uint32_t i = 0; group && i < START_SLOTS; i++) {
        struct start_slot *slot = &group->start->slots[i];
        if (slot->task && slot->child.pid == pid)
            slot_finish(group->start, slot);
    }
}

static void on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct start *start = timer->data;
    struct group *group = start->group;
    (void)events;
    if (!start_turn(start)) {
        ev_timer_set(&start->turn, 0, 0);
        ev_timer_start(loop, &start->turn);
        return;
    }
    json_t *bindings = found_to_json(start), *failed = start_report(start);
    start_free(group);
    group->phase = GROUP_RUNNING;
    report_started(group, failed, bindings);
    register_open(group);
}

void start_refuse(struct group *group, const struct error *err)
{
    json_t *failed = NULL;
    struct idset *none = idset_new();
    if (group->launch && group->launch->spawned)
        failed = json_pack("[[i, o, s]]", W_EXITCODE(1, 0), frame_text(error_text(err)), "");
    else
        report_ended(group, none, "start", W_EXITCODE(1, 0), error_text(err));
    idset_free(none);
    group->phase = GROUP_RUNNING;
    report_started(group, failed, NULL);
}

static int start_begin(struct group *group, struct error *err)
{
    const struct launch *launch = group->launch;
    struct agent *agent = group->agent;
    struct spawn_memory *memory;
    if (!group->number)
        agent->input_nodes =
            launch_input_nodes(launch->spec, launch->map, launch->tree_node, launch->nnodes);
    if (bindings_check(group, err) < 0 || memory_open(launch, agent->topo, &memory, err) < 0)
        return -1;
    group->unbound = launch->claim != NULL;
    confine_open(group);
    rendezvous_start(group);
    group->phase = GROUP_STARTING;
    group->start = mem_alloc(sizeof(*group->start));
    group->start->memory = memory;
    start_open(group->start, group);
    ev_timer_init(&group->start->turn, on_turn, 0, 0);
    group->start->turn.data = group->start;
    on_turn(agent->loop, &group->start->turn, 0);
    return 0;
}

void start_next(struct agent *agent)
{
    struct error err = ERROR_INIT;
    struct group *group;
    while (!agent->sweeping && !start_find(agent, GROUP_STARTING) &&
           (group = start_find(agent, GROUP_WAITING))) {
        if (start_begin(group, &err) < 0)
            start_refuse(group, &err);
        error_clear(&err);
    }
}
