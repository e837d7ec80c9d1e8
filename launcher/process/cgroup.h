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
 * Where it is stands in memory that is shared with processes forked later. So the one that makes
 * it may be killed at any point: whoever forked it can end the cgroup.
 *
 * NULL is fine everywhere and is a cgroup that is never made.
 */
#ifndef LAUNCHER_PROCESS_CGROUP_H
#define LAUNCHER_PROCESS_CGROUP_H

#include <stdbool.h>

#include "base/error.h"

struct cgroup;

/* None is made yet; before the fork. NULL where no memory can be shared. Lives as long as the
 * process. */
struct cgroup *cgroup_new(void);

/* Find out where it can be made, while there is nothing else to do: cgroup_make() is faster then. */
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
/* KILL for all that is in it, and for what they are just starting. False where the kernel cannot
 * (before 5.14): the caller has to find them. */
bool cgroup_kill(const struct cgroup *cgroup);
/* Remove it, with cgroups that were made in it; nothing lives there any more. */
void cgroup_remove(struct cgroup *cgroup);

/* The directory of the own cgroup as two texts have it, /proc/self/mountinfo and
 * /proc/self/cgroup. Caller frees; NULL with the reason. */
char *cgroup_locate(const char *mounts, const char *own, struct error *err);

#endif
