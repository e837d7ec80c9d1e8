/*
 * slurm_nodelist - nodes and counts as Slurm writes them (sbatch(1), slurm.conf(5)).
 *
 *     SLURM_JOB_NODELIST        rack[0-1]node[2-3],login
 *     SLURM_JOB_CPUS_PER_NODE   16(x4),8
 *
 * Each failure gives a sentence that quotes what is wrong; the caller puts the variable in front.
 */
#ifndef LAUNCHER_SOURCE_SLURM_NODELIST_H
#define LAUNCHER_SOURCE_SLURM_NODELIST_H

#include "base/error.h"
#include "launcher/source/hostfile.h"

#define SLURM_MAX_GROUPS 4 /* pairs of brackets in one name; Slurm's own names have two */

/* Names alone, with limit 0. Where a name has several pairs of brackets the last goes round
 * fastest. NULL with a sentence, also where no host is named. */
struct hostfile *slurm_nodelist_hosts(const char *nodelist, struct error *err);
/* Counts for these hosts, "72(x2),36": as many as there are hosts. 0 or -1. */
int slurm_nodelist_counts(struct hostfile *hosts, const char *counts, struct error *err);

#endif
