/*
 * host_register - which processors of this host tasks are bound to, written down for runs of other
 * instances.
 *
 * It refuses nobody: whoever binds to processors that runs of another instance have is told so.
 * What cannot be written down, or within a moment, is left out.
 */
#ifndef LAUNCHER_AGENT_HOST_REGISTER_H
#define LAUNCHER_AGENT_HOST_REGISTER_H

#include <stdbool.h>

#include "affinity/sets/idset.h"
#include "launcher/agent/uplink.h"
#include "launcher/protocol/launch.h"

struct host_register;

/* Nothing is written down yet. Both are borrowed. */
struct host_register *host_register_new(struct uplink *uplink, const char *host);
void host_register_free(struct host_register *here); /* nothing is bound any more; NULL is fine */

/* Whether what the tasks of this launch are bound to is written down. `unbound`: they were mapped
 * without a binding. NULL: no. */
bool host_register_is_for(const struct launch *launch, bool unbound);
/* Tasks of this launch run, and all tasks are bound to these processors (OS indexes) now. */
void host_register_add(struct host_register *here, const struct launch *launch,
                       const struct idset *cpus);
bool host_register_has(const struct host_register *here); /* something is written down */
/* Tasks have ended; others are bound to these. Only where something is written down. */
void host_register_narrow(struct host_register *here, const struct idset *cpus);

/* An agent of this host was killed: what it wrote down is removed, once none of its tasks lives. */
void host_register_remove_dead(void);

#endif
