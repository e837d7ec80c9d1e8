/* The socket on which a manager takes orders of commands: its clients, their bounds, their requests. */
#include "launcher/control/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/printable.h"
#include "launcher/control/authorize.h"
#include "launcher/control/control_address.h"
#include "launcher/tree/link.h"

#define CLIENTS_MAX 32
#define CLIENT_BACKLOG 64
#define CLIENT_BYTES                                                                               \
    (1u << 20)          /* of a request, and of what a client does not read beyond its answer */
#define CLIENT_TIME 5.0 /* s to say a request, and again to take the answer */
#define INPUT_MOST                                                                                 \
    (LINK_WINDOW + CLIENT_BYTES) /* of input that has not gone on, with a whole frame too many */
#define FULL_PAUSE 1.0           /* s without new clients where there are no descriptors */
#define CLIENT_GRACE 0.5 /* s that a client has before it is closed for one that waits to connect */
#define GRACE_PAUSE 0.1  /* s until those that have had it are looked for again */

struct control_peer {
    struct control_peer *next; /* younger */
    struct control_socket *control;
    struct link *link; /* NULL once it is gone */
    struct ucred cred;
    bool asked;    /* its request was read */
    bool answered; /* or is to get none */
    bool stays;    /* it sends input */
    bool stayed;   /* or did */
    size_t owed;   /* bytes of that for which it was given no credit again */
    ev_timer timeout;
};

struct control_socket {
    struct ev_loop *loop;
    const struct control_socket_ops *ops;
    void *owner;
    int dir; /* borrowed */
    int fd;  /* -1: shut */
    ev_io acceptor;
    ev_timer pause;
    struct control_peer *clients; /* the oldest first */
    size_t nclients;
};

/* New clients are taken (again). */
static void control_resume(struct control_socket *control)
{
    ev_timer_stop(control->loop, &control->pause);
    if (control->fd >= 0)
        ev_io_start(control->loop, &control->acceptor);
}

/* ---- clients ---- */

static void peer_close(struct control_peer *peer)
{
    ev_timer_stop(peer->control->loop, &peer->timeout);
    link_free(peer->link);
    peer->link = NULL;
}

/* It is gone, or has been long enough; one that still gets an answer stays until then. */
static void peer_drop(struct control_peer *peer)
{
    struct control_socket *control = peer->control;
    struct control_peer **at = &control->clients;
    peer_close(peer);
    if (peer->asked && !peer->answered)
        return;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    control->nclients--;
    control_resume(control);
    if (peer->stays)
        control->ops->left(control->owner, peer);
    free(peer);
}

static void peer_on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    peer_drop(timer->data);
}

static void peer_set_timeout(struct control_peer *peer)
{
    ev_timer_stop(peer->control->loop, &peer->timeout);
    ev_timer_set(&peer->timeout, CLIENT_TIME, 0);
    ev_timer_start(peer->control->loop, &peer->timeout);
}

static void peer_send(struct control_peer *peer, const struct control_answer *answer)
{
    json_t *value = control_answer_to_json(answer);
    link_send_json(peer->link, FRAME_CONTROL, 0, 0, value);
    json_decref(value);
}

/* It closes when it has read that; until then it has some time. */
void control_peer_answer(struct control_peer *peer, const struct control_answer *answer)
{
    peer->answered = true;
    peer->stays = false;
    if (!peer->link) {
        peer_drop(peer);
        return;
    }
    peer_send(peer, answer);
    link_shutdown(peer->link);
    peer_set_timeout(peer);
}

bool control_peer_stay(struct control_peer *peer, const struct control_answer *answer)
{
    peer->answered = true;
    if (!peer->link) {
        peer_drop(peer);
        return false;
    }
    peer->stays = peer->stayed = true;
    peer_send(peer, answer);
    return true;
}

void control_peer_note(struct control_peer *peer, const char *text)
{
    link_send(peer->link, &(struct frame){.type = FRAME_NOTE, .bytes = text, .len = strlen(text)});
}

void control_peer_settle(struct control_peer *peer)
{
    link_consumed(peer->link, peer->owed);
    peer->owed = 0;
}

/* One that sends more than it was given credit for is no client of ours. */
static void peer_take_input(struct control_peer *peer, const struct frame *frame)
{
    peer->owed += link_weight(frame);
    if (peer->owed > INPUT_MOST)
        peer_drop(peer);
    else
        peer->control->ops->input(peer->control->owner, peer, frame);
}

static void peer_refuse(struct control_peer *peer, const struct error *err)
{
    struct control_answer answer = {0};
    control_answer_refuse(&answer, CONTROL_REFUSED, "%s", error_text(err));
    control_peer_answer(peer, &answer);
    control_answer_clear(&answer);
}

/* "tpctl (pid 4711)"; a name may hold anything. Caller frees. */
static char *peer_who(const struct control_peer *peer)
{
    char path[64];
    struct buf name = BUF_INIT, who = BUF_INIT;
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)peer->cred.pid);
    file_read(path, &name);
    printable_add(&who, buf_text(&name), strcspn(buf_text(&name), "\n"), PRINTABLE_WORD);
    buf_printf(&who, " (pid %d)", (int)peer->cred.pid);
    buf_free(&name);
    return buf_take_text(&who);
}

static void peer_take_request(struct control_peer *peer, const struct frame *frame)
{
    struct error err = ERROR_INIT;
    struct control_request request = {0};
    json_t *value = frame_json(frame, &err);
    peer->asked = true;
    ev_timer_stop(peer->control->loop, &peer->timeout);
    if (value && control_request_from_json(&request, value, &err) == 0 &&
        authorize(control_method_name(request.method), peer->cred.uid, geteuid(), &err) == 0) {
        char *who = peer_who(peer);
        peer->control->ops->request(peer->control->owner, peer, &request, who);
        free(who);
    } else {
        peer_refuse(peer, &err);
    }
    control_request_clear(&request);
    error_clear(&err);
    json_decref(value);
}

/* It says one thing, and then perhaps sends input, also on the way when no more is taken. */
static void peer_on_frame(struct link *link, void *arg, const struct frame *frame)
{
    struct control_peer *peer = arg;
    bool input = frame->type == FRAME_STDIN || frame->type == FRAME_STDIN_END;
    (void)link;
    if (frame->type == FRAME_CONTROL && !peer->asked)
        peer_take_request(peer, frame);
    else if (input && peer->stays)
        peer_take_input(peer, frame);
    else if (!input || !peer->stayed)
        peer_drop(peer);
}

static void peer_on_closed(struct link *link, void *arg, const struct error *why)
{
    (void)link, (void)why;
    peer_drop(arg);
}

static const struct link_ops peer_link_ops = {peer_on_frame, NULL, peer_on_closed, NULL, NULL};

/* ---- the socket ---- */

/* It has not said its request, or not taken its answer, for long enough that this is no matter of a busy machine. */
static bool peer_is_idle(struct control_peer *peer)
{
    if (!ev_is_active(&peer->timeout))
        return false;
    return CLIENT_TIME - ev_timer_remaining(peer->control->loop, &peer->timeout) >= CLIENT_GRACE;
}

/* Who connects and says nothing makes place for who does. */
static void drop_idle(struct control_socket *control)
{
    struct control_peer *peer = control->clients;
    while (peer && !peer_is_idle(peer))
        peer = peer->next;
    if (peer)
        peer_drop(peer);
}

static void control_on_pause(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    control_resume(timer->data);
}

static void control_pause(struct control_socket *control, double seconds)
{
    ev_io_stop(control->loop, &control->acceptor);
    ev_timer_set(&control->pause, seconds, 0);
    ev_timer_start(control->loop, &control->pause);
}

static void control_on_connect(struct ev_loop *loop, ev_io *io, int events)
{
    struct control_socket *control = io->data;
    (void)loop, (void)events;
    if (control->nclients >= CLIENTS_MAX)
        drop_idle(control);
    if (control->nclients >= CLIENTS_MAX) {
        control_pause(control, GRACE_PAUSE);
        return;
    }
    int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            control_pause(control, FULL_PAUSE);
        return;
    }
    struct ucred cred;
    socklen_t len = sizeof(cred);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0) {
        close(fd);
        return;
    }
    struct control_peer *peer = mem_alloc(sizeof(*peer)), **last = &control->clients;
    *peer = (struct control_peer){.control = control, .cred = cred};
    peer->link = link_new(control->loop, fd, fd, &peer_link_ops, peer);
    link_bound(peer->link, CLIENT_BYTES);
    ev_timer_init(&peer->timeout, peer_on_timeout, 0, 0);
    peer->timeout.data = peer;
    peer_set_timeout(peer);
    while (*last)
        last = &(*last)->next;
    *last = peer;
    control->nclients++;
}

/* The mode of the socket becomes that of its file. */
static int control_bind(int fd, int dir)
{
    struct sockaddr_un address;
    control_address(&address, dir);
    if (fchmod(fd, 0600) < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return 0;
    if (errno != EADDRINUSE || unlinkat(dir, CONTROL_NAME, 0) < 0)
        return -1;
    return bind(fd, (struct sockaddr *)&address, sizeof(address));
}

struct control_socket *control_socket_open(struct ev_loop *loop, int dir,
                                           const struct control_socket_ops *ops, void *owner,
                                           struct error *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || control_bind(fd, dir) < 0 || listen(fd, CLIENT_BACKLOG) < 0) {
        error_set(err, "cannot listen on the program's control socket: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct control_socket *control = mem_alloc(sizeof(*control));
    *control =
        (struct control_socket){.loop = loop, .ops = ops, .owner = owner, .dir = dir, .fd = fd};
    ev_io_init(&control->acceptor, control_on_connect, fd, EV_READ);
    ev_timer_init(&control->pause, control_on_pause, 0, 0);
    control->acceptor.data = control->pause.data = control;
    ev_io_start(loop, &control->acceptor);
    return control;
}

void control_socket_shut(struct control_socket *control)
{
    if (control->fd < 0)
        return;
    unlinkat(control->dir, CONTROL_NAME, 0);
    ev_io_stop(control->loop, &control->acceptor);
    ev_timer_stop(control->loop, &control->pause);
    close(control->fd);
    control->fd = -1;
}

void control_socket_free(struct control_socket *control)
{
    if (!control)
        return;
    control_socket_shut(control);
    while (control->clients) {
        struct control_peer *peer = control->clients;
        control->clients = peer->next;
        if (peer->link)
            link_flush(peer->link, 0);
        peer_close(peer);
        free(peer);
    }
    free(control);
}

void control_socket_disown(struct control_socket *control)
{
    if (!control)
        return;
    if (control->fd >= 0)
        close(control->fd);
    for (struct control_peer *peer = control->clients; peer; peer = peer->next)
        link_disown(peer->link);
}
