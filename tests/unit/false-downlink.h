/*
 * false-downlink - the agents below this one, in place of launcher/agent/downlink.c: it keeps a log
 * of what is sent to them, "STAGE@1-2". And the parent above: what a real uplink sends, frame by
 * frame.
 */
#ifndef TESTS_UNIT_FALSE_DOWNLINK_H
#define TESTS_UNIT_FALSE_DOWNLINK_H

#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "launcher/agent/downlink.h"
#include "launcher/agent/uplink.h"
#include "tests/unit/unit.h"

struct downlink {
    struct buf log; /* words, with a blank between two */
    bool full;
};

void downlink_send_nodes(struct downlink *downlink, const struct idset *nodes,
                         const struct frame *frame)
{
    char *text = idset_encode(nodes);
    buf_printf(&downlink->log, "%s%s@%s", downlink->log.len ? " " : "",
               frame->type == FRAME_STAGE        ? "STAGE"
               : frame->type == FRAME_STAGE_DATA ? "DATA"
                                                 : "END",
               text);
    free(text);
}

bool downlink_has_room(const struct downlink *downlink, const struct idset *nodes)
{
    (void)nodes;
    return !downlink->full;
}

const pid_t *downlink_agent_pids(const struct downlink *downlink, size_t *count)
{
    (void)downlink;
    *count = 0;
    return NULL;
}

/* What was sent down since the last call. */
static inline void assert_sent_down(struct downlink *downlink, const char *want)
{
    if (strcmp(buf_text(&downlink->log), want) != 0)
        fail_msg("sent down \"%s\", expected \"%s\"", buf_text(&downlink->log), want);
    buf_free(&downlink->log);
}

/* ---- the parent ---- */

struct parent {
    struct uplink *uplink;
    int fd;
    struct buf heard; /* not read yet */
};

static void parent_ignore_frame(void *owner, const struct frame *frame)
{
    (void)owner, (void)frame;
}

static void parent_ignore(void *owner)
{
    (void)owner;
}

static inline void parent_open(struct parent *parent, uint32_t node)
{
    static const struct uplink_ops ops = {parent_ignore_frame, parent_ignore, parent_ignore};
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    *parent =
        (struct parent){.uplink = uplink_new(EV_DEFAULT, fds[0], fds[0], &ops, NULL), .fd = fds[1]};
    uplink_set_node(parent->uplink, node);
}

static inline void parent_close(struct parent *parent)
{
    uplink_free(parent->uplink);
    close(parent->fd);
    buf_free(&parent->heard);
}

/* The next frame of this type that the agent has sent, with its JSON or NULL as a new reference;
 * others are passed over. False: there is none. */
static inline bool parent_hear(struct parent *parent, enum frame_type type, struct frame *frame,
                               json_t **value)
{
    ssize_t n;
    uplink_flush(parent->uplink);
    while ((n = recv(parent->fd, buf_reserve(&parent->heard, 65536), 65536, MSG_DONTWAIT)) > 0)
        buf_added(&parent->heard, (size_t)n);
    while (frame_decode(&parent->heard, frame, NULL) == 1) {
        bool meant = frame->type == type;
        *value = meant && frame->len ? frame_json(frame, NULL) : NULL;
        buf_consume(&parent->heard, FRAME_HEADER + frame->len);
        if (meant)
            return true;
    }
    return false;
}

#endif
