/* A tool's connection, and the one to openpmix that is made for it: bytes that go between them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/agent/tools.h"

#define READ_SIZE 65536
#define UNREAD_MAX 262144 /* bytes of a tool that openpmix has not taken */

static enum tool_side other(enum tool_side side)
{
    return side == TOOL_FAR ? TOOL_NEAR : TOOL_FAR;
}

static void watch(struct ev_loop *loop, ev_io *io, bool on)
{
    if (on)
        ev_io_start(loop, io);
    else
        ev_io_stop(loop, io);
}

/* What openpmix says is always read: it keeps what is not, without bound. */
static void watch_all(struct tool *tool, struct ev_loop *loop)
{
    for (int side = 0; side < TOOL_NSIDES; side++) {
        struct tool_end *end = &tool->ends[side];
        bool full = side == TOOL_FAR && tool->ends[TOOL_NEAR].out.len >= UNREAD_MAX;
        watch(loop, &end->reader, end->fd >= 0 && !end->ended && !full);
        watch(loop, &end->writer, end->fd >= 0 && end->out.len);
    }
}

/* ---- bytes ---- */

static void end_write(struct tool_end *end)
{
    while (end->fd >= 0 && end->out.len) {
        ssize_t n = write(end->fd, buf_bytes(&end->out), end->out.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            end->ended = true;
        buf_consume(&end->out, n < 0 ? end->out.len : (size_t)n);
    }
}

/* The tool's end: openpmix sees it once it has read what came before. */
static void shut_near(struct tool *tool)
{
    struct tool_end *near = &tool->ends[TOOL_NEAR];
    if (near->fd < 0 || near->shut || near->out.len)
        return;
    shutdown(near->fd, SHUT_WR);
    near->shut = true;
}

static void tool_pass(struct tool *tool, struct ev_loop *loop)
{
    struct tool_end *far = &tool->ends[TOOL_FAR];
    size_t before = far->out.len;
    end_write(far);
    end_write(&tool->ends[TOOL_NEAR]);
    if (far->out.len < before)
        tool->moved = ev_now(loop);
    if (far->ended) {
        buf_free(&far->out);
        shut_near(tool);
    }
    watch_all(tool, loop);
    tools_settle(tool);
}

static void tool_read(struct tool *tool, enum tool_side side)
{
    static char bytes[READ_SIZE];
    struct tool_end *end = &tool->ends[side];
    ssize_t n = read(end->fd, bytes, sizeof(bytes));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        end->ended = true;
    else if (!tool->ends[other(side)].ended)
        buf_add(&tool->ends[other(side)].out, bytes, (size_t)n);
}

/* ---- events ---- */

static void on_far(struct ev_loop *loop, ev_io *io, int events)
{
    struct tool *tool = io->data;
    if (events & EV_READ)
        tool_read(tool, TOOL_FAR);
    tool_pass(tool, loop);
}

static void on_near(struct ev_loop *loop, ev_io *io, int events)
{
    struct tool *tool = io->data;
    if (events & EV_READ)
        tool_read(tool, TOOL_NEAR);
    tool_pass(tool, loop);
}

/* ---- life ---- */

static void end_open(struct tool *tool, struct ev_loop *loop, enum tool_side side, int fd)
{
    struct tool_end *end = &tool->ends[side];
    void (*on)(struct ev_loop *, ev_io *, int) = side == TOOL_FAR ? on_far : on_near;
    end->fd = fd;
    ev_io_init(&end->reader, on, fd, EV_READ);
    ev_io_init(&end->writer, on, fd, EV_WRITE);
    end->reader.data = end->writer.data = tool;
    watch_all(tool, loop);
}

static void end_close(struct tool_end *end, struct ev_loop *loop)
{
    if (end->fd < 0)
        return;
    ev_io_stop(loop, &end->reader);
    ev_io_stop(loop, &end->writer);
    close(end->fd);
    end->fd = -1;
}

struct tool *tool_new(struct tools *tools, struct ev_loop *loop, int fd)
{
    struct tool *tool = mem_alloc(sizeof(*tool));
    tool->tools = tools;
    tool->moved = ev_now(loop);
    for (int side = 0; side < TOOL_NSIDES; side++) {
        tool->ends[side].fd = -1;
        ev_io_init(&tool->ends[side].reader, on_far, 0, 0);
        ev_io_init(&tool->ends[side].writer, on_far, 0, 0);
    }
    end_open(tool, loop, TOOL_FAR, fd);
    return tool;
}

void tool_join(struct tool *tool, struct ev_loop *loop, int fd)
{
    tool->moved = ev_now(loop);
    end_open(tool, loop, TOOL_NEAR, fd);
}

void tool_drop(struct tool *tool, struct ev_loop *loop)
{
    struct tool_end *far = &tool->ends[TOOL_FAR];
    end_close(far, loop);
    far->ended = true;
    buf_free(&far->out);
    shut_near(tool);
}

void tool_free(struct tool *tool, struct ev_loop *loop)
{
    for (int side = 0; side < TOOL_NSIDES; side++) {
        end_close(&tool->ends[side], loop);
        buf_free(&tool->ends[side].out);
    }
    free(tool);
}
