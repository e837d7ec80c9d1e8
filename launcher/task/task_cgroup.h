/*
 * task_cgroup - the cgroup that a program's tasks of this node are started in: they cannot leave
 * it, and where they are not bound it keeps them, if it can, to the cores that their program holds.
 *
 * Where none can be made all goes on without one, and with -v a note says why.
 */
#ifndef LAUNCHER_TASK_TASK_CGROUP_H
#define LAUNCHER_TASK_TASK_CGROUP_H

#include <stdbool.h>

#include "affinity/topology/topo.h"
#include "launcher/process/cgroup.h"
#include "launcher/process/exec.h"
#include "launcher/protocol/launch.h"

struct task_cgroup;

/* `cgroup` is not made yet; all are borrowed. note() gets a line for people. */
struct task_cgroup *task_cgroup_new(struct cgroup *cgroup, const struct topo *topo,
                                    const char *host, void (*note)(void *owner, const char *text),
                                    void *owner);
void task_cgroup_free(struct task_cgroup *group);

/* Before the first task of this launch: make it, or widen what tasks are kept to. Unbound tasks of
 * the launch get the cores that they are kept to as their binding; its claim goes where they are
 * not. */
void task_cgroup_add(struct task_cgroup *group, struct launch *launch);
/* Whether tasks are kept to some processors. */
bool task_cgroup_keeps(const struct task_cgroup *group);
/* Tasks have ended, and those that are left need no more than these processors (none: nothing
 * changes). */
void task_cgroup_narrow(struct task_cgroup *group, const struct idset *left);
/* Nothing lives in it any more. */
void task_cgroup_remove(struct task_cgroup *group);

/* exec_begin(), in the cgroup if there is one. */
void task_cgroup_exec(struct task_cgroup *group, const struct launch *launch,
                      const struct launch_task *what, struct exec_process *child,
                      struct exec *spawn);
/* How the kernel killed a task, or what it waited for, for lack of memory, given its status of
 * waitpid(); NULL: it did not. Once for each that was killed. Caller frees. */
char *task_cgroup_explain(struct task_cgroup *group, int status);

/* Add the processors that tasks of this launch may use. */
void task_cgroup_add_processors(struct idset **all, const struct launch *launch);

#endif
