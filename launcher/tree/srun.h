/*
 * srun - the command by which Slurm starts the agents of a job's nodes, one on each, as one step.
 *
 * The step takes nothing from other steps of the job and leaves the job's resources to them: it
 * overlaps (--overlap), and from Slurm 23.11 on it is that of an "external launcher", which gets
 * all that the job has on its nodes (SLURM_EXTERNAL_LAUNCHER in the environment says so to each
 * version that knows it; older ones do not read it). Its processes are in the job's cgroups, and
 * their use is counted for the job. CPU masks are the job's, not those of a task of the step.
 * Slurm's own PMI is left out.
 *
 * An agent that ends badly ends its own node only: tprun decides about the others.
 */
#ifndef LAUNCHER_TREE_SRUN_H
#define LAUNCHER_TREE_SRUN_H

#include <stddef.h>

#include "launcher/tree/connect_back.h"

/* For `count` hosts, with commas between them. NULL-terminated; the words and the list are the
 * caller's to free. */
char **srun_command(const char *hosts, size_t count, const char *agent);

/* This process's environment as srun is to have it: what says how the tasks of another srun or of
 * this job are to be started is left out, what says which job it is stays. So is this node's X
 * server: an agent that has one was given it by Slurm. Caller frees with string_list_free(). */
char **srun_environment(void);

/* The ports of the submitting host that nodes may connect to: SrunPortRange of slurm.conf(5), which
 * is read where SLURM_CONF or Slurm's own defaults have it; all zero: any. Included files are not
 * read. */
struct connect_back_ports srun_ports(void);

#endif
