/*
 * batch_system - where the nodes of a run come from when no option names any.
 *
 * The first of these that is there is used:
 *
 *     enclosing   the program that this process is a task of    TPRUN_INSTANCE, TPRUN_PROGRAM
 *     file        an R file                                     TPRUN_R
 *     batch       Slurm                                         SLURM_JOB_ID
 *                 PBS (OpenPBS, Torque)                         PBS_JOBID
 *                 LSF                                           LSB_JOBID
 *                 Flux                                          FLUX_JOB_ID or FLUX_URI
 *                 Grid Engine                                   PE_HOSTFILE
 *                 Kubernetes' MPI Operator                      K_MPI_JOB_ROLE, or
 *                                   KUBERNETES_SERVICE_HOST and a list of its workers
 *     machine     this machine                                  always
 *
 * What is there but cannot be used (a job without its list of nodes, a file that is gone) is
 * refused by the name of its variable; nothing is passed over in silence. Only the enclosing
 * program is: one that has nothing on this host, or of which that is not known, names no nodes.
 *
 * A batch system says how much of each node the job was granted, and seldom which cores: that is
 * for the cgroup and the mask of each node to say. The count becomes the node's limit.
 */
#ifndef LAUNCHER_SOURCE_BATCH_SYSTEM_H
#define LAUNCHER_SOURCE_BATCH_SYSTEM_H

#include <stdbool.h>

#include "base/error.h"
#include "launcher/source/node_list.h"

enum batch_system_kind { /* a set of them */
                         BATCH_SYSTEM_ENCLOSING = 1,
                         BATCH_SYSTEM_FILE = 2,
                         BATCH_SYSTEM_BATCH = 4,
                         BATCH_SYSTEM_MACHINE = 8,
                         BATCH_SYSTEM_ALL = 15,
};

struct batch_system;
struct enclosing_program;

/* The first of these kinds that is there; NULL: none is. Static. */
const struct batch_system *batch_system_find(unsigned kinds);
/* The one of this name, whether it is there or not; NULL: there is no such name. */
const struct batch_system *batch_system_named(const char *name);
bool batch_system_is_there(const struct batch_system *source);
const char *batch_system_name(const struct batch_system *source); /* "Slurm", "this machine" */
const char *
batch_system_variable(const struct batch_system *source); /* "SLURM_JOB_ID"; NULL: this machine */

/* The nodes as the source names them: node_list_from_source() of nodes_from_options.h puts them in
 * order for use. NULL with a sentence that names the variable and what would do. `program`: the
 * enclosing one, where the caller has opened it, or NULL. If the nodes are its, its R is taken, and is
 * NULL afterwards. */
struct node_list *batch_system_nodes(const struct batch_system *source,
                                     struct enclosing_program *program, double now,
                                     struct error *err);

/* What the instance of a run on these resources is for, also where options name hosts inside of
 * them: "Slurm job 17", "this machine". An R file's is its real path. Caller frees. */
char *batch_system_identity(const struct batch_system *source);

#endif
