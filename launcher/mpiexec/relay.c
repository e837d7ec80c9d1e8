/* Bytes passed on between descriptors by one poll(): tpsingleton's sessions and standard streams. */
#include "launcher/mpiexec/relay.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#define GONE (POLLERR | POLLHUP | POLLNVAL)

static bool is_temporary(int number)
{
    return number == EINTR || number == EAGAIN;
}

static void end_reading(struct relay *relay)
{
    if (relay->alone && relay->from >= 0)
        close(relay->from);
    relay->from = -1;
}

static void relay_end(struct relay *relay, enum relay_state state)
{
    end_reading(relay);
    if (relay->alone)
        close(relay->to);
    relay->state = state;
    buf_free(&relay->held);
}

/* `from` and `to` are what poll() said of the two descriptors. */
static void relay_go_on(struct relay *relay, short from, short to)
{
    if (from) {
        ssize_t got = read(relay->from, buf_reserve(&relay->held, PIPE_BUF), PIPE_BUF);
        if (got > 0)
            buf_added(&relay->held, (size_t)got);
        else if (got == 0 || !is_temporary(errno))
            end_reading(relay);
    }
    if (to & GONE) {
        relay_end(relay, RELAY_DEAF);
    } else if (to & POLLOUT) {
        /* A pipe or a socket that can be written takes so much at once: this does not wait. */
        size_t len = relay->held.len < PIPE_BUF ? relay->held.len : PIPE_BUF;
        ssize_t sent = write(relay->to, buf_bytes(&relay->held), len);
        if (sent >= 0)
            buf_consume(&relay->held, (size_t)sent);
        else if (!is_temporary(errno))
            relay_end(relay, RELAY_DEAF);
    }
    if (relay->state == RELAY_OPEN && relay->from < 0 && !relay->held.len)
        relay_end(relay, RELAY_DRY);
}

/* poll() passes over a descriptor of -1, and says without being asked that nobody hears any more. */
bool relay_turn(struct relay *relays, size_t count, int patience)
{
    struct pollfd fds[2 * RELAYS_MAX];
    for (size_t i = 0; i < count; i++) {
        bool open = relays[i].state == RELAY_OPEN;
        bool room = relays[i].held.len < RELAY_HELD_MAX;
        fds[2 * i] = (struct pollfd){.fd = open && room ? relays[i].from : -1, .events = POLLIN};
        fds[2 * i + 1] = (struct pollfd){.fd = open ? relays[i].to : -1,
                                         .events = relays[i].held.len ? POLLOUT : 0};
    }
    int ready = poll(fds, 2 * count, patience);
    for (size_t i = 0; i < count && ready > 0; i++)
        if (relays[i].state == RELAY_OPEN)
            relay_go_on(&relays[i], fds[2 * i].revents, fds[2 * i + 1].revents);
    return ready != 0;
}
