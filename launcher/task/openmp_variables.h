/*
 * openmp_variables - what tasks with -c are told of their cores, made once for each part and binding.
 * Private to the agent.
 */
#ifndef LAUNCHER_TASK_OPENMP_VARIABLES_H
#define LAUNCHER_TASK_OPENMP_VARIABLES_H

#include "affinity/topology/topo.h"
#include "launcher/protocol/launch.h"
#include "launcher/task/part_setup.h"

struct openmp_variables {
    const struct launch *launch; /* borrowed, like the topology */
    const struct topo *topo;
    char ***lists; /* by part, and in it by binding; NULL: not made yet */
};

void openmp_variables_open(struct openmp_variables *threads, const struct launch *launch,
                           const struct topo *topo);
void openmp_variables_close(struct openmp_variables *threads);

/* NAME=VALUE for a task of this part, NULL-terminated, borrowed; NULL: it is told nothing. */
char *const *openmp_variables_of(struct openmp_variables *threads, const struct part_setup *part,
                                 const struct launch_task *what);

#endif
