/* The cgroup that a node's tasks are started in: they cannot leave it, and where they are not bound
 * it keeps them, if it can, to the cores that their program holds. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "launcher/agent/internal.h"

/* With -v; takes text. */
static void confine_say(struct group *group, char *text)
{
    struct frame frame = {.type = FRAME_NOTE,
                          .node = uplink_node(group->agent->uplink),
                          .bytes = text,
                          .len = strlen(text)};
    if (group->launch->spec->verbose)
        uplink_send(group->agent->uplink, &frame);
    free(text);
}

static int confine_keep(struct agent *agent, const struct idset *cpus)
{
    struct error err = ERROR_INIT;
    char *text = idset_encode(cpus);
    int result = *text ? cgroup_confine(agent->config->cgroup, text, &err) : -1;
    if (result == 0) {
        struct idset *kept = idset_copy(cpus);
        idset_free(agent->confined);
        agent->confined = kept;
    }
    error_clear(&err);
    free(text);
    return result;
}

/* Unbound tasks have all that R has of this node, and may undo that. Bound to their program's cores
 * in a cgroup of just those they cannot leave them. */
static void confine_claim(struct group *group, bool kept, const struct idset *cpus)
{
    struct launch *launch = group->launch;
    for (uint32_t i = 0; kept && i < launch->ncpus; i++) {
        idset_free(launch->cpus[i]);
        launch->cpus[i] = idset_copy(cpus);
    }
    if (kept)
        return;
    idset_free(launch->claim);
    launch->claim = NULL;
}

static struct idset *confine_add(struct idset *all, const struct group *group)
{
    for (uint32_t i = 0; group->launch && i < group->launch->ncpus; i++) {
        struct idset *both = idset_union(all, group->launch->cpus[i]);
        idset_free(all);
        all = both;
    }
    return all;
}

/* Others run: what they are kept to is widened by what this one needs. Where they are not kept to
 * anything, it is not either. */
static void confine_widen(struct group *group)
{
    struct agent *agent = group->agent;
    struct launch *launch = group->launch;
    struct idset *own = launch->claim ? topo_cpus_of_cores(agent->topo, launch->claim)
                                      : confine_add(idset_new(), group);
    struct idset *all = agent->confined ? idset_union(agent->confined, own) : NULL;
    bool kept = all && (idset_within(own, agent->confined) || confine_keep(agent, all) == 0);
    if (launch->claim)
        confine_claim(group, kept, own);
    idset_free(all);
    idset_free(own);
}

static void confine_first(struct group *group)
{
    struct agent *agent = group->agent;
    struct error err = ERROR_INIT;
    agent->caged = true;
    if (cgroup_make(agent->config->cgroup, group->launch->program, &err) < 0) {
        confine_say(group, mem_format("%s: no cgroup: %s", agent->host, error_text(&err)));
    } else if (group->launch->claim) {
        struct idset *cpus = topo_cpus_of_cores(agent->topo, group->launch->claim);
        confine_claim(group, confine_keep(agent, cpus) == 0, cpus);
        idset_free(cpus);
    }
    error_clear(&err);
    uint64_t limit;
    agent->oom_kills = cgroup_kills(agent->config->cgroup, &limit);
}

void task_cgroup_open(struct group *group)
{
    if (!group->launch->nlocal)
        return;
    if (group->agent->caged)
        confine_widen(group);
    else
        confine_first(group);
}

void task_cgroup_close(struct group *group)
{
    struct agent *agent = group->agent;
    if (!agent->confined)
        return;
    struct idset *left = idset_new();
    for (const struct group *other = agent->groups; other; other = other->next)
        if (other->phase == GROUP_STARTING || other->phase == GROUP_RUNNING)
            left = confine_add(left, other);
    if (!idset_empty(left) && !idset_equal(left, agent->confined))
        confine_keep(agent, left);
    idset_free(left);
}

/* "100 MiB" */
static char *confine_size(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes;
    size_t unit = 0;
    for (; size >= 1024 && unit < 4; unit++)
        size /= 1024;
    return mem_format("%.4g %s", size, units[unit]);
}

/* A shell says of what it waited for that it was killed by its own status. */
char *task_cgroup_killed(const struct task *task)
{
    struct agent *agent = task->group->agent;
    uint64_t limit;
    bool killed = WIFSIGNALED(task->status) && WTERMSIG(task->status) == SIGKILL;
    bool waited = WIFEXITED(task->status) && WEXITSTATUS(task->status) == 128 + SIGKILL;
    if (!killed && !waited)
        return NULL;
    if (cgroup_kills(agent->config->cgroup, &limit) <= agent->oom_kills)
        return NULL;
    agent->oom_kills++;
    char *size = limit < UINT64_MAX ? confine_size(limit) : NULL;
    char *text = mem_format("killed by the kernel for lack of memory%s%s%s",
                            size ? " (cgroup limit " : "", size ? size : "", size ? ")" : "");
    free(size);
    return text;
}

void task_cgroup_remove(struct agent *agent)
{
    cgroup_remove(agent->config->cgroup);
    agent->caged = false;
    idset_free(agent->confined);
    agent->confined = NULL;
}

/* Rights, the kernel's age, a filter of system calls, a threaded parent: what stands in the way
 * shows with the first task. */
static void confine_give_up(struct group *group, int number)
{
    struct cgroup *cgroup = group->agent->config->cgroup;
    confine_say(group, mem_format("%s: no cgroup: cannot start a process in %s: %s",
                                  group->agent->host, cgroup_path(cgroup), strerror(number)));
    cgroup_shut(cgroup);
}

static void confine_tell(struct group *group)
{
    struct launch *launch = group->launch;
    char *cpus = launch->claim ? idset_encode(launch->cpus[0]) : NULL;
    confine_say(group, mem_format("%s: tasks in cgroup %s%s%s", group->agent->host,
                                  cgroup_path(group->agent->config->cgroup),
                                  cpus ? ", kept to processors " : "", cpus ? cpus : ""));
    free(cpus);
}

void task_cgroup_begin(struct task *task, struct exec_process *child, struct exec *spawn)
{
    struct group *group = task->group;
    spawn->cgroup = group->agent->config->cgroup;
    exec_begin(child, spawn);
    if (child->failure.step == EXEC_CGROUP) {
        confine_give_up(group, child->failure.number);
        exec_finish(child);
        exec_begin(child, spawn);
    } else if (task->what->local_rank == 0 && cgroup_dir(spawn->cgroup) >= 0) {
        confine_tell(group);
    }
}
