/*
 * spawn_hosts - hosts of the run that have no agent yet: which of them tasks that are spawned need.
 *
 * As at the beginning, no more of a large R are started than are likely to be used. A host that
 * failed is tried again only for those who name it.
 */
#ifndef LAUNCHER_PLAN_SPAWN_HOSTS_H
#define LAUNCHER_PLAN_SPAWN_HOSTS_H

#include "launcher/plan/spawn_plan.h"

/* Those that such tasks are likely to need, and that are not in `started`, which were tried for
 * them already. Caller frees; empty where there are none. */
struct idset *spawn_hosts_choose(const struct spawn_request *request, const struct idset *started);
/* Where some of these failed, that is why there is no room: set err to it. */
void spawn_hosts_explain(const struct host_table *hosts, const struct idset *started,
                         struct error *err);

#endif
