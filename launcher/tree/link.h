/*
 * link - a two-way stream of frames to a neighbour, over any pair of descriptors.
 *
 * Control frames are sent once the loop has no other event to handle, and before it waits. Those
 * that nobody waits for (frame_may_wait()) go with the next or 10 ms later. Bulk frames
 * (frame_is_bulk) are sent while the neighbour has given credit and wait in order otherwise; a
 * sender that respects link_room() keeps the queue short, so a slow reader at the far end stops the
 * task that writes, and no memory grows. The receiver gives credit back with link_consumed() once
 * the bytes have left it. Bulk waiting never holds back control frames, so a node whose output
 * nobody reads still answers pings.
 *
 * With link_watch() the neighbour is pinged, and a link on which nothing arrives for that long is
 * closed: a silent death is found as surely as an end of file. The round trips also estimate the
 * offset between the two clocks.
 *
 * A link owns its descriptors. All callbacks come from the loop, never from inside link_send().
 */
#ifndef LAUNCHER_TREE_LINK_H
#define LAUNCHER_TREE_LINK_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/tree/frame.h"

#define LINK_WINDOW (512u << 10) /* bytes of bulk under way in each direction */

struct link;

struct link_ops {
    void (*frame)(struct link *link, void *arg, const struct frame *frame);
    /* Bulk can be sent again (link_room() is no longer 0). May be NULL. */
    void (*room)(struct link *link, void *arg);
    /* End of file, an error, or silence: the sentence says which. The owner frees the link here
     * or later; nothing more comes. */
    void (*closed)(struct link *link, void *arg, const struct error *why);
    /* Bytes before the greeting (see link_expect_greeting). May be NULL. */
    void (*noise)(struct link *link, void *arg, const char *bytes, size_t len);
    /* The greeting has been seen. May be NULL. */
    void (*greeted)(struct link *link, void *arg);
};

/* Frames start at once. in and out may be the same descriptor; they become non-blocking. */
struct link *link_new(struct ev_loop *loop, int in, int out, const struct link_ops *ops, void *arg);
void link_free(struct link *link); /* closes; NULL is fine */

/* The other end is a program behind a login: skip what comes before its greeting. */
void link_expect_greeting(struct link *link);
/* Be that program: write the greeting, in the loop, with the answer to what has come already. */
void link_greet(struct link *link);

void link_send(struct link *link, const struct frame *frame); /* payload is copied or written */
void link_send_json(struct link *link, enum frame_type type, uint32_t node, uint32_t rank,
                    const json_t *value);

/* Bulk bytes that would not have to wait, FRAME_HEADER of each frame included. 0: not even one byte
 * and its header. */
size_t link_room(const struct link *link);
void link_consumed(struct link *link, size_t bytes); /* bulk payload bytes + FRAME_HEADER each */

/* The other end is not trusted: the link is closed once a frame that is not whole yet, or what it
 * does not read, has more bytes than this. */
void link_bound(struct link *link, size_t bytes);

void link_ping(struct link *link);                  /* once, for the clocks */
void link_watch(struct link *link, double timeout); /* seconds; INFINITY: only watch for EOF */
bool link_is_silent(const struct link *link);       /* it was closed for that */

/* Send everything there is, blocking for at most `timeout` seconds. */
void link_flush(struct link *link, double timeout);
/* Another descriptor of what is sent on, which keeps the neighbour from seeing an end; the caller's. -1
 * with errno. */
int link_duplicate(const struct link *link);
/* The neighbour has ended its side, or is gone; what it sent before may not have been read yet. */
bool link_is_ended(const struct link *link);
/* No more is taken: the neighbour sees an end of file behind what waits for it, bulk without credit
 * aside. */
void link_shutdown(struct link *link);

/* In a forked child: the descriptors are the parent process's business. Closes this copy of them
 * and forgets the rest. NULL is fine. */
void link_disown(struct link *link);

/* Clock of the neighbour minus this one, ns; 0 until a ping was answered. */
int64_t link_clock_offset(const struct link *link);

/* Bulk bytes counted for one frame, on both sides. */
static inline size_t link_weight(const struct frame *frame)
{
    return FRAME_HEADER + frame->len;
}

#endif
