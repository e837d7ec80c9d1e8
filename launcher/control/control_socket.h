/*
 * control_socket - the manager's side of a program's control socket: the file "control" in the
 * program's directory, where commands connect, send one request and get one answer (frames, see
 * control_request.h). One that sends input stays behind its answer, and gets a second one when no
 * more is taken.
 *
 * Clients are not trusted to behave. Each has a time to say its request and to take its answer, and
 * a bound of bytes. The number of clients is limited: others wait to connect, and the oldest that
 * has sent no request, or has not taken its answer, for half a second is closed for them. Other
 * users are refused. All callbacks come from the loop.
 */
#ifndef LAUNCHER_CONTROL_CONTROL_SOCKET_H
#define LAUNCHER_CONTROL_CONTROL_SOCKET_H

#include <ev.h>
#include <stdbool.h>

#include "base/error.h"
#include "launcher/protocol/control_answer.h"
#include "launcher/protocol/control_request.h"
#include "launcher/tree/frame.h"

#define CONTROL_NAME "control" /* in the directory of a program */

struct control_socket;
struct control_peer;

struct control_socket_ops {
    /* A client that is allowed to wants this, and gets one control_peer_answer(), now or later: the
     * client is there until then, and if need be until the socket is freed. `who` is who it is,
     * "tpctl (pid 4711)"; both are borrowed. */
    void (*request)(void *owner, struct control_peer *peer, const struct control_request *request,
                    const char *who);
    /* FRAME_STDIN or FRAME_STDIN_END of one that was told to stay. control_peer_settle()
     * follows. */
    void (*input)(void *owner, struct control_peer *peer, const struct frame *frame);
    /* One that was told to stay has gone, and is not there any more. */
    void (*left)(void *owner, struct control_peer *peer);
};

/* Listen in the directory (borrowed). What is there under the name is replaced. NULL with a
 * sentence. */
struct control_socket *control_socket_open(struct ev_loop *loop, int dir,
                                           const struct control_socket_ops *ops, void *owner,
                                           struct error *err);
/* Nobody may connect any more, and the file is removed. Clients stay. */
void control_socket_shut(struct control_socket *control);
void control_socket_free(struct control_socket *control);   /* NULL is fine */
void control_socket_disown(struct control_socket *control); /* in a forked child; NULL is fine */

void control_peer_answer(struct control_peer *peer, const struct control_answer *answer);

/* ---- one that sends input ---- */

/* Answer, and have it stay until control_peer_answer() or ops->left. False: it is gone already. */
bool control_peer_stay(struct control_peer *peer, const struct control_answer *answer);
void control_peer_note(struct control_peer *peer, const char *text); /* a line for the user */
/* What came from it has gone on: it may send as much again. */
void control_peer_settle(struct control_peer *peer);

#endif
