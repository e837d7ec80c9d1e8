/*
 * downlink - the agents below this one: started as the welcome says, fed with frames, watched.
 *
 * It knows which of their nodes are there, and reports upwards itself what becomes of them: hosts
 * that were not reached, hosts that were lost, words of theirs. Frames from below that are not for
 * this agent are passed on upwards. Where nothing is below, all functions do nothing.
 */
#ifndef LAUNCHER_AGENT_DOWNLINK_H
#define LAUNCHER_AGENT_DOWNLINK_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "affinity/sets/idset.h"
#include "launcher/agent/uplink.h"
#include "launcher/tree/bootstrap.h"
#include "launcher/tree/frame.h"

struct downlink;

struct downlink_ops {
    /* Is this frame for this agent? False: it is passed on. */
    bool (*frame)(void *owner, const struct frame *frame);
    void (*gone)(void *owner, const struct idset *nodes); /* not reached, or lost */
    void (*room)(void *owner);                            /* bulk can be sent again */
};

/* All are borrowed. */
struct downlink *downlink_new(struct ev_loop *loop, struct uplink *uplink,
                              const struct downlink_ops *ops, void *owner);
void downlink_free(struct downlink *downlink);
/* Start those that the welcome lists; the bootstrap is borrowed. */
void downlink_start(struct downlink *downlink, const struct bootstrap *boot, const json_t *below);

/* Nodes below that are not lost; borrowed. NULL: there never were any. */
const struct idset *downlink_nodes(const struct downlink *downlink);
bool downlink_has(const struct downlink *downlink, uint32_t node);
void downlink_send(struct downlink *downlink, const struct frame *frame); /* to all */
void downlink_send_node(struct downlink *downlink, uint32_t node, const struct frame *frame);
/* To those that are one of these nodes, or above one. */
void downlink_send_nodes(struct downlink *downlink, const struct idset *nodes,
                         const struct frame *frame);
/* Whether all of them take bulk now. */
bool downlink_has_room(const struct downlink *downlink, const struct idset *nodes);
void downlink_relay_room(struct downlink *downlink); /* there is room above again */
/* Processes right below this one that are no tasks: of the commands that lead to those agents, and
 * one more; borrowed. Without the one more: the commands alone. */
void downlink_add_pid(struct downlink *downlink, pid_t pid);
const pid_t *downlink_pids(struct downlink *downlink, size_t *count);
const pid_t *downlink_agent_pids(const struct downlink *downlink, size_t *count);

/* The parent is lost, so nobody wants them any more: closes the links. Nodes below count as
 * gone. */
void downlink_end(struct downlink *downlink, double patience);
/* Nobody is left, after downlink_end(). */
bool downlink_is_empty(const struct downlink *downlink);

#endif
