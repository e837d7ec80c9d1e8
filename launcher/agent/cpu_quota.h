/*
 * cpu_quota - processor time that a cgroup around this agent grants. Tasks that have more cores
 * than that are stopped again and again, and nothing else says why they are slow.
 */
#ifndef LAUNCHER_AGENT_CPU_QUOTA_H
#define LAUNCHER_AGENT_CPU_QUOTA_H

#include <stdbool.h>

#include "affinity/topology/topo.h"
#include "launcher/agent/uplink.h"
#include "launcher/protocol/launch.h"

/* Add the cores that tasks of this launch may use here. `unbound`: they were mapped without a
 * binding. */
void cpu_quota_add_cores(struct idset **all, const struct launch *launch, const struct topo *topo,
                         bool unbound);
/* A note where tasks have more cores than the quota, in cores, says; true: there was one. */
bool cpu_quota_note(struct uplink *uplink, const char *host, double quota,
                    const struct idset *cores);

#endif
