/*
 * local_services - what all groups and tasks of a node share.
 */
#ifndef LAUNCHER_AGENT_LOCAL_SERVICES_H
#define LAUNCHER_AGENT_LOCAL_SERVICES_H

#include <ev.h>

#include "launcher/agent/downlink.h"
#include "launcher/agent/local_stage.h"
#include "launcher/agent/pmix_host.h"
#include "launcher/agent/pmix_job.h"
#include "launcher/agent/task_output.h"
#include "launcher/agent/task_signals.h"
#include "launcher/agent/task_termination.h"
#include "launcher/agent/topology_file.h"
#include "launcher/agent/uplink.h"
#include "launcher/task/task_cgroup.h"

struct local_services { /* what all groups of a node share; all borrowed */
    struct ev_loop *loop;
    struct uplink *uplink;
    struct downlink *downlink;
    const char *host;
    const struct topo *topo;
    struct scratch *scratch;
    struct task_outputs *outputs;
    struct task_cgroup *cgroup;
    struct task_signals *signals;
    struct task_termination *termination;
    struct topology_file *topology_file;
    struct agent_pmix_host *pmix;
    struct local_stage *stage;
};

#endif
