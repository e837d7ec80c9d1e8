/* The cgroup of a node's tasks: made with the first group of tasks, widened and narrowed with others. */
#include "launcher/task/task_cgroup.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "affinity/sets/idset.h"
#include "base/mem.h"
#include "base/text.h"

struct task_cgroup {
    struct cgroup *cgroup;
    const struct topo *topo;
    const char *host;
    struct idset *kept; /* OS processors that it keeps tasks to; NULL: nothing is kept */
    bool tried;         /* there was an attempt at making it */
    uint64_t oom_kills; /* of the kernel there, for lack of memory, that are accounted for */
    void (*note)(void *owner, const char *text);
    void *owner;
};

struct task_cgroup *task_cgroup_new(struct cgroup *cgroup, const struct topo *topo,
                                    const char *host, void (*note)(void *owner, const char *text),
                                    void *owner)
{
    struct task_cgroup *group = mem_alloc(sizeof(*group));
    *group = (struct task_cgroup){
        .cgroup = cgroup, .topo = topo, .host = host, .note = note, .owner = owner};
    return group;
}

void task_cgroup_free(struct task_cgroup *group)
{
    if (group)
        idset_free(group->kept);
    free(group);
}

/* With -v; takes text. */
static void task_cgroup_note(struct task_cgroup *group, const struct launch *launch, char *text)
{
    if (launch->spec->verbose)
        group->note(group->owner, text);
    free(text);
}

/* ---- what tasks are kept to ---- */

void task_cgroup_add_processors(struct idset **all, const struct launch *launch)
{
    for (uint32_t i = 0; i < launch->ncpus; i++) {
        struct idset *both = idset_union(*all, launch->cpus[i]);
        idset_free(*all);
        *all = both;
    }
}

static int keep_to(struct task_cgroup *group, const struct idset *cpus)
{
    struct error err = ERROR_INIT;
    char *text = idset_encode(cpus);
    int result = *text ? cgroup_confine(group->cgroup, text, &err) : -1;
    if (result == 0) {
        struct idset *kept = idset_copy(cpus);
        idset_free(group->kept);
        group->kept = kept;
    }
    error_clear(&err);
    free(text);
    return result;
}

/* Unbound tasks have all that R has of this node, and may undo that. Bound to their program's cores
 * in a cgroup of just those they cannot leave them. */
static void bind_to_claim(struct launch *launch, bool kept, const struct idset *cpus)
{
    for (uint32_t i = 0; kept && i < launch->ncpus; i++) {
        idset_free(launch->cpus[i]);
        launch->cpus[i] = idset_copy(cpus);
    }
    if (kept)
        return;
    idset_free(launch->claim);
    launch->claim = NULL;
}

/* Others run: what they are kept to is widened by what this one needs. Where they are not kept to
 * anything, it is not either. */
static void widen(struct task_cgroup *group, struct launch *launch)
{
    struct idset *own =
        launch->claim ? topo_cpus_of_cores(group->topo, launch->claim) : idset_new();
    if (!launch->claim)
        task_cgroup_add_processors(&own, launch);
    struct idset *all = group->kept ? idset_union(group->kept, own) : NULL;
    bool kept = all && (idset_within(own, group->kept) || keep_to(group, all) == 0);
    if (launch->claim)
        bind_to_claim(launch, kept, own);
    idset_free(all);
    idset_free(own);
}

static void make_first(struct task_cgroup *group, struct launch *launch)
{
    struct error err = ERROR_INIT;
    group->tried = true;
    if (cgroup_make(group->cgroup, launch->program, &err) < 0) {
        task_cgroup_note(group, launch,
                         mem_format("%s: no cgroup: %s", group->host, error_text(&err)));
    } else if (launch->claim) {
        struct idset *cpus = topo_cpus_of_cores(group->topo, launch->claim);
        bind_to_claim(launch, keep_to(group, cpus) == 0, cpus);
        idset_free(cpus);
    }
    error_clear(&err);
    uint64_t limit;
    group->oom_kills = cgroup_kills(group->cgroup, &limit);
}

void task_cgroup_add(struct task_cgroup *group, struct launch *launch)
{
    if (!launch->nlocal)
        return;
    if (group->tried)
        widen(group, launch);
    else
        make_first(group, launch);
}

bool task_cgroup_keeps(const struct task_cgroup *group)
{
    return group->kept;
}

void task_cgroup_narrow(struct task_cgroup *group, const struct idset *left)
{
    if (group->kept && !idset_empty(left) && !idset_equal(left, group->kept))
        keep_to(group, left);
}

void task_cgroup_remove(struct task_cgroup *group)
{
    cgroup_remove(group->cgroup);
    group->tried = false;
    idset_free(group->kept);
    group->kept = NULL;
}

/* ---- killed for lack of memory ---- */

/* A shell says of what it waited for that it was killed by its own status. */
char *task_cgroup_explain(struct task_cgroup *group, int status)
{
    uint64_t limit;
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    bool waited = WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL;
    if (!killed && !waited)
        return NULL;
    if (cgroup_kills(group->cgroup, &limit) <= group->oom_kills)
        return NULL;
    group->oom_kills++;
    char *size = limit < UINT64_MAX ? text_size(limit) : NULL;
    char *text = mem_format("killed by the kernel for lack of memory%s%s%s",
                            size ? " (cgroup limit " : "", size ? size : "", size ? ")" : "");
    free(size);
    return text;
}

/* ---- a task ---- */

/* Rights, the kernel's age, a filter of system calls, a threaded parent: what stands in the way
 * of starting in it shows with the first task. */
void task_cgroup_exec(struct task_cgroup *group, const struct launch *launch,
                      const struct launch_task *what, struct exec_process *child,
                      struct exec *spawn)
{
    spawn->cgroup = group->cgroup;
    exec_begin(child, spawn);
    if (child->failure.step == EXEC_CGROUP) {
        task_cgroup_note(group, launch,
                         mem_format("%s: no cgroup: cannot start a process in %s: %s", group->host,
                                    cgroup_path(group->cgroup), strerror(child->failure.number)));
        cgroup_shut(group->cgroup);
        exec_finish(child);
        exec_begin(child, spawn);
    } else if (what->local_rank == 0 && cgroup_dir(group->cgroup) >= 0) {
        char *cpus = launch->claim ? idset_encode(launch->cpus[0]) : NULL;
        task_cgroup_note(group, launch,
                         mem_format("%s: tasks in cgroup %s%s%s", group->host,
                                    cgroup_path(group->cgroup), cpus ? ", kept to processors " : "",
                                    cpus ? cpus : ""));
        free(cpus);
    }
}
