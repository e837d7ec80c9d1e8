#include "pmi-server/pmix/accept_check.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pmi-server/pmix/imports.h"
#include "pmi-server/pmix/sockets.h"

/* openpmix stops listening for ever on most errors, though they are about one connection or pass. EAGAIN
 * is the one that every version takes for "not now". */
static void pass_on_error(void)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    if (errno == EINVAL || errno == EBADF) /* it closes the socket itself */
        return;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        nanosleep(&moment, NULL); /* the connection still waits: no busy loop */
    errno = EAGAIN;
}

static int accept_own(int fd, struct sockaddr *address, socklen_t *len)
{
    int connection = accept4(fd, address, len, SOCK_CLOEXEC);
    if (connection >= 0 && sockets_is_own(connection))
        return connection;
    if (connection < 0) {
        pass_on_error();
    } else {
        close(connection);
        errno = EAGAIN;
    }
    return -1;
}

int accept_check_install(void *handle, struct error *err)
{
    return import_replace(handle, "accept", (import_function *)accept_own, err) ? 0 : -1;
}
