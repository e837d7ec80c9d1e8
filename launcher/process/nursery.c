/* The process that waits for requests and forks. */
#include "launcher/process/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/mem.h"
#include "launcher/process/process.h"

#define FIRST 3 /* descriptor of a forked process's first */

#define AHEAD_PAUSE 3 /* ms without a request until a process is forked ahead */

#define RETRY 0.01 /* s until what could not be sent is sent again */

enum nursery_wish { NURSERY_FORK, NURSERY_FORK_AHEAD, NURSERY_TELL };

struct nursery_message {
    unsigned char nfds; /* that come along; the kernel drops those beyond the limit of open files */
    unsigned char wish;
};

struct nursery_request { /* that waits for room on the socket */
    struct nursery_request *next;
    enum nursery_wish wish;
    size_t nfds;
    int fds[DESCRIPTOR_MESSAGE_FDS];
};

struct nursery {
    pid_t pid;
    int fd;
    struct ev_loop *loop; /* NULL: nothing can wait yet */
    struct nursery_request *first, **last;
    ev_timer retry;
};

/* The descriptors that were received become 3, 4 and so on. All others, which are the maker's, are closed. False:
 * they cannot be moved (the limit of open files), and 3 may be another. */
static bool keep_descriptors(int *fds, size_t nfds)
{
    for (size_t i = 0; i < nfds; i++) {
        int moved = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST + DESCRIPTOR_MESSAGE_FDS);
        if (moved < 0)
            return false;
        close(fds[i]);
        fds[i] = moved;
    }
    for (size_t i = 0; i < nfds; i++) {
        dup3(fds[i], FIRST + (int)i, O_CLOEXEC);
        fds[i] = FIRST + (int)i;
    }
    descriptors_close(FIRST + (unsigned)nfds);
    return true;
}

/* Returns the socket that its descriptors are sent over; -1: it could not be forked. */
static int fork_ahead(const struct nursery_ops *ops, void *arg)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGCHLD, SIG_DFL);
        if (!keep_descriptors(&pair[1], 1))
            _exit(1);
        mem_exit(ops->child_ahead(arg, pair[1]));
    }
    close(pair[1]);
    if (pid > 0)
        return pair[0];
    close(pair[0]);
    return -1;
}

/* It may wait for its descriptors: until there is a request, or for so long. */
static void keep_ahead(int socket, const struct nursery_ops *ops, int *ahead)
{
    struct pollfd request = {.fd = socket, .events = POLLIN};
    if (poll(&request, 1, ops->ahead_kept) != 0)
        return;
    close(*ahead);
    *ahead = -1;
}

/* It is used once. False: it is gone. */
static bool hand_ahead(int *ahead, const struct nursery_message *message, const int *fds,
                       size_t nfds)
{
    bool handed =
        *ahead >= 0 && descriptor_message_send(*ahead, message, sizeof(*message), fds, nfds) == 0;
    if (*ahead >= 0)
        close(*ahead);
    *ahead = -1;
    return handed;
}

static bool is_idle(int socket)
{
    struct pollfd request = {.fd = socket, .events = POLLIN};
    return poll(&request, 1, AHEAD_PAUSE) == 0;
}

static void close_all(const int *fds, size_t nfds)
{
    for (size_t i = 0; i < nfds; i++)
        close(fds[i]);
}

static int nursery_run(int socket, const struct nursery_ops *ops, void *arg)
{
    int fds[DESCRIPTOR_MESSAGE_FDS], ahead = -1;
    size_t nfds;
    struct nursery_message message;
    bool prepared = !ops->prepare, warm = !ops->warm, has_holes = true;
    for (;;) {
        if (ahead >= 0)
            keep_ahead(socket, ops, &ahead);
        ssize_t got = descriptor_message_receive(socket, &message, sizeof(message), fds, &nfds);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        bool whole = nfds == message.nfds; /* else they close, and whoever waits sees it */
        if (message.wish == NURSERY_TELL) {
            if (whole && ops->told)
                ops->told(arg, fds[0]);
            close_all(fds, nfds);
            has_holes = true;
            continue;
        }
        if (!prepared)
            ops->prepare(arg);
        prepared = true;
        bool is_ahead = message.wish == NURSERY_FORK_AHEAD;
        bool handed = whole && is_ahead && hand_ahead(&ahead, &message, fds, nfds);
        if (whole && !handed && fork() == 0) {
            signal(SIGCHLD, SIG_DFL);
            if (!keep_descriptors(fds, nfds))
                _exit(1); /* LeakSanitizer, too, would lack descriptors */
            mem_exit(ops->child(arg, fds, nfds));
        }
        close_all(fds, nfds);
        if (!warm) {
            warm = ops->warm(arg);
            has_holes |= warm;
        }
        if (has_holes)
            mem_fill_holes();
        has_holes = false;
        if (warm && is_ahead && ahead < 0 && ops->child_ahead && is_idle(socket))
            ahead = fork_ahead(ops, arg);
    }
    close(socket);
    if (ahead >= 0)
        close(ahead);
    while (waitpid(-1, NULL, 0) >= 0 || errno == EINTR)
        ;
    return 0;
}

/* ---- the maker's side ---- */

static int nursery_send(const struct nursery *nursery, enum nursery_wish wish, const int *fds,
                        size_t nfds)
{
    const struct nursery_message message = {(unsigned char)nfds, (unsigned char)wish};
    return descriptor_message_send(nursery->fd, &message, sizeof(message), fds, nfds);
}

/* What is under way to it, or to all others of this user, has a limit. */
static bool socket_is_full(int number)
{
    return number == EAGAIN || number == EINTR || number == ENOBUFS || number == ETOOMANYREFS;
}

static void request_free(struct nursery_request *request)
{
    close_all(request->fds, request->nfds);
    free(request);
}

static void drop_requests(struct nursery *nursery)
{
    for (struct nursery_request *request; (request = nursery->first);) {
        nursery->first = request->next;
        request_free(request);
    }
}

static void nursery_on_retry(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct nursery *nursery = timer->data;
    (void)events;
    for (struct nursery_request *request; (request = nursery->first);) {
        if (nursery_send(nursery, request->wish, request->fds, request->nfds) < 0 &&
            socket_is_full(errno))
            return;
        nursery->first = request->next;
        request_free(request); /* where nobody takes it, its descriptors close, and that is seen */
    }
    nursery->last = &nursery->first;
    ev_timer_stop(loop, timer);
}

struct nursery *nursery_new(struct ev_loop *loop, const struct nursery_ops *ops, void *arg,
                            struct error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        error_set(err, "cannot make a socket pair: %s", strerror(errno));
        return NULL;
    }
    pid_t pid = fork();
    if (pid == 0) {
        int socket = fcntl(pair[1], F_DUPFD_CLOEXEC, FIRST);
        prctl(PR_SET_NAME, PROCESS_NURSERY);
        if (loop)
            ev_loop_destroy(loop);
        signal(SIGCHLD, SIG_IGN); /* nobody asks how they ended */
        if (socket < 0)
            mem_exit(1); /* the next request says so */
        dup3(socket, FIRST, O_CLOEXEC);
        descriptors_close(FIRST + 1);
        mem_exit(nursery_run(FIRST, ops, arg));
    }
    close(pair[1]);
    if (pid < 0) {
        error_set(err, "cannot fork: %s", strerror(errno));
        close(pair[0]);
        return NULL;
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    struct nursery *nursery = mem_alloc(sizeof(*nursery));
    *nursery = (struct nursery){.pid = pid, .fd = pair[0], .loop = loop};
    nursery->last = &nursery->first;
    ev_timer_init(&nursery->retry, nursery_on_retry, RETRY, RETRY);
    nursery->retry.data = nursery;
    return nursery;
}

void nursery_attach(struct nursery *nursery, struct ev_loop *loop)
{
    nursery->loop = loop;
}

void nursery_shut(struct nursery *nursery)
{
    if (nursery->loop)
        ev_timer_stop(nursery->loop, &nursery->retry);
    drop_requests(nursery);
    if (nursery->fd >= 0)
        close(nursery->fd);
    nursery->fd = -1;
}

void nursery_free(struct nursery *nursery)
{
    if (!nursery)
        return;
    siginfo_t info;
    nursery_shut(nursery);
    /* It may be stopped. While it is a child of this process nobody else has its pid. */
    if (waitid(P_PID, (id_t)nursery->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        kill(nursery->pid, SIGKILL);
    while (waitpid(nursery->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(nursery);
}

void nursery_disown(struct nursery *nursery)
{
    if (!nursery)
        return;
    drop_requests(nursery);
    if (nursery->fd >= 0)
        close(nursery->fd);
}

pid_t nursery_pid(const struct nursery *nursery)
{
    return nursery->pid;
}

static int keep_request(struct nursery *nursery, enum nursery_wish wish, const int *fds,
                        size_t nfds, struct error *err)
{
    struct nursery_request *request = mem_alloc(sizeof(*request));
    *request = (struct nursery_request){.wish = wish};
    for (; request->nfds < nfds; request->nfds++) {
        request->fds[request->nfds] = fcntl(fds[request->nfds], F_DUPFD_CLOEXEC, 0);
        if (request->fds[request->nfds] >= 0)
            continue;
        error_set(err, "cannot ask for a process: %s", strerror(errno));
        request_free(request);
        return -1;
    }
    if (!nursery->first)
        ev_timer_again(nursery->loop, &nursery->retry);
    *nursery->last = request;
    nursery->last = &request->next;
    return 0;
}

static int ask(struct nursery *nursery, enum nursery_wish wish, const int *fds, size_t nfds,
               struct error *err)
{
    if (!nursery->first && nursery_send(nursery, wish, fds, nfds) == 0)
        return 0;
    if (nursery->loop && (nursery->first || socket_is_full(errno)))
        return keep_request(nursery, wish, fds, nfds, err);
    if (errno == EPIPE || errno == ECONNRESET)
        return error_set(err, "the process that forks it is gone (killed, or out of memory)");
    return error_set(err, "cannot ask for a process: %s", strerror(errno));
}

int nursery_start(struct nursery *nursery, const int *fds, size_t nfds, struct error *err)
{
    return ask(nursery, NURSERY_FORK, fds, nfds, err);
}

int nursery_start_ahead(struct nursery *nursery, const int *fds, size_t nfds, struct error *err)
{
    return ask(nursery, NURSERY_FORK_AHEAD, fds, nfds, err);
}

int nursery_tell(struct nursery *nursery, int fd, struct error *err)
{
    return ask(nursery, NURSERY_TELL, &fd, 1, err);
}
