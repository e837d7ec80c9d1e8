/* Frames for channels, as a broken other side would send them, between turns of a process here that reads and writes
 * little: no more is sent than there is credit for, and nothing of a channel that is over. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/tree/channels.h"
#include "tests/fuzz/fuzz.h"

enum { CHANNELS = 3 };

static struct sender {
    uint64_t window; /* what may be sent */
    bool over;       /* its end was sent */
} senders[CHANNELS];

static void check_sent(void *owner, const struct frame *frame)
{
    (void)owner;
    if (frame->type == FRAME_CHANNEL && frame->len) {
        check(frame->rank < CHANNELS);
        struct sender *sender = &senders[frame->rank];
        check(!sender->over && frame->len <= sender->window);
        sender->window -= frame->len;
        check(!(frame->flags & FRAME_CHANNEL_OPEN));
    } else if (frame->type == FRAME_CHANNEL) {
        check(frame->flags & FRAME_CHANNEL_END);
        if (frame->node == 0 && frame->rank < CHANNELS)
            senders[frame->rank].over = true;
    } else {
        check(frame->type == FRAME_CHANNEL_CREDIT);
        check(frame->flags & FRAME_CHANNEL_CLOSED ? !frame->len : frame->len == 8);
    }
}

static const struct channels_ops ops = {check_sent};

/* The frame that these bytes describe. Credit that is too much is none. */
static void take_frame(struct channels *channels, const uint8_t *bytes)
{
    static char text[CHANNEL_WINDOW];
    unsigned char credit[8];
    uint64_t more = (uint64_t)bytes[2] << (bytes[3] % 56);
    struct frame frame = {.node = bytes[1] >> 6 ? 0 : 1, .rank = bytes[1] & 3, .bytes = text};
    frame.type = bytes[0] & 1 ? FRAME_CHANNEL : FRAME_CHANNEL_CREDIT;
    frame.flags = bytes[0] & 2 ? FRAME_CHANNEL_END : 0;
    if (frame.type == FRAME_CHANNEL) {
        frame.len = (size_t)bytes[2] * bytes[3] * 4;
    } else {
        frame.flags = bytes[0] & 2 ? FRAME_CHANNEL_CLOSED : 0;
        frame_put_u64(credit, more);
        frame.bytes = credit;
        frame.len = bytes[0] & 4 ? bytes[3] % 8 : 8;
        struct sender *sender =
            frame.rank < CHANNELS && frame.node == 0 ? &senders[frame.rank] : NULL;
        if (sender && frame.len == 8 && more <= CHANNEL_WINDOW - sender->window)
            sender->window += more;
    }
    channels_take(channels, &frame);
}

/* The process at the other end of the descriptor does something. */
static void take_turn(int *fd, const uint8_t *bytes)
{
    static char text[65536];
    size_t len = (size_t)bytes[2] * bytes[3];
    if (*fd < 0)
        return;
    if (bytes[0] & 2)
        (void)!read(*fd, text, len);
    else if (bytes[0] & 4)
        (void)!send(*fd, text, len, MSG_NOSIGNAL);
    else if (bytes[0] & 8)
        shutdown(*fd, bytes[0] & 16 ? SHUT_RD : SHUT_WR);
    else if (bytes[0] & 32)
        close(*fd), *fd = -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fds[CHANNELS];
    struct ev_loop *loop = ev_loop_new(EVBACKEND_POLL);
    struct channels *channels = channels_new(loop, &ops, NULL);
    for (uint32_t i = 0; i < CHANNELS; i++) {
        int pair[2];
        check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
        senders[i] = (struct sender){.window = CHANNEL_WINDOW};
        channels_add(channels, 0, i, pair[1]);
        fds[i] = pair[0];
    }
    for (; size >= 4; data += 4, size -= 4) {
        if (data[0] & 128)
            take_frame(channels, data);
        else
            take_turn(&fds[data[1] % CHANNELS], data);
        ev_run(loop, EVRUN_NOWAIT);
    }
    channels_free(channels);
    for (uint32_t i = 0; i < CHANNELS; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    ev_loop_destroy(loop);
    return 0;
}
