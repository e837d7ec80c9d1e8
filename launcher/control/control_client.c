/* One request to a manager, and its answer. */
#include "launcher/control/control_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "launcher/control/authorize.h"
#include "launcher/control/control_address.h"
#include "launcher/tree/frame.h"

#define TRY_AGAIN 0.02 /* s between looks for a socket that is not there yet, or is full */
#define READ_SIZE 65536

/* ---- waiting ---- */

/* Milliseconds for poll(2); 0: the time is over. */
static int time_left(double deadline)
{
    double left = deadline - clock_monotonic_seconds();
    return left > 0 ? (int)(left * 1000) + 1 : 0;
}

static bool wait_for_fd(int fd, short events, double deadline)
{
    for (;;) {
        struct pollfd look = {.fd = fd, .events = events};
        int n = poll(&look, 1, time_left(deadline));
        if (n > 0)
            return true;
        if (n == 0 || errno != EINTR)
            return false;
    }
}

static enum control_outcome say_silent(pid_t manager, double patience, struct error *err)
{
    error_set(err, "its manager (pid %d) does not answer within %g s: it is stopped or busy",
              (int)manager, patience);
    return CONTROL_SILENT;
}

static enum control_outcome say_full(struct error *err)
{
    error_set(err, "its manager does not take new requests: it is stopped or busy");
    return CONTROL_SILENT;
}

/* ---- connecting ---- */

/* A descriptor, or -1 with errno. */
static int try_connect(int dir)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    control_address(&address, dir);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

/* No socket: the program has just begun, or is over. EAGAIN: there is a manager, and many wait to be let in. */
static enum control_outcome control_connect(int dir, double deadline, bool (*lives)(void *arg),
                                            void *arg, int *fd, struct error *err)
{
    while ((*fd = try_connect(dir)) < 0) {
        int why = errno;
        bool full = why == EAGAIN;
        if (why != ENOENT && why != ECONNREFUSED && !full) {
            error_set(err, "cannot connect to its manager: %s", strerror(why));
            return why == EACCES || why == EPERM ? CONTROL_FOREIGN : CONTROL_SILENT;
        }
        if (!full && !lives(arg))
            return CONTROL_GONE;
        if (!time_left(deadline)) {
            if (full)
                return say_full(err);
            error_set(err, "its manager does not listen yet");
            return CONTROL_SILENT;
        }
        usleep((useconds_t)(TRY_AGAIN * 1e6));
    }
    return CONTROL_SAID;
}

/* ---- asking ---- */

static bool control_send(int fd, const struct control_request *request, double deadline)
{
    unsigned char header[FRAME_HEADER];
    struct buf out = BUF_INIT;
    json_t *value = control_request_to_json(request);
    char *text = json_dumps(value, JSON_COMPACT);
    struct frame frame = {.type = FRAME_CONTROL, .bytes = text, .len = strlen(text)};
    frame_encode_header(&frame, header);
    buf_add(&out, header, FRAME_HEADER);
    buf_add(&out, text, frame.len);
    while (out.len) {
        ssize_t n = send(fd, buf_bytes(&out), out.len, MSG_NOSIGNAL);
        if (n > 0)
            buf_consume(&out, (size_t)n);
        else if (errno != EINTR && (errno != EAGAIN || !wait_for_fd(fd, POLLOUT, deadline)))
            break;
    }
    bool sent = !out.len;
    buf_free(&out);
    free(text);
    json_decref(value);
    return sent;
}

/* 1: a frame is there; 0: not yet; -1: nonsense, with a sentence. */
static int read_answer(const struct buf *in, struct control_answer *answer, struct error *err)
{
    struct frame frame;
    int rc = frame_decode(in, &frame, err);
    if (rc <= 0)
        return rc;
    json_t *value = frame.type == FRAME_CONTROL ? frame_json(&frame, err) : NULL;
    if (!value && !err->text)
        error_set(err, "expected an answer, got a frame of type %d", frame.type);
    rc = value && control_answer_from_json(answer, value, err) == 0 ? 1 : -1;
    json_decref(value);
    return rc;
}

/* What it sent before it went counts. CONTROL_GONE: the connection was closed, `*taken` where an answer had begun. */
static enum control_outcome receive_answer(int fd, double deadline, struct control_answer *answer,
                                           bool *late, bool *taken, struct error *err)
{
    struct buf in = BUF_INIT;
    enum control_outcome outcome = CONTROL_GONE;
    while (!*late) {
        int rc = read_answer(&in, answer, err);
        if (rc) {
            outcome = rc > 0 ? CONTROL_SAID : CONTROL_SILENT;
            break;
        }
        if (!wait_for_fd(fd, POLLIN, deadline)) {
            *late = true;
            break;
        }
        ssize_t n = read(fd, buf_reserve(&in, READ_SIZE), READ_SIZE);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n <= 0)
            break;
        buf_added(&in, (size_t)n);
        *taken = true;
    }
    buf_free(&in);
    return outcome;
}

/* Over this connection, which is closed unless one stays. */
static enum control_outcome ask_over(int fd, const struct control_request *request, double patience,
                                     double deadline, struct control_answer *answer, int *kept,
                                     bool *taken, struct error *err)
{
    struct error own = ERROR_INIT;
    struct ucred peer = {0};
    socklen_t len = sizeof(peer);
    bool late = false;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
        authorize(control_method_name(request->method), geteuid(), peer.uid, err) < 0) {
        close(fd);
        return CONTROL_FOREIGN;
    }
    control_send(fd, request, deadline); /* who has gone may have answered before */
    enum control_outcome outcome = receive_answer(fd, deadline, answer, &late, taken, &own);
    if (outcome == CONTROL_SAID && !answer->status)
        *kept = fd;
    else
        close(fd);
    if (late)
        return say_silent(peer.pid, patience, err);
    if (outcome == CONTROL_SILENT)
        error_set(err, "its manager's answer: %s", error_text(&own));
    error_clear(&own);
    return outcome;
}

/* Where the socket of a manager that has closed a connection is not there any more, the program is over. */
static bool lives_no_more(void *arg)
{
    (void)arg;
    return false;
}

enum control_outcome control_ask(int dir, const struct control_request *request, double patience,
                                 bool (*lives)(void *arg), void *arg, struct control_answer *answer,
                                 struct error *err)
{
    int kept;
    enum control_outcome outcome =
        control_ask_and_stay(dir, request, patience, lives, arg, answer, &kept, err);
    if (kept >= 0)
        close(kept);
    return outcome;
}

/* A manager answers each request that it takes, or ends. One that has many clients may close a connection before it
 * has read the request: so this is said again. */
enum control_outcome control_ask_and_stay(int dir, const struct control_request *request,
                                          double patience, bool (*lives)(void *arg), void *arg,
                                          struct control_answer *answer, int *kept,
                                          struct error *err)
{
    double deadline = clock_monotonic_seconds() + patience;
    *answer = (struct control_answer){0};
    *kept = -1;
    for (;;) {
        bool taken = false;
        int fd;
        enum control_outcome outcome = control_connect(dir, deadline, lives, arg, &fd, err);
        if (outcome != CONTROL_SAID)
            return outcome;
        outcome = ask_over(fd, request, patience, deadline, answer, kept, &taken, err);
        if (outcome != CONTROL_GONE || taken)
            return outcome;
        if (!time_left(deadline))
            return say_full(err);
        lives = lives_no_more;
        usleep((useconds_t)(TRY_AGAIN * 1e6));
    }
}
