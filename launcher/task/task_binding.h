/*
 * task_binding - the processors that a group's tasks are bound to: as mapped, and as the kernel has
 * it. Private to the agent.
 */
#ifndef LAUNCHER_TASK_TASK_BINDING_H
#define LAUNCHER_TASK_TASK_BINDING_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/topology/topo.h"
#include "base/error.h"
#include "launcher/protocol/launch.h"
#include "launcher/protocol/task_report.h"

struct task_binding_found { /* ranks that the kernel lets run on the same processors */
    cpu_set_t *set;
    struct idset *ranks;
};

struct task_binding {
    cpu_set_t **sets; /* by binding of the launch */
    uint32_t count;
    size_t size; /* bytes of a set of processors that the kernel answers into */
    struct task_binding_found *found; /* where that is to be shown */
    size_t nfound;
};

/* What was mapped must lie within what this process may use: nothing is ever widened. */
int task_binding_check(const struct launch *launch, const struct topo *topo, struct error *err);
void task_binding_open(struct task_binding *bindings, const struct launch *launch);
/* What the kernel says of a task, to be shown. */
void task_binding_add_found(struct task_binding *bindings, const cpu_set_t *set, uint32_t rank);
/* All that was said, for the report, whose bindings are empty. */
void task_binding_take_found(const struct task_binding *bindings, struct started_report *report);
void task_binding_close(struct task_binding *bindings);

#endif
