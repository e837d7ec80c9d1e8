/*
 * part - what all tasks of one part of the program have in common on this node. Private to the
 * agent.
 */
#ifndef LAUNCHER_AGENT_PART_H
#define LAUNCHER_AGENT_PART_H

#include "affinity/topology/topo.h"
#include "launcher/process/spawn.h"
#include "launcher/program/launch.h"

struct part {
    char **environment; /* without the tasks' own variables */
    size_t count;
    char *path;            /* of the program */
    int missing;           /* errno when it was not found */
    const char *directory; /* the spec's */
    struct spawn_limit limits[RLIM_NLIMITS];
    int umask;
    const struct launch *launch;
    const struct topo *topo;
    char ***gpu_views; /* [launch->ngpus + 1] see part_gpus(); NULL: tasks' GPUs are left alone */
    unsigned pmi;      /* set of enum spec_pmi that its tasks are offered */
    char **pmi_env;    /* what else these need for that, see pmi_env.h */
};

/* The part of this number; both are borrowed. PMIx is offered only where it can be served. */
void part_open(struct part *part, const struct launch *launch, size_t number,
               const struct topo *topo, bool pmix_served);
/* What its tasks are offered is there, and a directory for memory that they share; or NULL. */
void part_serve(struct part *part, const char *memory);
void part_close(struct part *part);

/* The variables that say which GPUs a task sees, a NULL-terminated list of NAME=VALUE; owned by the
 * part. Tasks with the same GPUs share them. */
char *const *part_gpus(const struct part *part, const struct launch_task *what);

#endif
