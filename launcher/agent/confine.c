/* The cgroup that a node's tasks are started in: they cannot leave it, and where they are not bound
 * it keeps them, if it can, to the cores that their program holds. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/agent/state.h"

/* With -v; takes text. */
static void confine_say(struct agent *agent, char *text)
{
    struct frame frame = {
        .type = FRAME_NOTE, .node = agent->node, .bytes = text, .len = strlen(text)};
    if (agent->launch->spec->verbose)
        report_send(agent, &frame);
    free(text);
}

/* Unbound tasks would run wherever this process may. Bound to their program's cores in a cgroup of
 * just those they cannot leave them, and each binding is read back as others are. */
static void confine_cpus(struct agent *agent)
{
    struct launch *launch = agent->launch;
    struct error err = ERROR_INIT;
    struct idset *cpus = topo_cpus_of_cores(agent->topo, launch->claim);
    char *text = idset_encode(cpus);
    launch->bound = *text && cgroup_confine(agent->config->cgroup, text, &err) == 0;
    for (uint32_t i = 0; launch->bound && i < launch->ncpus; i++) {
        idset_free(launch->cpus[i]);
        launch->cpus[i] = idset_copy(cpus);
    }
    idset_free(cpus);
    error_clear(&err);
    free(text);
}

void confine_open(struct agent *agent)
{
    struct error err = ERROR_INIT;
    if (!agent->launch->nlocal)
        return;
    if (cgroup_make(agent->config->cgroup, agent->launch->program, &err) < 0)
        confine_say(agent, mem_format("%s: no cgroup: %s", agent->host, error_text(&err)));
    else if (agent->launch->claim)
        confine_cpus(agent);
    error_clear(&err);
}

/* Rights, the kernel's age, a filter of system calls, a threaded parent: what stands in the way
 * shows with the first task. */
static void confine_give_up(struct agent *agent, int number)
{
    struct cgroup *cgroup = agent->config->cgroup;
    confine_say(agent, mem_format("%s: no cgroup: cannot start a process in %s: %s", agent->host,
                                  cgroup_path(cgroup), strerror(number)));
    cgroup_shut(cgroup);
    if (agent->launch->claim)
        agent->launch->bound = false;
}

static void confine_tell(struct agent *agent)
{
    struct launch *launch = agent->launch;
    char *cpus = launch->claim && launch->bound ? idset_encode(launch->cpus[0]) : NULL;
    confine_say(agent, mem_format("%s: tasks in cgroup %s%s%s", agent->host,
                                  cgroup_path(agent->config->cgroup),
                                  cpus ? ", kept to processors " : "", cpus ? cpus : ""));
    free(cpus);
}

void confine_begin(struct task *task, struct spawning *child, struct spawn *spawn)
{
    struct agent *agent = task->agent;
    spawn->cgroup = agent->config->cgroup;
    spawn_begin(child, spawn);
    if (child->failure.step == SPAWN_CGROUP) {
        confine_give_up(agent, child->failure.number);
        if (!agent->launch->bound)
            spawn->cpus = NULL;
        spawn_finish(child);
        spawn_begin(child, spawn);
    } else if (task->what->local_rank == 0 && cgroup_dir(spawn->cgroup) >= 0) {
        confine_tell(agent);
    }
}
