/* The launch: each task's environment, descriptors, binding and program. */
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
#include "launcher/agent/state.h"
#include "launcher/process/spawn.h"
#include "launcher/program/spec_build.h"

#define TASKMAP_MAX 32768 /* bytes of TPRUN_TASKMAP; a longer one is left out */

/* What all tasks of one part of the program have in common here. */
struct start_part {
    char **environment;
    size_t count;
    char *path;  /* of the program */
    int missing; /* errno when it was not found */
    const char *directory;
    struct spawn_limit limits[RLIM_NLIMITS];
    int umask;
};

struct start_binding {
    cpu_set_t *set;
    size_t size;
};

struct start_failure { /* tasks that did not start, by reason */
    char *text;
    int status;
    struct idset *ranks;
};

struct ends {
    int in[2], out[2], err[2], pmi[2]; /* [0] is the task's */
};

struct variables {
    char **list; /* the part's, then the task's own */
    size_t at;
    size_t room;
    struct buf text; /* NUL-separated; never moves: reserved first */
};

struct start_slot { /* a task on its way; several are, so that all processors take part */
    struct task *task;
    struct ends ends;
    struct variables vars;
    struct spawn spawn;
    struct spawning child;
};

enum { START_SLOTS = 8 };

struct start {
    struct agent *agent;
    struct start_slot slots[START_SLOTS];
    struct start_part *parts;
    struct start_binding *bindings;
    struct start_failure *failures;
    size_t nfailures;
    char *taskmap;
    int null;
};

enum { TASK_VARIABLES = 18 };

/* ---- environment ---- */

static bool has_variable(char *const *environment, const char *name)
{
    size_t len = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=')
            return true;
    return false;
}

static void variable(struct variables *vars, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void variable(struct variables *vars, const char *fmt, ...)
{
    va_list args;
    char text[512];
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof(text))
        return;
    vars->list[vars->at++] = buf_reserve(&vars->text, (size_t)len + 1);
    buf_add(&vars->text, text, (size_t)len + 1);
    vars->list[vars->at] = NULL;
}

static void pmi_variables(struct start *start, const struct launch_task *what,
                          struct variables *vars, const struct start_part *part)
{
    const struct launch *launch = start->agent->launch;
    if (!start->agent->pmi)
        return;
    variable(vars, "PMI_FD=3");
    variable(vars, "PMI_RANK=%u", what->rank);
    variable(vars, "PMI_SIZE=%u", launch->ntasks);
    variable(vars, "MPI_LOCALNRANKS=%u", launch->nlocal);
    variable(vars, "MPI_LOCALRANKID=%u", what->local_rank);
    /* MPICH's ch3 device takes it for the name that others reach it by. */
    if (launch->nnodes > 1 && !has_variable(part->environment, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"))
        variable(vars, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=%s", launch->hosts[launch->node]);
}

static void task_variables(struct start *start, const struct launch_task *what,
                           struct variables *vars)
{
    const struct launch *launch = start->agent->launch;
    const struct start_part *part = &start->parts[what->app];
    buf_clear(&vars->text);
    buf_reserve(&vars->text, 8192);
    if (vars->room < part->count + TASK_VARIABLES + 1) {
        vars->room = part->count + TASK_VARIABLES + 1;
        vars->list = mem_resize(vars->list, vars->room, sizeof(char *));
    }
    memcpy(vars->list, part->environment, part->count * sizeof(char *));
    vars->at = part->count;
    variable(vars, "TPRUN_RANK=%u", what->rank);
    variable(vars, "TPRUN_SIZE=%u", launch->ntasks);
    variable(vars, "TPRUN_LOCAL_RANK=%u", what->local_rank);
    variable(vars, "TPRUN_LOCAL_SIZE=%u", launch->nlocal);
    variable(vars, "TPRUN_NODE_ID=%u", launch->node);
    variable(vars, "TPRUN_NNODES=%u", launch->nnodes);
    variable(vars, "TPRUN_PROGRAM=%s", launch->program);
    variable(vars, "TPRUN_INSTANCE=%s", launch->instance);
    variable(vars, "TPRUN_ENCLOSING=%s", launch->enclosing ? launch->enclosing : launch->program);
    pmi_variables(start, what, vars, part);
    if (start->taskmap) {
        vars->list[vars->at++] = start->taskmap;
        vars->list[vars->at] = NULL;
    }
}

/* ---- parts and bindings ---- */

static const char *value_of(char *const *environment, const char *name)
{
    size_t len = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=')
            return *environment + len + 1;
    return NULL;
}

static void part_open(struct start_part *part, const struct spec *spec,
                      const struct spec_part *what)
{
    part->environment = spec_part_environment(spec, what);
    while (part->environment[part->count])
        part->count++;
    part->directory = what->chdir ? what->chdir : spec->directory;
    part->umask = what->umask >= 0 ? what->umask : spec->umask;
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (spec_has_rlimit(spec, i))
            spawn_limit(&part->limits[i], i, spec->rlimits[i].rlim_cur);
    for (size_t i = 0; i < what->nrlimits; i++)
        spawn_limit(&part->limits[what->rlimits[i].resource], what->rlimits[i].resource,
                    (rlim_t)what->rlimits[i].soft);
    part->path = spawn_find(what->argv[0], value_of(part->environment, "PATH"), part->directory);
    part->missing = part->path ? 0 : errno;
}

static void binding_open(struct start_binding *binding, const struct idset *cpus)
{
    size_t count = idset_last(cpus) + 1;
    if (count < CPU_SETSIZE)
        count = CPU_SETSIZE; /* the kernel refuses to answer into a set smaller than its own */
    binding->set = CPU_ALLOC(count);
    binding->size = CPU_ALLOC_SIZE(count);
    CPU_ZERO_S(binding->size, binding->set);
    IDSET_FOREACH(cpu, cpus)
    CPU_SET_S(cpu, binding->size, binding->set);
}

/* What was mapped must lie within what this process may use: nothing is ever widened. */
static int bindings_check(const struct agent *agent, struct error *err)
{
    struct idset *allowed = topo_allowed_cpus(agent->topo);
    int result = 0;
    for (uint32_t i = 0; i < agent->launch->ncpus && !result; i++) {
        const struct idset *cpus = agent->launch->cpus[i];
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

static int ends_open(const struct start *start, const struct launch_task *what, struct ends *ends)
{
    const struct agent *agent = start->agent;
    bool reads = launch_reads_input(agent->launch->spec, agent->launch->input_ranks, what->rank);
    *ends = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    if (pipe_for(ends->out, 1) < 0 || pipe_for(ends->err, 1) < 0 ||
        (reads && pipe_for(ends->in, 0) < 0) ||
        (agent->pmi && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->pmi) < 0))
        return -1;
    return 0;
}

/* Takes text. */
static void start_failed(struct start *start, uint32_t rank, int status, char *text)
{
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

static void start_missing(struct start *start, const struct launch_task *what)
{
    const struct start_part *part = &start->parts[what->app];
    const char *name = start->agent->launch->spec->parts[what->app].argv[0];
    char *text = part->missing == EACCES
                     ? mem_format("cannot run %s: found, but not executable", name)
                 : strchr(name, '/') ? mem_format("cannot run %s: no such file", name)
                                     : mem_format("cannot run %s: not found along PATH", name);
    start_failed(start, what->rank, W_EXITCODE(part->missing == EACCES ? 126 : 127, 0), text);
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
    const struct start_part *part = &start->parts[what->app];
    const struct start_binding *binding = &start->bindings[what->binding];
    const struct launch *launch = start->agent->launch;
    const struct ends *ends = &slot->ends;
    task_variables(start, what, &slot->vars);
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
                                 .cpus = launch->bound ? binding->set : NULL,
                                 .cpus_size = binding->size,
                                 .limits = part->limits};
    spawn_begin(&slot->child, &slot->spawn);
}

/* The task that was begun in this slot runs now, or has failed to. */
static void slot_finish(struct start *start, struct start_slot *slot)
{
    struct task *task = slot->task;
    struct ends *ends = &slot->ends;
    struct error err = ERROR_INIT;
    if (!task)
        return;
    slot->task = NULL;
    pid_t pid = spawn_finish(&slot->child);
    ends_close(ends, 0);
    if (pid < 0) {
        spawn_explain(&slot->spawn, &slot->child.failure, &err);
        start_failed(start, task->what->rank, failure_status(&slot->child.failure),
                     mem_copy_text(error_text(&err)));
        error_clear(&err);
        ends_close(ends, 1);
        return;
    }
    task->pid = pid;
    task->started = true;
    task->drained = false;
    start->agent->live++;
    start->agent->undrained++;
    streams_open(task, ends->out[1], ends->err[1], ends->in[1]);
    if (ends->pmi[1] >= 0)
        rendezvous_open(task, ends->pmi[1]);
}

static void start_task(struct start *start, struct start_slot *slot, struct task *task)
{
    if (start->parts[task->what->app].missing) {
        start_missing(start, task->what);
        return;
    }
    if (ends_open(start, task->what, &slot->ends) < 0) {
        start_failed(start, task->what->rank, W_EXITCODE(1, 0),
                     mem_format("cannot make its pipes: %s", strerror(errno)));
        ends_close(&slot->ends, 0);
        ends_close(&slot->ends, 1);
        return;
    }
    slot_begin(start, slot, task);
}

/* ---- all of them ---- */

static void start_report(struct start *start)
{
    for (size_t i = 0; i < start->nfailures; i++) {
        struct start_failure *failure = &start->failures[i];
        ending_tell(start->agent, failure->ranks, "start", failure->status, failure->text);
        ending_add(start->agent, failure->status, false, failure->ranks);
        idset_free(failure->ranks);
        free(failure->text);
    }
    free(start->failures);
}

static void start_open(struct start *start, struct agent *agent)
{
    const struct launch *launch = agent->launch;
    struct rlimit files;
    json_t *wrapped = taskmap_to_json(launch->map);
    char *map = json_dumps(json_object_get(wrapped, "map"), JSON_COMPACT);
    json_decref(wrapped);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max; /* four descriptors a task; tasks get theirs back */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    start->agent = agent;
    start->taskmap = map && strlen(map) < TASKMAP_MAX ? mem_format("TPRUN_TASKMAP=%s", map) : NULL;
    free(map);
    start->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    start->parts = mem_array(launch->spec->nparts, sizeof(*start->parts));
    for (size_t i = 0; i < launch->spec->nparts; i++)
        part_open(&start->parts[i], launch->spec, &launch->spec->parts[i]);
    start->bindings = mem_array(launch->ncpus, sizeof(*start->bindings));
    for (uint32_t i = 0; i < launch->ncpus; i++)
        binding_open(&start->bindings[i], launch->cpus[i]);
}

static void start_close(struct start *start)
{
    const struct launch *launch = start->agent->launch;
    for (size_t i = 0; i < launch->spec->nparts; i++) {
        spec_free_words(start->parts[i].environment);
        free(start->parts[i].path);
    }
    for (uint32_t i = 0; i < launch->ncpus; i++)
        CPU_FREE(start->bindings[i].set);
    for (uint32_t i = 0; i < START_SLOTS; i++) {
        free(start->slots[i].vars.list);
        buf_free(&start->slots[i].vars.text);
        spawning_free(&start->slots[i].child);
    }
    free(start->parts);
    free(start->bindings);
    free(start->taskmap);
    close(start->null);
}

int start_tasks(struct agent *agent, struct error *err)
{
    struct start start = {0};
    const struct launch *launch = agent->launch;
    agent->input_nodes =
        launch_input_nodes(launch->spec, launch->map, launch->tree_node, launch->nnodes);
    if (bindings_check(agent, err) < 0)
        return -1;
    rendezvous_start(agent);
    agent->ntasks = agent->launch->nlocal;
    agent->tasks = mem_array(agent->ntasks, sizeof(*agent->tasks));
    for (uint32_t i = 0; i < agent->ntasks; i++) {
        struct task *task = &agent->tasks[i];
        task->agent = agent;
        task->what = &agent->launch->tasks[i];
        task->input = task->pmi = -1;
        task->streams[0].fd = task->streams[1].fd = -1;
        task->drained = true;
    }
    start_open(&start, agent);
    for (uint32_t i = 0; i < agent->ntasks && !start.nfailures; i++) {
        struct start_slot *slot = &start.slots[i % START_SLOTS];
        slot_finish(&start, slot);
        start_task(&start, slot, &agent->tasks[i]);
    }
    for (uint32_t i = 0; i < START_SLOTS; i++)
        slot_finish(&start, &start.slots[i]);
    start_report(&start);
    start_close(&start);
    return 0;
}
