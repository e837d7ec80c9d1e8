/*
 * channels - byte streams between descriptors of this process and those of another one, over
 * frames.
 *
 * An instance's agents and its manager carry the links of the programs in it: a channel is one of
 * them, named by the node of its agent and a number. Each direction has a window of CHANNEL_WINDOW
 * bytes, so one channel whose far end does not read holds up no other, and takes no more memory
 * than that. An end of file is carried, too, and so is that nothing is read any more; what was sent
 * before either is delivered. A channel is over when both directions have ended, and its descriptor
 * is closed then.
 */
#ifndef LAUNCHER_TREE_CHANNELS_H
#define LAUNCHER_TREE_CHANNELS_H

#include <ev.h>
#include <stddef.h>
#include <stdint.h>

#include "affinity/sets/idset.h"
#include "launcher/tree/frame.h"

#define CHANNEL_WINDOW (256u << 10) /* bytes under way in each direction */

struct channels;

struct channels_ops {
    /* A frame for the other side: towards frame->node, or from it. */
    void (*send)(void *owner, const struct frame *frame);
};

struct channels *channels_new(struct ev_loop *loop, const struct channels_ops *ops, void *owner);
void channels_free(struct channels *channels); /* closes all; nobody is told. NULL is fine */

/* From now on what is read from fd (taken) goes to the other side, and what comes from there is
 * written to it. A channel that has this name already is closed. */
void channels_add(struct channels *channels, uint32_t node, uint32_t number, int fd);
/* A FRAME_CHANNEL without FRAME_CHANNEL_OPEN, or a FRAME_CHANNEL_CREDIT. One for a channel that is
 * not there (any more) is answered with the channel's end. */
void channels_take(struct channels *channels, const struct frame *frame);
/* The other side of a channel that was asked for there cannot be: it sees these bytes and the end
 * of file, and closes it. */
void channels_refuse(struct channels *channels, uint32_t node, uint32_t number, const void *bytes,
                     size_t len);
/* These nodes are lost: their channels are closed. */
void channels_drop(struct channels *channels, const struct idset *nodes);

size_t channels_count(const struct channels *channels);

#endif
