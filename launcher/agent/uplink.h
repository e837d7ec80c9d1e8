/*
 * uplink - the agent's link to its parent: frames, notes for people, credit.
 *
 * Once it is lost nothing is sent any more, and every function but uplink_is_lost() and
 * uplink_free() does nothing. It is lost when the parent closes it, when the parent is silent for
 * too long, or by uplink_lose().
 */
#ifndef LAUNCHER_AGENT_UPLINK_H
#define LAUNCHER_AGENT_UPLINK_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "launcher/tree/frame.h"
#include "launcher/tree/link.h"

struct uplink;

struct uplink_ops {
    void (*frame)(void *owner, const struct frame *frame);
    void (*room)(void *owner); /* bulk can be sent again */
    void (*lost)(void *owner); /* once */
};

/* Over these descriptors, which it closes. ops are borrowed. */
struct uplink *uplink_new(struct ev_loop *loop, int in, int out, const struct uplink_ops *ops,
                          void *owner);
void uplink_free(struct uplink *uplink);
/* Greet the parent: it waits for that. */
void uplink_greet(struct uplink *uplink);
/* The parent is at the other end of this descriptor instead; it is greeted there. */
void uplink_move(struct uplink *uplink, int fd);
/* What the parent calls this node: the `node` of frames that are made here. */
void uplink_set_node(struct uplink *uplink, uint32_t node);
uint32_t uplink_node(const struct uplink *uplink);

void uplink_send(struct uplink *uplink, const struct frame *frame);
/* A frame with this header, and the value as its payload; takes the value. */
void uplink_send_json(struct uplink *uplink, struct frame frame, json_t *value);
/* A line for people. */
void uplink_note(struct uplink *uplink, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

size_t uplink_room(const struct uplink *uplink); /* bytes of bulk; 0 once lost */
void uplink_consumed(struct uplink *uplink, size_t bytes);
void uplink_watch(struct uplink *uplink, double timeout);
void uplink_flush(struct uplink *uplink); /* without waiting */
/* For tree_relay(); NULL once lost. */
struct link *uplink_link(const struct uplink *uplink);

/* The parent sees no end of this link before uplink_release(), even if it is lost: what it has launched is still
 * here. */
void uplink_hold(struct uplink *uplink);
void uplink_release(struct uplink *uplink);
/* End this side, behind all that has credit: the parent reads an end of file there. What waits for
 * credit is lost, so ask uplink_room() first. The parent is still heard until it ends its side. */
void uplink_end(struct uplink *uplink);

bool uplink_is_lost(const struct uplink *uplink);
/* It is lost, or the parent has ended it, and what it sent before that is still being read. */
bool uplink_is_ended(const struct uplink *uplink);
/* Nobody is heard any more. */
void uplink_lose(struct uplink *uplink);

#endif
