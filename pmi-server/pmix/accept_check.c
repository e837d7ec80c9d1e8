/* What openpmix calls in place of accept() and recv(). */
#include "pmi-server/pmix/accept_check.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pmi-server/pmix/imported_symbols.h"
#include "pmi-server/pmix/tcp_peers.h"

static int accept_own(int fd, struct sockaddr *address, socklen_t *len)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    int connection = accept4(fd, address, len, SOCK_CLOEXEC);
    if (connection >= 0 && tcp_peers_is_own(connection))
        return connection;
    if (connection >= 0)
        close(connection);
    else if (errno == EINVAL || errno == EBADF) /* it closes the socket itself */
        return -1;
    else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        nanosleep(&moment, NULL); /* the connection still waits: no busy loop */
    /* openpmix stops listening for ever on most errors, though they are about one connection or pass.
     * This is the one that every version takes for "not now". */
    errno = EAGAIN;
    return -1;
}

/* openpmix calls recv() for greetings alone, in the thread that serves everybody. From 4.2.3 on it tries
 * again when the time limit of the connection has passed (still so in 7.0.0 rc1), and every version does so
 * when a part has come. A greeting is sent at once: one that stops is taken for a connection that is closed. */
static ssize_t (*library_recv)(int fd, void *bytes, size_t size, int flags);

static int greeted = -1;

int accept_check_greeted(void)
{
    return greeted;
}

static ssize_t recv_greeting(int fd, void *bytes, size_t size, int flags)
{
    greeted = fd;
    ssize_t got = library_recv(fd, bytes, size, flags);
    if (got < 0)
        return errno == EAGAIN ? 0 : got;
    return (size_t)got < size && flags & MSG_WAITALL ? 0 : got;
}

int accept_check_install(void *handle, struct error *err)
{
    if (!imported_function_replace(handle, "accept", (imported_function *)accept_own, err))
        return -1;
    imported_function *before =
        imported_function_replace(handle, "recv", (imported_function *)recv_greeting, NULL);
    if (before) /* one that reads in another way is left as it is */
        library_recv = (ssize_t(*)(int, void *, size_t, int))before;
    return 0;
}
