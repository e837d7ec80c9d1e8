/*
 * instance_port - an instance's agent as those see it that run in the instance on this node: a
 * tprun connects here, and reaches the instance's manager; that one asks for agents of programs,
 * each a process of its own.
 *
 * The socket is abstract (unix(7)): it is no file, and is gone with the agent. Its name is a random
 * word that the instance's tasks alone are told; who connects has to have this user's uid, and sees
 * that the agent has it, too.
 */
#ifndef LAUNCHER_AGENT_INSTANCE_PORT_H
#define LAUNCHER_AGENT_INSTANCE_PORT_H

#include <ev.h>
#include <stdbool.h>

#include "affinity/topology/topo.h"
#include "base/error.h"
#include "launcher/agent/agent.h"
#include "launcher/agent/uplink.h"

struct instance_port;

/* What the agents of programs have from this one. */
struct instance_port_config {
    const char
        *name; /* as BATCH_VARIABLE has it; "": nobody comes in here, for agents are only kept */
    const char *host;
    struct topo *topo;
    struct hwloc_topology *machine; /* beside it, or NULL */
    struct scratch *scratch;
    int (*run)(struct agent_config *config, struct error *err);
};

/* Before the process has threads or tasks. All is borrowed. NULL with a sentence. */
struct instance_port *instance_port_new(struct ev_loop *loop, struct uplink *uplink,
                                        const struct instance_port_config *config,
                                        struct error *err);
/* Of the process that forks agents: it is no task, and agents of programs are below it. */
pid_t instance_port_pid(const struct instance_port *port);
void instance_port_free(struct instance_port *port); /* NULL is fine */

/* A FRAME_CHANNEL or FRAME_CHANNEL_CREDIT for this node. NULL is fine. */
void instance_port_frame(struct instance_port *port, const struct frame *frame);
/* The instance is over: nobody comes in any more, and all that runs in it here sees its link close.
 * NULL is fine. */
void instance_port_shut(struct instance_port *port);

#endif
