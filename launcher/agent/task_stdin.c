/* stdin of one task, the last step of --input: a pipe that is written without blocking. */
#include "launcher/agent/task_stdin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define LAG_MAX 65536 /* bytes a task may lag behind before stdin waits for it */

struct task_stdin {
    struct ev_loop *loop;
    bool reads; /* it has not closed it */
    bool ended; /* nothing more is to come */
    int fd;     /* -1: not started yet, or closed */
    struct buf bytes;
    ev_io io;
    void (*written)(void *owner);
    void *owner;
};

struct task_stdin *task_stdin_new(struct ev_loop *loop, void (*written)(void *owner), void *owner)
{
    struct task_stdin *input = mem_alloc(sizeof(*input));
    *input = (struct task_stdin){
        .loop = loop, .reads = true, .fd = -1, .written = written, .owner = owner};
    return input;
}

void task_stdin_close(struct task_stdin *input)
{
    if (!input)
        return;
    input->reads = false;
    buf_free(&input->bytes);
    if (input->fd < 0)
        return;
    ev_io_stop(input->loop, &input->io);
    close(input->fd);
    input->fd = -1;
}

void task_stdin_free(struct task_stdin *input)
{
    task_stdin_close(input);
    free(input);
}

static void write_waiting(struct task_stdin *input)
{
    if (input->fd < 0)
        return;
    while (input->bytes.len) {
        ssize_t n = write(input->fd, buf_bytes(&input->bytes), input->bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) { /* the task does not want it any more */
            task_stdin_close(input);
            return;
        }
        buf_consume(&input->bytes, (size_t)n);
    }
    if (input->bytes.len)
        ev_io_start(input->loop, &input->io);
    else
        ev_io_stop(input->loop, &input->io);
    if (!input->bytes.len && input->ended)
        task_stdin_close(input);
}

static void task_stdin_on_writable(struct ev_loop *loop, ev_io *io, int events)
{
    struct task_stdin *input = io->data;
    (void)loop;
    (void)events;
    write_waiting(input);
    input->written(input->owner);
}

void task_stdin_open(struct task_stdin *input, int fd)
{
    input->fd = fd;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    ev_io_init(&input->io, task_stdin_on_writable, fd, EV_WRITE);
    input->io.data = input;
    write_waiting(input);
}

void task_stdin_write(struct task_stdin *input, const void *bytes, size_t len, bool end)
{
    if (!task_stdin_reads(input))
        return;
    buf_add(&input->bytes, bytes, len);
    input->ended |= end;
    write_waiting(input);
}

void task_stdin_look(struct task_stdin *input)
{
    struct pollfd look = {.fd = input ? input->fd : -1, .events = POLLOUT};
    if (look.fd >= 0 && poll(&look, 1, 0) > 0 && look.revents & POLLERR)
        task_stdin_close(input);
}

bool task_stdin_reads(const struct task_stdin *input)
{
    return input && input->reads;
}

bool task_stdin_is_open(const struct task_stdin *input)
{
    return task_stdin_reads(input) && !input->ended;
}

bool task_stdin_waits(const struct task_stdin *input)
{
    return task_stdin_reads(input) && input->bytes.len;
}

bool task_stdin_lags(const struct task_stdin *input)
{
    return task_stdin_reads(input) && input->bytes.len > LAG_MAX;
}
