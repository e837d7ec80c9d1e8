/* A task's stdout and stderr, read from pipes and sent up line by line while there is credit. */
#include "launcher/agent/task_output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/stdio/line_buffer.h"

#define STREAM_READ 65536

struct stream {
    struct task_output *output;
    int fd;           /* -1: closed */
    uint16_t flag;    /* 0 or FRAME_STDERR */
    bool open_line;   /* what was sent last ended inside a line */
    bool inside_line; /* what was read last did */
    ev_io io;
    struct line_buffer lines;
    double patience; /* s that an unfinished line waits for its end */
    double heard;    /* when some of it came last (s of the monotonic clock) */
    ev_timer idle;   /* runs while one waits, unless that is for ever */
};

struct task_output {
    struct task_outputs *all;
    struct task_output_config config;
    bool opened;
    struct stream streams[2];
    TAILQ_ENTRY(task_output) link; /* once opened */
};

struct task_outputs {
    struct ev_loop *loop;
    struct uplink *uplink;
    bool held;
    TAILQ_HEAD(task_output_list, task_output) open;
};

/* ---- lines ---- */

static void stream_emit(void *arg, const char *bytes, size_t len, bool unfinished)
{
    struct stream *stream = arg;
    const struct task_output *output = stream->output;
    struct frame frame = {.type = FRAME_OUTPUT,
                          .flags = (uint16_t)(stream->flag | (unfinished ? FRAME_UNFINISHED : 0)),
                          .node = uplink_node(output->all->uplink),
                          .rank = output->config.rank,
                          .group = output->config.group,
                          .bytes = bytes,
                          .len = len};
    stream->open_line = unfinished;
    uplink_send(output->all->uplink, &frame);
}

static void stream_watch_idle(struct stream *stream, double seconds)
{
    if (!isfinite(stream->patience))
        return;
    ev_timer_set(&stream->idle, seconds, 0);
    ev_timer_start(stream->output->all->loop, &stream->idle);
}

/* An unfinished line: a prompt, unless more of it has come since the timer was started. */
static void stream_on_idle(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct stream *stream = timer->data;
    double left = stream->heard + stream->patience - clock_monotonic_seconds();
    (void)loop, (void)events;
    if (!stream->lines.rest.len)
        return;
    if (stream->output->all->held)
        left = stream->patience;
    if (left > 0)
        stream_watch_idle(stream, left);
    else
        line_buffer_idle(&stream->lines, stream_emit, stream);
}

static void stream_feed(struct stream *stream, const char *bytes, size_t len)
{
    line_buffer_feed(&stream->lines, bytes, len, stream_emit, stream);
    stream->inside_line = bytes[len - 1] != '\n';
    stream->heard = clock_monotonic_seconds();
    if (stream->lines.rest.len && !ev_is_active(&stream->idle))
        stream_watch_idle(stream, stream->patience);
}

/* A last line without newline waits until all whole lines of this node are out, or until it was
 * idle; one that is printed in part already ends here. */
static void stream_end(struct stream *stream)
{
    if (stream->fd < 0)
        return;
    ev_io_stop(stream->output->all->loop, &stream->io);
    close(stream->fd);
    stream->fd = -1;
    if (!stream->open_line)
        return;
    line_buffer_end(&stream->lines, stream_emit, stream);
    if (stream->open_line) /* no bytes: the line will not go on */
        stream_emit(stream, "", 0, false);
}

/* ---- reading ---- */

static void outputs_watch(struct task_outputs *all, void (*watch)(struct ev_loop *, ev_io *))
{
    struct task_output *output;
    TAILQ_FOREACH(output, &all->open, link)
    for (int s = 0; s < 2; s++)
        if (output->streams[s].fd >= 0)
            watch(all->loop, &output->streams[s].io);
}

/* Returns true while there may be more to read at once. */
static bool stream_read(struct stream *stream)
{
    static char bytes[STREAM_READ];
    struct task_output *output = stream->output;
    struct task_outputs *all = output->all;
    if (stream->fd < 0 || all->held)
        return false;
    ssize_t n = read(stream->fd, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) {
        stream_end(stream);
        return false;
    }
    output->config.active(output->config.owner);
    stream_feed(stream, bytes, (size_t)n);
    if (!uplink_is_lost(all->uplink) && !uplink_room(all->uplink)) {
        all->held = true;
        outputs_watch(all, ev_io_stop);
    }
    return !all->held;
}

static void stream_on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    (void)events;
    stream_read(io->data);
}

bool task_output_drain(struct task_output *output)
{
    for (int s = 0; s < 2 && output->opened; s++)
        while (stream_read(&output->streams[s]))
            ;
    return !output->all->held;
}

void task_output_say(struct task_output *output, bool error, const char *text)
{
    struct stream *stream = &output->streams[error];
    struct stream early = {.output = output, .flag = error ? FRAME_STDERR : 0};
    if (output->opened) {
        if (stream->inside_line)
            stream_feed(stream, "\n", 1);
        stream_feed(stream, text, strlen(text));
        return;
    }
    /* it was executed a moment ago: nothing of it is read yet */
    line_buffer_init(&early.lines, false);
    line_buffer_feed(&early.lines, text, strlen(text), stream_emit, &early);
    line_buffer_end(&early.lines, stream_emit, &early);
    line_buffer_free(&early.lines);
}

/* ---- life ---- */

static void stream_open(struct stream *stream, struct task_output *output, int fd, uint16_t flag)
{
    *stream = (struct stream){.output = output, .fd = fd, .flag = flag};
    stream->patience = flag ? output->config.error_idle : output->config.output_idle;
    line_buffer_init(&stream->lines, output->config.unbuffered);
    ev_timer_init(&stream->idle, stream_on_idle, 0, 0);
    stream->idle.data = stream;
    if (fd < 0)
        return;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    ev_io_init(&stream->io, stream_on_readable, fd, EV_READ);
    stream->io.data = stream;
    if (!output->all->held)
        ev_io_start(output->all->loop, &stream->io);
}

struct task_output *task_output_new(struct task_outputs *outputs,
                                    const struct task_output_config *config)
{
    struct task_output *output = mem_alloc(sizeof(*output));
    output->all = outputs;
    output->config = *config;
    return output;
}

void task_output_open(struct task_output *output, int out, int error)
{
    output->opened = true;
    TAILQ_INSERT_TAIL(&output->all->open, output, link);
    stream_open(&output->streams[0], output, out, 0);
    stream_open(&output->streams[1], output, error, FRAME_STDERR);
}

bool task_output_is_open(const struct task_output *output)
{
    return output->opened && (output->streams[0].fd >= 0 || output->streams[1].fd >= 0);
}

void task_output_close(struct task_output *output)
{
    for (int s = 0; s < 2 && output->opened; s++) {
        struct stream *stream = &output->streams[s];
        stream_end(stream);
        line_buffer_end(&stream->lines, stream_emit, stream);
        ev_timer_stop(output->all->loop, &stream->idle);
        stream->patience = INFINITY;
        line_buffer_free(&stream->lines);
    }
}

void task_output_free(struct task_output *output)
{
    if (!output)
        return;
    task_output_close(output);
    if (output->opened)
        TAILQ_REMOVE(&output->all->open, output, link);
    free(output);
}

struct task_outputs *task_outputs_new(struct ev_loop *loop, struct uplink *uplink)
{
    struct task_outputs *outputs = mem_alloc(sizeof(*outputs));
    outputs->loop = loop;
    outputs->uplink = uplink;
    TAILQ_INIT(&outputs->open);
    return outputs;
}

void task_outputs_free(struct task_outputs *outputs)
{
    free(outputs);
}

bool task_outputs_are_held(const struct task_outputs *outputs)
{
    return outputs->held;
}

void task_outputs_resume(struct task_outputs *outputs)
{
    if (!outputs->held)
        return;
    outputs->held = false;
    outputs_watch(outputs, ev_io_start);
}

void task_outputs_forsake(struct task_outputs *outputs)
{
    outputs->held = false;
}
