/*
 * local_topology - this machine's topology, found once, when it is first needed.
 */
#ifndef LAUNCHER_INSTANCE_LOCAL_TOPOLOGY_H
#define LAUNCHER_INSTANCE_LOCAL_TOPOLOGY_H

#include "affinity/topology/topo.h"

struct local_topology;

/* beside() is run in a thread while the topology is found, for what takes as long and needs nothing
 * of it, if wants() says so (NULL: no). */
struct local_topology *local_topology_new(bool (*wants)(void *owner), void (*beside)(void *owner),
                                          void *owner);
void local_topology_free(struct local_topology *local); /* NULL is fine */

/* In a process that forks others, which need not read it then: the first of them that asks finds
 * this. */
void local_topology_read_ahead(void);
/* Find it, if it was not before. 0, or -1 with a sentence. Some milliseconds. */
int local_topology_find(struct local_topology *local, struct error *err);
struct topo *
local_topology_topo(const struct local_topology *local); /* borrowed; NULL: not found */

/* The same as hwloc has it, until it is dropped; borrowed, or NULL. The agent of this machine,
 * which is forked, has a copy. */
struct hwloc_topology *local_topology_machine(const struct local_topology *local);
void local_topology_drop_machine(struct local_topology *local);

#endif
