/*
 * openmp_environment - the environment variables by which an OpenMP runtime is told which cores a
 * task has.
 *
 *     OMP_NUM_THREADS   how many cores its slot has
 *     OMP_PLACES        these cores, a place each, by OS index: {0,4},{1,5}
 *
 * What the user says of either comes first, and so does what an affinity setting of one runtime's
 * own (GOMP_CPU_AFFINITY, KMP_AFFINITY) says of places. OMP_PROC_BIND is left alone: GNU's and
 * LLVM's runtimes bind threads as soon as there are places. There are none
 *
 *   - beside OMP_PROC_BIND=false, which LLVM's would not heed where there are;
 *   - for a task that is told to have one thread: with places the first thread of a program is
 *     bound to the first of them, and threads that it makes by other means than OpenMP stay there;
 *   - for one that is bound to more than its slot: all such tasks would begin with the same core;
 *   - for one that is not to be bound at all;
 *   - where the list would be too long.
 *
 * TPRUN_DEFAULTS repeats them (environment.h).
 */
#ifndef LAUNCHER_ENVIRONMENT_OPENMP_ENVIRONMENT_H
#define LAUNCHER_ENVIRONMENT_OPENMP_ENVIRONMENT_H

#include <stdint.h>

#include "affinity/sets/idset.h"
#include "affinity/topology/topo.h"

#define OPENMP_ENVIRONMENT_MAX 2           /* entries of a list */
#define OPENMP_ENVIRONMENT_MAX_PLACES 8192 /* bytes */

/* What a task with a slot of so many cores, bound to these processors (OS indexes; NULL: not
 * bound), has set beside what it inherits: a NULL-terminated list of NAME=VALUE; caller frees with
 * string_list_free(). */
char **openmp_environment_make(const struct topo *topo, const struct idset *cpus, uint32_t cores,
                               char *const *environment);

#endif
