/* Byte streams over frames: one entry for each descriptor, its window, what waits to be written to it. */
#include "launcher/tree/channels.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/hash_table.h"
#include "base/mem.h"

#define PIECE 65536               /* bytes that are read at a time */
#define PAID (CHANNEL_WINDOW / 4) /* bytes after which credit is given back */
#define MANY 64                   /* at once, after which memory is given back */

struct channel {
    struct channels *channels;
    uint32_t node, number; /* its name */
    uint32_t place;        /* in the list */
    int fd;
    ev_io reader, writer;
    size_t window;    /* bytes that may still be sent */
    size_t unpaid;    /* that were written, and for which no credit was given */
    struct buf out;   /* that wait to be written */
    bool read_over;   /* nothing more is sent */
    bool write_over;  /* nothing more comes */
    bool write_ended; /* the descriptor was told that */
};

struct channels {
    struct ev_loop *loop;
    const struct channels_ops *ops;
    void *owner;
    struct channel **list;
    size_t capacity;
    struct hash_table places; /* in the list, by name */
    size_t most;              /* at once, since there were none */
};

struct channel_name {
    uint32_t node, number;
};

static uint64_t name_hash(uint32_t node, uint32_t number)
{
    return hash_table_hash(hash_table_hash(0, node), number);
}

static bool has_name(const void *owner, uint32_t place, const void *thing)
{
    const struct channel *channel = ((const struct channels *)owner)->list[place];
    const struct channel_name *name = thing;
    return channel->node == name->node && channel->number == name->number;
}

/* NULL: there is none of this name. */
static struct channel *channel_find(const struct channels *channels, uint32_t node, uint32_t number)
{
    const struct channel_name name = {node, number};
    uint32_t place =
        hash_table_find(&channels->places, name_hash(node, number), has_name, channels, &name);
    return place == HASH_TABLE_NONE ? NULL : channels->list[place];
}

/* A thousand programs at once take megabytes, which the allocator would keep. */
static void give_back_memory(struct channels *channels)
{
    if (channels->places.count || channels->most < MANY)
        return;
    channels->most = 0;
    malloc_trim(0);
}

/* The last one of the list takes its place. */
static void channel_close(struct channel *channel)
{
    struct channels *channels = channel->channels;
    struct channel *last = channels->list[channels->places.count - 1];
    hash_table_remove(&channels->places, channel->place, name_hash(channel->node, channel->number),
                      name_hash(last->node, last->number));
    channels->list[channel->place] = last;
    last->place = channel->place;
    ev_io_stop(channels->loop, &channel->reader);
    ev_io_stop(channels->loop, &channel->writer);
    close(channel->fd);
    buf_free(&channel->out);
    free(channel);
    give_back_memory(channels);
}

static void send_end(struct channels *channels, uint32_t node, uint32_t number, const void *bytes,
                     size_t len)
{
    struct frame end = {.type = FRAME_CHANNEL,
                        .flags = FRAME_CHANNEL_END,
                        .node = node,
                        .rank = number,
                        .bytes = bytes,
                        .len = len};
    channels->ops->send(channels->owner, &end);
}

/* Nothing that the other side sends is taken any more. */
static void send_closed(struct channels *channels, uint32_t node, uint32_t number)
{
    struct frame closed = {
        .type = FRAME_CHANNEL_CREDIT, .flags = FRAME_CHANNEL_CLOSED, .node = node, .rank = number};
    channels->ops->send(channels->owner, &closed);
}

static void stop_reading(struct channel *channel)
{
    if (channel->read_over)
        return;
    channel->read_over = true;
    ev_io_stop(channel->channels->loop, &channel->reader);
    send_end(channel->channels, channel->node, channel->number, NULL, 0);
}

/* Both directions are over, or the descriptor is of no use. */
static void channel_settle(struct channel *channel)
{
    if (channel->write_over && !channel->out.len && !channel->write_ended) {
        channel->write_ended = true;
        shutdown(channel->fd, SHUT_WR);
    }
    if (channel->read_over && channel->write_ended)
        channel_close(channel);
}

/* ---- from the descriptor to the other side ---- */

static void channel_on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct channel *channel = io->data;
    char bytes[PIECE];
    size_t most = channel->window < sizeof(bytes) ? channel->window : sizeof(bytes);
    ssize_t got = read(channel->fd, bytes, most);
    (void)events;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        stop_reading(channel);
        channel_settle(channel);
        return;
    }
    struct frame frame = {.type = FRAME_CHANNEL,
                          .node = channel->node,
                          .rank = channel->number,
                          .bytes = bytes,
                          .len = (size_t)got};
    channel->window -= (size_t)got;
    if (!channel->window)
        ev_io_stop(loop, &channel->reader);
    channel->channels->ops->send(channel->channels->owner, &frame);
}

static void take_credit(struct channel *channel, const struct frame *frame)
{
    uint64_t more = frame->len >= 8 ? frame_get_u64(frame->bytes) : 0;
    if (frame->flags & FRAME_CHANNEL_CLOSED) {
        stop_reading(channel);
        channel_settle(channel);
        return;
    }
    if (channel->read_over || more > CHANNEL_WINDOW - channel->window)
        return;
    channel->window += (size_t)more;
    if (channel->window)
        ev_io_start(channel->channels->loop, &channel->reader);
}

/* ---- from the other side to the descriptor ---- */

static void give_credit(struct channel *channel)
{
    unsigned char bytes[8];
    struct frame frame = {.type = FRAME_CHANNEL_CREDIT,
                          .node = channel->node,
                          .rank = channel->number,
                          .bytes = bytes,
                          .len = sizeof(bytes)};
    if (channel->unpaid < PAID || channel->write_over)
        return;
    frame_put_u64(bytes, channel->unpaid);
    channel->unpaid = 0;
    channel->channels->ops->send(channel->channels->owner, &frame);
}

/* The descriptor takes nothing any more. What can still be read from it is sent: a process that has ended may have
 * written before. */
static void stop_writing(struct channel *channel)
{
    if (!channel->write_over)
        send_closed(channel->channels, channel->node, channel->number);
    ev_io_stop(channel->channels->loop, &channel->writer);
    buf_free(&channel->out);
    channel->write_over = channel->write_ended = true;
    channel_settle(channel);
}

static void channel_write(struct channel *channel)
{
    while (channel->out.len) {
        ssize_t done = send(channel->fd, buf_bytes(&channel->out), channel->out.len, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EAGAIN) {
            ev_io_start(channel->channels->loop, &channel->writer);
            give_credit(channel);
            return;
        }
        if (done < 0) {
            stop_writing(channel);
            return;
        }
        buf_consume(&channel->out, (size_t)done);
        channel->unpaid += (size_t)done;
    }
    ev_io_stop(channel->channels->loop, &channel->writer);
    give_credit(channel);
    channel_settle(channel);
}

static void channel_on_writable(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop, (void)events;
    channel_write(io->data);
}

static void take_bytes(struct channel *channel, const struct frame *frame)
{
    if (channel->write_over)
        return;
    /* More than was allowed: the other side is broken, and the channel is of no use. */
    if (frame->len > CHANNEL_WINDOW - channel->out.len - channel->unpaid) {
        stop_reading(channel);
        stop_writing(channel);
        return;
    }
    buf_add(&channel->out, frame->bytes, frame->len);
    channel->write_over = frame->flags & FRAME_CHANNEL_END;
    channel_write(channel);
}

void channels_take(struct channels *channels, const struct frame *frame)
{
    struct channel *channel = channel_find(channels, frame->node, frame->rank);
    bool over = frame->type != FRAME_CHANNEL || frame->flags & FRAME_CHANNEL_END;
    if (channel && frame->type == FRAME_CHANNEL)
        take_bytes(channel, frame);
    else if (channel)
        take_credit(channel, frame);
    else if (!over)
        channels_refuse(channels, frame->node, frame->rank, NULL, 0);
}

/* ---- life ---- */

struct channels *channels_new(struct ev_loop *loop, const struct channels_ops *ops, void *owner)
{
    struct channels *channels = mem_alloc(sizeof(*channels));
    *channels = (struct channels){.loop = loop, .ops = ops, .owner = owner};
    return channels;
}

void channels_free(struct channels *channels)
{
    if (!channels)
        return;
    while (channels->places.count)
        channel_close(channels->list[channels->places.count - 1]);
    hash_table_free(&channels->places);
    free(channels->list);
    free(channels);
}

void channels_add(struct channels *channels, uint32_t node, uint32_t number, int fd)
{
    struct channel *channel = channel_find(channels, node, number);
    const struct channel_name name = {node, number};
    if (channel) /* the other side is broken */
        channel_close(channel);
    size_t count = channels->places.count;
    channel = mem_alloc(sizeof(*channel));
    *channel = (struct channel){.channels = channels,
                                .node = node,
                                .number = number,
                                .place = (uint32_t)count,
                                .fd = fd,
                                .window = CHANNEL_WINDOW};
    channels->list =
        array_reserve(channels->list, &channels->capacity, count + 1, sizeof(struct channel *));
    hash_table_intern(&channels->places, name_hash(node, number), has_name, channels, &name);
    channels->list[count] = channel;
    channels->most = count + 1 > channels->most ? count + 1 : channels->most;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    ev_io_init(&channel->reader, channel_on_readable, fd, EV_READ);
    ev_io_init(&channel->writer, channel_on_writable, fd, EV_WRITE);
    channel->reader.data = channel->writer.data = channel;
    ev_io_start(channels->loop, &channel->reader);
    ev_feed_event(channels->loop, &channel->reader,
                  EV_READ); /* what has come already goes with the opening frame */
}

void channels_refuse(struct channels *channels, uint32_t node, uint32_t number, const void *bytes,
                     size_t len)
{
    send_end(channels, node, number, bytes, len);
    send_closed(channels, node, number);
}

void channels_drop(struct channels *channels, const struct idset *nodes)
{
    for (size_t i = channels->places.count; i-- > 0;) /* what takes a place was looked at */
        if (idset_has(nodes, channels->list[i]->node))
            channel_close(channels->list[i]);
}

size_t channels_count(const struct channels *channels)
{
    return channels->places.count;
}
