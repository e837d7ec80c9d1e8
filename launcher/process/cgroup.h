/*
 * cgroup - the kernel's own list of all that a program runs on this node (control group v2).
 *
 * What is started in a cgroup cannot leave it by detaching itself, and neither can its children,
 * however fast they come: one write kills all of them, one read says whether any is left.
 * [cgroups(7); the kernel's admin-guide/cgroup-v2]
 *
 * It is a directory below the cgroup of the process that makes it, wherever that can be: where
 * cgroup2 is mounted and the own directory there may be written, as for root, in containers and in
 * what systemd delegates. Elsewhere cgroup_make() says why not, and there is none.
 *
 * The process that makes it owns the directory (owned_directory.h), and so do those that it was
 * forked from and that made the struct, as long as they live. Where all were killed that could have
 * ended it, a later program that looks for a place beside it ends what lives in it, and removes it:
 * the next, and in an instance the first that comes a second after another has looked.
 *
 * Where it is stands in memory that is shared with processes forked later. So the one that makes
 * it may be killed at any point: whoever forked it can end the cgroup.
 *
 * NULL is fine everywhere and is a cgroup that is never made.
 */
#ifndef LAUNCHER_PROCESS_CGROUP_H
#define LAUNCHER_PROCESS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct buf;
struct cgroup;

/* None is made yet; before the fork. NULL where no memory can be shared. Lives as long as the
 * process. */
struct cgroup *cgroup_new(void);

/* Read now what is mounted where, which is read once, and where the own cgroup is: processes that
 * are forked later know it. */
void cgroup_read_ahead(void);

/* Find out where it can be made: cgroup_make() is faster then. What others left there is removed
 * beside, see owned_directory_sweep_wait(); of processes that were forked after
 * cgroup_read_ahead(), one in a second does that. */
void cgroup_find(struct cgroup *cgroup);

/* Make it, for this program's id. Once. 0, or -1 with the reason. Whether processes can be started
 * in it only the first one shows. */
int cgroup_make(struct cgroup *cgroup, const char *program, struct error *err);

/* Where it is; NULL while there is none. Borrowed. */
const char *cgroup_path(const struct cgroup *cgroup);
/* Its directory's descriptor in the process that made it; elsewhere, without one, and once it was
 * shut, -1. */
int cgroup_dir(const struct cgroup *cgroup);
void cgroup_shut(struct cgroup *cgroup); /* nothing more is started in it */

/* Keep what is started in it to these processors (OS indexes, idset text): the kernel lets none
 * of them go beyond. 0, or -1 with the reason; then nothing has changed. */
int cgroup_confine(const struct cgroup *cgroup, const char *cpus, struct error *err);

/* Whether anything lives in it. */
bool cgroup_populated(const struct cgroup *cgroup);
/* Append the pids of what lives in it, and in cgroups that were made in it, a line each: 0 for a
 * process that has none here. */
void cgroup_read_pids(const struct cgroup *cgroup, struct buf *out);
/* KILL for all that is in it, and for what they are just starting. False where the kernel cannot
 * (before 5.14): the caller has to find them. */
bool cgroup_kill(const struct cgroup *cgroup);
/* Remove it, with cgroups that were made in it; nothing lives there any more. */
void cgroup_remove(struct cgroup *cgroup);

/* How many processes the kernel has killed for lack of memory in the cgroup of this path, or in the
 * nearest one above it that counts them; 0 where none does. *limit becomes the smallest limit of
 * memory of it and of those above, in bytes, or UINT64_MAX. */
uint64_t cgroup_memory_kills(const char *path, uint64_t *limit);
/* The same for the program's cgroup or, where none was made, for where it would have been. */
uint64_t cgroup_kills(const struct cgroup *cgroup, uint64_t *limit);

/* The directory of the own cgroup as two texts have it, /proc/self/mountinfo and
 * /proc/self/cgroup; cgroup2 may be mounted several times: the first place that `fits` (NULL: the
 * first) is meant. Caller frees; NULL with the reason. */
char *cgroup_locate(const char *mounts, const char *own, bool (*fits)(const char *path),
                    struct error *err);

/* The processor time that this process may use, in processors: the least quota of its cgroup, v2's
 * cpu.max or v1's cpu.cfs_quota_us, and of those around it. INFINITY where there is none. From the
 * same two texts, or from /proc. */
double cgroup_quota(const char *mounts, const char *own);
double cgroup_own_quota(void);

#endif
