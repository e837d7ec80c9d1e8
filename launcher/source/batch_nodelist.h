/*
 * batch_nodelist - hosts and counts as batch systems write them.
 *
 *     slurm   "rack[0-1]node[2-3],login" and "16(x4),8"     sbatch(1), slurm.conf(5)
 *     slots   a host a line, a line a slot                  PBS_NODEFILE, LSB_DJOB_HOSTFILE
 *     table   "host slots queue processors" a line          PE_HOSTFILE, sge_pe(5)
 *     pairs   "host1 4 host2 4"                             LSB_MCPU_HOSTS
 *
 * Each gives hosts in order with a count, 0 where the text has none. A host may come more than
 * once (what its slots were cut into); its counts add up when nodes are made of it. NULL with a
 * sentence that quotes what is wrong; the caller puts the variable or the file in front. A text
 * that names no host at all is refused.
 */
#ifndef LAUNCHER_SOURCE_BATCH_NODELIST_H
#define LAUNCHER_SOURCE_BATCH_NODELIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/source/hostfile.h"

#define BATCH_MAX_GROUPS 4 /* pairs of brackets in one name; Slurm's own names have two */

/* Names alone, with limit 0. Where a name has several pairs of brackets the last goes round
 * fastest. */
struct hostfile *batch_slurm_hosts(const char *nodelist, struct error *err);
/* Counts for these hosts, "72(x2),36": as many as there are hosts. 0 or -1. */
int batch_slurm_counts(struct hostfile *hosts, const char *counts, struct error *err);

struct hostfile *batch_slots(const char *text, size_t len, struct error *err);
struct hostfile *batch_table(const char *text, size_t len, struct error *err);
struct hostfile *batch_pairs(const char *text, struct error *err);

#endif
