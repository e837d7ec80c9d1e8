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

/* Unbound tasks have all that R has of this node, and may undo that. Bound to their program's cores
 * in a cgroup of just those they cannot leave them. */
static void confine_cpus(struct agent *agent)
{
    struct launch *launch = agent->launch;
    struct error err = ERROR_INIT;
    struct idset *cpus = topo_cpus_of_cores(agent->topo, launch->claim);
    char *text = idset_encode(cpus);
    if (*text && cgroup_confine(agent->config->cgroup, text, &err) == 0) {
        for (uint32_t i = 0; i < launch->ncpus; i++) {
            idset_free(launch->cpus[i]);
            launch->cpus[i] = idset_copy(cpus);
        }
    } else {
        idset_free(launch->claim);
        launch->claim = NULL;
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
}

static void confine_tell(struct agent *agent)
{
    struct launch *launch = agent->launch;
    char *cpus = launch->claim ? idset_encode(launch->cpus[0]) : NULL;
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
        spawn_finish(child);
        spawn_begin(child, spawn);
    } else if (task->what->local_rank == 0 && cgroup_dir(spawn->cgroup) >= 0) {
        confine_tell(agent);
    }
}
