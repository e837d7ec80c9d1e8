/*
 * part_setup - what all tasks of one part of the program have in common on this node. Private to
 * the agent.
 */
#ifndef LAUNCHER_TASK_PART_SETUP_H
#define LAUNCHER_TASK_PART_SETUP_H

#include "affinity/topology/topo.h"
#include "launcher/linkage/mpi_library.h"
#include "launcher/process/exec.h"
#include "launcher/process/scratch_directory.h"
#include "launcher/protocol/launch.h"
#include "launcher/protocol/stage_list.h"

struct part_setup {
    char **environment; /* without the tasks' own variables */
    size_t count;
    char *path;      /* of the program; NULL: it was not found */
    char *directory; /* absolute, if the caller's is */
    char *mpi_abi;   /* the library that --mpi means here; NULL: none was chosen */
    int refused;     /* exit status of tasks that cannot be executed here; 0: they can */
    char *refusal;   /* why; NULL: they can */
    struct exec_limit limits[RLIM_NLIMITS];
    int umask;
    const struct launch *launch;
    const struct topo *topo;
    char ***gpu_views; /* [launch->ngpus + 1] see part_setup_gpus(); NULL: GPUs are left alone */
    char ***openmp;    /* [launch->ncpus] by binding, see part_setup_openmp(); NULL: not made yet */
    unsigned pmi;      /* set of enum spec_pmi that its tasks are offered */
    enum mpi_family family; /* of the MPI that they speak it with, where there are other parts */
    char **pmi_env;         /* what else these need for that, see pmi_environment.h */
};

struct part_setup_source { /* all borrowed */
    const struct launch *launch;
    const struct topo *topo;
    struct scratch *scratch;         /* for the library of --mpi */
    const struct stage_place *stage; /* files that are staged here */
    bool pmix_served;                /* else it is not offered */
};

/* The part of this number; what the source borrows is borrowed. */
void part_setup_open(struct part_setup *part, const struct part_setup_source *source,
                     size_t number);
/* What its tasks are offered is there, and a directory for memory that they share; or NULL. */
void part_setup_serve(struct part_setup *part, const char *memory);
void part_setup_close(struct part_setup *part);

/* The variables that say which GPUs a task sees, a NULL-terminated list of NAME=VALUE; owned by the
 * part. Tasks with the same GPUs share them. */
char *const *part_setup_gpus(const struct part_setup *part, const struct launch_task *what);
/* What a task with -c is told of its cores (openmp_environment.h), likewise; tasks with the same
 * binding share it. NULL: it is told nothing. */
char *const *part_setup_openmp(const struct part_setup *part, const struct launch_task *what);

#endif
