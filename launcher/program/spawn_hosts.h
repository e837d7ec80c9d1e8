/*
 * spawn_hosts - hosts of the run that have no agent yet: which of them tasks that are spawned need.
 *
 * As at the beginning, no more of a large R are started than are likely to be used. A host that failed
 * is tried again only for those who name it.
 */
#ifndef LAUNCHER_PROGRAM_SPAWN_HOSTS_H
#define LAUNCHER_PROGRAM_SPAWN_HOSTS_H

#include "launcher/program/spawn_resources.h"

/* Start agents on those that tasks of this spec are likely to need, and add them to `started`, which has
 * those that were tried for them already. `hosts` as for spawn_resources_find(). False where there are
 * none. */
bool spawn_hosts_start(const struct spawn_base *base, const struct spec *spec,
                       struct hostlist *const *hosts, struct idset *started);
/* Where some of these failed, that is why there is no room: set err to it. */
void spawn_hosts_explain(const struct spawn_base *base, const struct idset *started,
                         struct error *err);

#endif
