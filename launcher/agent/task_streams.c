/* What tasks write is cut into lines and sent up while there is credit; what they read comes down
 * and is given back as credit once every reader has taken it. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "launcher/agent/internal.h"

#define STREAM_READ 65536
#define INPUT_PATIENCE 65536 /* bytes a task may lag behind before stdin waits for it */

/* ---- output ---- */

static void stream_emit(void *arg, const char *bytes, size_t len, bool unfinished)
{
    struct stream *stream = arg;
    struct agent *agent = stream->task->group->agent;
    struct frame frame = {.type = FRAME_OUTPUT,
                          .flags = (uint16_t)(stream->flag | (unfinished ? FRAME_UNFINISHED : 0)),
                          .node = uplink_node(agent->uplink),
                          .rank = task_rank(stream->task),
                          .group = stream->task->group->number,
                          .bytes = bytes,
                          .len = len};
    stream->open_line = unfinished;
    uplink_send(agent->uplink, &frame);
}

static void stream_watch_idle(struct stream *stream, double seconds)
{
    if (!isfinite(stream->patience))
        return;
    ev_timer_set(&stream->idle, seconds, 0);
    ev_timer_start(stream->task->group->agent->loop, &stream->idle);
}

/* An unfinished line: a prompt, unless more of it has come since the timer was started. */
static void stream_idle(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct stream *stream = timer->data;
    double left = stream->heard + stream->patience - ev_now(loop);
    (void)events;
    if (!stream->lines.rest.len)
        return;
    if (stream->task->group->agent->stalled)
        left = stream->patience;
    if (left > 0)
        stream_watch_idle(stream, left);
    else
        line_buffer_idle(&stream->lines, stream_emit, stream);
}

static void stream_feed(struct stream *stream, const char *bytes, size_t len)
{
    struct ev_loop *loop = stream->task->group->agent->loop;
    line_buffer_feed(&stream->lines, bytes, len, stream_emit, stream);
    stream->inside = bytes[len - 1] != '\n';
    stream->heard = ev_now(loop);
    if (stream->lines.rest.len && !ev_is_active(&stream->idle))
        stream_watch_idle(stream, stream->patience);
}

/* A last line without newline waits until all whole lines of this node are out, or until it was
 * idle; one that is printed in part already ends here. */
static void stream_end(struct stream *stream)
{
    if (stream->fd < 0)
        return;
    ev_io_stop(stream->task->group->agent->loop, &stream->io);
    close(stream->fd);
    stream->fd = -1;
    if (!stream->open_line)
        return;
    line_buffer_end(&stream->lines, stream_emit, stream);
    if (stream->open_line) /* no bytes: the line will not go on */
        stream_emit(stream, "", 0, false);
}

static void task_streams_stream_close(struct stream *stream)
{
    stream_end(stream);
    if (stream->task) {
        line_buffer_end(&stream->lines, stream_emit, stream);
        ev_timer_stop(stream->task->group->agent->loop, &stream->idle);
        stream->patience = INFINITY;
    }
    line_buffer_free(&stream->lines);
}

static void streams_watch(struct group *group, void (*watch)(struct ev_loop *, ev_io *))
{
    for (uint32_t i = 0; i < group->ntasks; i++)
        for (int s = 0; s < 2; s++)
            if (group->tasks[i].streams[s].fd >= 0)
                watch(group->agent->loop, &group->tasks[i].streams[s].io);
}

static void streams_stall(struct agent *agent)
{
    agent->stalled = true;
    for (struct group *group = agent->groups; group; group = group->next)
        streams_watch(group, ev_io_stop);
}

/* Returns true while there may be more to read at once. */
static bool stream_read(struct stream *stream)
{
    static char bytes[STREAM_READ];
    if (stream->fd < 0 || stream->task->group->agent->stalled)
        return false;
    struct agent *agent = stream->task->group->agent;
    ssize_t n = read(stream->fd, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) {
        stream_end(stream);
        return false;
    }
    stream->task->group->heard = ev_now(agent->loop);
    stream_feed(stream, bytes, (size_t)n);
    if (!uplink_is_lost(agent->uplink) && !uplink_room(agent->uplink))
        streams_stall(agent);
    return !agent->stalled;
}

static void stream_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct stream *stream = io->data;
    (void)loop;
    (void)events;
    stream_read(stream);
}

bool task_streams_drain(struct task *task)
{
    for (int s = 0; s < 2; s++)
        while (stream_read(&task->streams[s]))
            ;
    return !task->group->agent->stalled;
}

void task_streams_resume(struct agent *agent)
{
    if (!agent->stalled)
        return;
    agent->stalled = false;
    for (struct group *group = agent->groups; group; group = group->next) {
        group->heard = ev_now(agent->loop); /* until now nobody could say anything */
        streams_watch(group, ev_io_start);
    }
}

void task_streams_say(struct task *task, bool error, const char *text)
{
    struct stream *stream = &task->streams[error];
    struct stream early = {.task = task, .flag = error ? FRAME_STDERR : 0};
    if (stream->task) {
        if (stream->inside)
            stream_feed(stream, "\n", 1);
        stream_feed(stream, text, strlen(text));
        return;
    }
    line_buffer_init(&early.lines,
                     false); /* it was executed a moment ago: nothing of it is read yet */
    line_buffer_feed(&early.lines, text, strlen(text), stream_emit, &early);
    line_buffer_end(&early.lines, stream_emit, &early);
    line_buffer_free(&early.lines);
}

static void stream_open(struct stream *stream, struct task *task, int fd, uint16_t flag)
{
    const struct spec *spec = task->group->launch->spec;
    stream->task = task;
    stream->fd = fd;
    stream->flag = flag;
    stream->patience = flag ? spec->error_idle : spec->output_idle;
    line_buffer_init(&stream->lines, spec->unbuffered);
    ev_timer_init(&stream->idle, stream_idle, 0, 0);
    stream->idle.data = stream;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    ev_io_init(&stream->io, stream_readable, fd, EV_READ);
    stream->io.data = stream;
    if (!task->group->agent->stalled)
        ev_io_start(task->group->agent->loop, &stream->io);
}

/* ---- input: of the first group ---- */

static void input_close(struct task *task)
{
    task->reads = false;
    buf_free(&task->input_bytes);
    if (task->input < 0)
        return;
    ev_io_stop(task->group->agent->loop, &task->input_io);
    close(task->input);
    task->input = -1;
}

static void input_write(struct task *task)
{
    if (task->input < 0)
        return;
    while (task->input_bytes.len) {
        ssize_t n = write(task->input, buf_bytes(&task->input_bytes), task->input_bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) { /* the task does not want it any more */
            input_close(task);
            return;
        }
        buf_consume(&task->input_bytes, (size_t)n);
    }
    if (task->input_bytes.len)
        ev_io_start(task->group->agent->loop, &task->input_io);
    else
        ev_io_stop(task->group->agent->loop, &task->input_io);
    if (!task->input_bytes.len && task->input_ended)
        input_close(task);
}

static void input_writable(struct ev_loop *loop, ev_io *io, int events)
{
    struct task *task = io->data;
    (void)loop;
    (void)events;
    input_write(task);
    task_streams_input_settle(task->group->agent);
}

bool task_streams_push(struct task *task, const void *bytes, size_t len, bool end)
{
    if (task->group->launch->spec->input != SPEC_INPUT_TOOLS || !task->reads || task->input_ended)
        return false;
    buf_add(&task->input_bytes, bytes, len);
    task->input_ended |= end;
    input_write(task);
    return true;
}

bool task_streams_lag(const struct agent *agent)
{
    const struct group *first = group_find(agent, 0);
    for (uint32_t i = 0; first && i < first->ntasks; i++)
        if (first->tasks[i].reads && first->tasks[i].input_bytes.len > INPUT_PATIENCE)
            return true;
    return false;
}

void task_streams_input_settle(struct agent *agent)
{
    pmix_settle_input(agent);
    if (!agent->input_owed || uplink_is_lost(agent->uplink))
        return;
    if (task_streams_lag(agent) || !downlink_has_room(agent->downlink, agent->input_nodes))
        return;
    uplink_consumed(agent->uplink, agent->input_owed);
    agent->input_owed = 0;
}

void task_streams_input(struct agent *agent, const struct frame *frame)
{
    if (agent->input_nodes)
        downlink_send_nodes(agent->downlink, agent->input_nodes, frame);
    const struct group *first = group_find(agent, 0);
    for (uint32_t i = 0; first && i < first->ntasks; i++) {
        struct task *task = &first->tasks[i];
        if (!task->reads)
            continue;
        buf_add(&task->input_bytes, frame->bytes, frame->len);
        task->input_ended |= frame->type == FRAME_STDIN_END;
        input_write(task);
    }
    agent->input_owed += link_weight(frame);
    task_streams_input_settle(agent);
}

/* ---- life ---- */

void task_streams_open(struct task *task, int output, int error, int input)
{
    stream_open(&task->streams[0], task, output, 0);
    stream_open(&task->streams[1], task, error, FRAME_STDERR);
    task->input = input;
    if (input < 0)
        return;
    fcntl(input, F_SETFL, O_NONBLOCK);
    ev_io_init(&task->input_io, input_writable, input, EV_WRITE);
    task->input_io.data = task;
    input_write(task); /* what came before it was started */
}

void task_streams_close(struct task *task)
{
    input_close(task);
    for (int s = 0; s < 2; s++)
        task_streams_stream_close(&task->streams[s]);
}
