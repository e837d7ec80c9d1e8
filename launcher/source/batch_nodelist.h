/*
 * batch_nodelist - hosts and counts as PBS, LSF and Grid Engine write them; Slurm:
 * slurm_nodelist.h.
 *
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

struct hostfile *batch_slots(const char *text, size_t len, struct error *err);
struct hostfile *batch_table(const char *text, size_t len, struct error *err);
struct hostfile *batch_pairs(const char *text, struct error *err);

/* Takes the file, and gives it back where `rc` is 0 and it names a host; else NULL. For readers of
 * such texts. */
struct hostfile *batch_nodelist_finish(struct hostfile *file, int rc, struct error *err);

#endif
