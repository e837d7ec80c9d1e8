/*
 * gpu_environment - the environment variables by which a GPU's runtime is told what it may see.
 *
 *     NVIDIA   CUDA_VISIBLE_DEVICES, with CUDA_DEVICE_ORDER=PCI_BUS_ID, so that numbers mean what
 *              they do here
 *     AMD      ROCR_VISIBLE_DEVICES; HIP's own variables would count within what that leaves
 *     Intel    ZE_AFFINITY_MASK, with ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE, so that numbers are of
 *              cards; where the user chose another hierarchy, of all tiles of the cards
 *     unknown  CUDA_VISIBLE_DEVICES, which HIP reads as well, and ZE_AFFINITY_MASK
 *
 * Each vendor's runtime numbers its own GPUs only, by PCI address.
 */
#ifndef LAUNCHER_ENVIRONMENT_GPU_ENVIRONMENT_H
#define LAUNCHER_ENVIRONMENT_GPU_ENVIRONMENT_H

#include <stdbool.h>

#include "affinity/sets/idset.h"
#include "affinity/topology/topo.h"
#include "base/error.h"

enum { GPU_ENVIRONMENT_MAX = 5 }; /* entries of gpu_environment_make() */

/* What a task that is to see exactly these GPUs of its node (NULL: none) has set, a NULL-terminated
 * list of NAME=VALUE; caller frees with string_list_free(). `environment` is what it inherits. */
char **gpu_environment_make(const struct topo *topo, const struct idset *gpus,
                            char *const *environment);

/* Whether an entry NAME=VALUE says which GPUs are to be seen, and so gives way to such a list. */
bool gpu_environment_says(const char *entry);

/* Of these GPUs of this machine those that an environment leaves to be seen: a new set; NULL with a
 * sentence where that cannot be told from numbers. */
struct idset *gpu_environment_allowed(const struct topo *topo, const struct idset *gpus,
                                      char *const *environment, struct error *err);

/* The same of all GPUs, where this process is of a step of Slurm that has GPUs of this node: Slurm
 * then sets the variables for it. NULL with no sentence where it is not. */
struct idset *gpu_environment_of_step(const struct topo *topo, char *const *environment,
                                      struct error *err);

#endif
