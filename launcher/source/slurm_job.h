/*
 * slurm_job - the Slurm job that this process belongs to, as its environment has it (sbatch(1),
 * "OUTPUT ENVIRONMENT VARIABLES"). slurm_job.c also has the row of Slurm among the sources of nodes
 * (batch_system.h): from the job's variables to nodes with the CPUs that were granted. Here are the
 * nodes on which the job's srun can start agents.
 */
#ifndef LAUNCHER_SOURCE_SLURM_JOB_H
#define LAUNCHER_SOURCE_SLURM_JOB_H

#include <stdbool.h>

#include "base/error.h"
#include "launcher/source/batch_system.h"

/* The row. NULL with a sentence. */
struct node_list *slurm_nodes(const struct batch_system *source, double now, struct error *err);

struct slurm_job;

/* NULL with a sentence where this is no job, where the job does not say which nodes it has, or
 * where there is no srun in the PATH. */
struct slurm_job *slurm_job_new(struct error *err);
void slurm_job_free(struct slurm_job *job); /* NULL is fine */

/* By Slurm's name of the node. Quick where nodes are asked for in the job's order. */
bool slurm_job_has(struct slurm_job *job, const char *host);
/* "Slurm job 5 (node[0-3])". Borrowed. */
const char *slurm_job_text(const struct slurm_job *job);

#endif
