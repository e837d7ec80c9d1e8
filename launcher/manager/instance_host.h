/*
 * instance_host - what the manager of an instance does for the programs in it: it starts a manager
 * for each, and lends it agents on its nodes.
 *
 * A tprun in the instance connects to the instance's agent on its own host (instance_port.h). Here,
 * where the instance's directory is, a process is forked that becomes the program's manager, with
 * the channel to that tprun as the link to its front end. It asks for agents (agent_broker.h), each
 * of which is a process that the instance's agent forks, and whose link is a channel, too. So a
 * program in an instance is a process of its own on each node and here, and one that crashes or
 * floods is that program's affair.
 */
#ifndef LAUNCHER_MANAGER_INSTANCE_HOST_H
#define LAUNCHER_MANAGER_INSTANCE_HOST_H

#include <ev.h>
#include <jansson.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "base/error.h"
#include "launcher/process/scratch_directory.h"
#include "launcher/tree/frame.h"

struct instance_host;

struct instance_host_ops { /* `owner` is what instance_host_attach() was given */
    void (*send)(void *owner, const struct frame *frame); /* to frame->node */
    /* Number of the node with this host (as reached); UINT32_MAX with a sentence: there is no
     * agent. */
    uint32_t (*node)(void *owner, const char *host, struct error *err);
    /* How many managers have agents of it, or may ask for some, where that has changed; and for how
     * many seconds the last one that said so wants them kept (below 0: this one does not say).
     * NULL: nobody wants to know. */
    void (*used)(void *owner, size_t managers, double keep);
};

/* Before the process has a loop or threads. program() becomes, in a forked process, the manager for
 * the front end behind the first descriptor, with agents from the second; `scratch`, which it is
 * given, is of the agent on this machine. Its result is the exit status. NULL: no tprun comes in
 * through agents. NULL with a sentence. */
struct instance_host *instance_host_new(int (*program)(int frontend, int broker,
                                                       struct scratch *scratch),
                                        struct scratch *scratch, struct error *err);
void instance_host_free(struct instance_host *host); /* NULL is fine, and so everywhere below */

/* In a forked process: close this copy of what its own process is asked over. */
void instance_host_disown(struct instance_host *host);
/* The name of its agents' sockets, for tasks and agents; borrowed. "": they have none. */
const char *instance_host_name(const struct instance_host *host);
void instance_host_attach(struct instance_host *host, struct ev_loop *loop,
                          const struct instance_host_ops *ops, void *owner);
/* The instance's own tasks are launched (launch.h, as JSON; borrowed). Programs in it come later: what
 * each of them would read of it is read once. */
void instance_host_launched(struct instance_host *host, const json_t *launch);
/* A manager from elsewhere asks for agents over this descriptor (agent_broker.h), which is
 * taken. */
void instance_host_lend_to(struct instance_host *host, int fd);
/* A FRAME_CHANNEL or FRAME_CHANNEL_CREDIT of an agent. */
void instance_host_frame(struct instance_host *host, const struct frame *frame);
void instance_host_nodes_lost(struct instance_host *host, const struct idset *nodes);
/* The instance ends: its programs lose their front ends and agents, and end. */
void instance_host_shut(struct instance_host *host);

#endif
