/*
 * other_instances - processors that runs are bound to which cannot read this run's register.
 *
 * Those are runs of other users, and of the same user where another directory is mounted in the
 * place of the register's (a private /tmp of a batch job or a service, a container). An agent tells
 * them by names of sockets in Linux's abstract name space, which all processes of a network name
 * space can list, with the users they belong to:
 *
 *     tprun UID REGISTER FAMILY PID PROCESSORS
 *
 * The sockets are bound and nothing else: nobody can connect or send to them, and the kernel
 * removes them with the agent. REGISTER is the device and inode of the register's directory. FAMILY
 * is the outermost instance: runs in a run are no strangers to it. PROCESSORS is an idset, cut into
 * as many sockets as it takes.
 */
#ifndef LAUNCHER_AGENT_OTHER_INSTANCES_H
#define LAUNCHER_AGENT_OTHER_INSTANCES_H

#include "affinity/sets/idset.h"

struct neighbours;

/* `directory` is the register's. NULL where it cannot be examined. */
struct neighbours *other_instances_new(const char *directory, const char *family);
void other_instances_free(
    struct neighbours *neighbours); /* NULL is fine; what was told is taken back */

/* From now on tell others that these are bound to, in place of what was told before. */
void other_instances_tell(struct neighbours *neighbours, const struct idset *cpus);

/* Who else is bound to some of them, "processors 0-1 are also bound by a run of ann (1000)";
 * caller frees; "" where nobody is known to be. */
char *other_instances_find(const struct neighbours *neighbours, const struct idset *cpus);

#endif
