/*
 * memory_binding - where the memory of tasks may be: --mem-bind local. Private to the agent.
 *
 * Each binding's memory is that of the NUMA nodes next to its processors. As with processors,
 * nothing is widened or narrowed in silence: what this process may not use is refused.
 */
#ifndef LAUNCHER_TASK_MEMORY_BINDING_H
#define LAUNCHER_TASK_MEMORY_BINDING_H

#include "affinity/topology/topo.h"
#include "launcher/process/exec.h"
#include "launcher/protocol/launch.h"

/* Into *sets an array by binding of the launch, filled for those that tasks of parts with
 * --mem-bind local have; NULL where there is no such part. The caller frees. 0, or -1 with a
 * sentence. */
int memory_binding_open(const struct launch *launch, const struct topo *topo,
                        struct exec_memory **sets, struct error *err);

/* Of a task: its binding's, or NULL where its part leaves memory alone. Borrowed. */
const struct exec_memory *memory_binding_of(const struct launch *launch,
                                            const struct exec_memory *sets,
                                            const struct launch_task *what);

#endif
