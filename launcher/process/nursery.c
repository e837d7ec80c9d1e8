/* The process that waits for requests and forks. */
#include "launcher/process/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/mem.h"

#define PROCESS_NURSERY "tprun-nursery"
#define FIRST 3 /* descriptor of a forked process's first */

struct nursery {
    pid_t pid;
    int fd;
};

/* The descriptors that were received become 3, 4 and so on. All others, which are the maker's, are closed. */
static void keep_descriptors(int *fds, size_t nfds)
{
    for (size_t i = 0; i < nfds; i++) {
        int moved = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST + DESCRIPTOR_MESSAGE_FDS);
        close(fds[i]);
        fds[i] = moved;
    }
    for (size_t i = 0; i < nfds; i++) {
        dup3(fds[i], FIRST + (int)i, O_CLOEXEC);
        fds[i] = FIRST + (int)i;
    }
    descriptors_close(FIRST + (unsigned)nfds);
}

static int nursery_run(int socket, int (*child)(void *arg, const int *fds, size_t nfds), void *arg)
{
    int fds[DESCRIPTOR_MESSAGE_FDS];
    size_t nfds;
    char byte;
    for (;;) {
        ssize_t got = descriptor_message_receive(socket, &byte, 1, fds, &nfds);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0;
        pid_t pid = fork();
        if (pid == 0) {
            signal(SIGCHLD, SIG_DFL);
            keep_descriptors(fds, nfds);
            mem_exit(child(arg, fds, nfds));
        }
        for (size_t i = 0; i < nfds; i++)
            close(fds[i]);
    }
}

struct nursery *nursery_new(struct ev_loop *loop,
                            int (*child)(void *arg, const int *fds, size_t nfds), void *arg,
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
        dup3(socket, FIRST, O_CLOEXEC);
        descriptors_close(FIRST + 1);
        mem_exit(nursery_run(FIRST, child, arg));
    }
    close(pair[1]);
    if (pid < 0) {
        error_set(err, "cannot fork: %s", strerror(errno));
        close(pair[0]);
        return NULL;
    }
    struct nursery *nursery = mem_alloc(sizeof(*nursery));
    *nursery = (struct nursery){pid, pair[0]};
    return nursery;
}

void nursery_free(struct nursery *nursery)
{
    if (!nursery)
        return;
    siginfo_t info;
    close(nursery->fd);
    /* It may be stopped. While it is a child of this process nobody else has its pid. */
    if (waitid(P_PID, (id_t)nursery->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        kill(nursery->pid, SIGKILL);
    while (waitpid(nursery->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(nursery);
}

void nursery_disown(struct nursery *nursery)
{
    if (nursery)
        close(nursery->fd);
}

pid_t nursery_pid(const struct nursery *nursery)
{
    return nursery->pid;
}

int nursery_start(struct nursery *nursery, const int *fds, size_t nfds, struct error *err)
{
    if (descriptor_message_send(nursery->fd, "", 1, fds, nfds) < 0)
        return error_set(err, "cannot ask for a process: %s", strerror(errno));
    return 0;
}
