/*
 * connect_back - agents that connect to their parent, where the command that starts them gives no
 * stream of its own to each.
 *
 * One srun starts the agents of many hosts. Its standard input is one stream for all of them, and
 * so is its output: neither can be a link. So the parent listens, and tells through that input
 * ("the call", a FRAME_CALL) on which port and with which keys. Each agent connects, and that
 * connection is its link.
 *
 * Why a port, where all other links need none: Slurm's streams carry lines of text of at most a
 * kilobyte to and from all nodes at once, and one srun for each host costs the batch system a job
 * step for each. The port is open while agents start: from the command's start until each of its
 * agents is up or has failed.
 *
 * Who may come in: the two keys are random and made for each start. They stand in no argument and
 * no environment, and travel inside of the command's input. Only where a command has no input for
 * agents ({call} in its template) is the call in a file instead. That is in the home directory, for
 * the user alone, and is removed once each agent is up or has failed. An agent sends the agents'
 * key and its host's name; the parent compares, and answers with its own key, by which the agent
 * knows that this is not somebody else's process on that port. A host is let in once. Who says
 * nothing, too much or the wrong thing is disconnected after CONNECT_BACK_PATIENCE at the latest,
 * or once too many others have connected, and learns nothing. So other users of these machines are
 * kept out, and keep no agent out.
 *
 * The connection is not encrypted: who can read or change what the nodes' network carries can do so
 * here, as with srun's own streams (which carry the keys) and with MPI's messages. --bootstrap=ssh
 * is for networks where that matters.
 *
 * An agent connects to where its srun is, which Slurm tells each task (SLURM_LAUNCH_NODE_IPADDR),
 * and else to the addresses of the call, in order; the next one is tried after CONNECT_BACK_TURN,
 * beside those that do not answer yet. Some of these may be its own host's as well, such as
 * loopback's and those of bridges for containers. It sends its key there only where the call says
 * that the parent is in the same network namespace: else another user could listen for the key.
 * Where Slurm is told to use certain ports of the submitting host (SrunPortRange in slurm.conf),
 * the port is one of them.
 */
#ifndef LAUNCHER_TREE_CONNECT_BACK_H
#define LAUNCHER_TREE_CONNECT_BACK_H

#include <ev.h>
#include <jansson.h>
#include <stdint.h>

#include "base/error.h"

#define CONNECT_BACK_PATIENCE 10.0 /* s from a connection to its key, and to the answer */
#define CONNECT_BACK_TURN 0.25     /* s until the next address is tried as well */

/* ---- the parent ---- */

struct connect_back;

struct connect_back_ports { /* from low to high; both 0: any that is free */
    uint16_t low, high;
};

/* A connection of an agent that has the key, from the host of that name. The descriptor is the
 * callee's: it sends the answer, connect_back_accept(), or closes it. */
typedef void connect_back_arrived(void *arg, int fd, const char *host);

/* Listens; NULL with a sentence. `patience`: seconds that agents try for. */
struct connect_back *connect_back_new(struct ev_loop *loop, struct connect_back_ports ports,
                                      double patience, connect_back_arrived *arrived, void *arg,
                                      struct error *err);
void connect_back_free(struct connect_back *back); /* NULL is fine */
/* The payload of FRAME_CALL (new reference). It is a secret. */
json_t *connect_back_call(const struct connect_back *back);
/* Tell the agent that it is in: 0, or -1 when it is gone. */
int connect_back_accept(const struct connect_back *back, int fd);
/* In a forked child: closes this copy of the descriptors. NULL is fine. */
void connect_back_disown(struct connect_back *back);

/* ---- the agent ---- */

/* Follow the call: the link's descriptor, or -1 with a sentence about the first address. Blocks,
 * for as long as the call says at most. */
int connect_back_follow(const json_t *call, struct error *err);

#endif
