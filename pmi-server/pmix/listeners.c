/* The socket on which openpmix listens: whether there can be one, its limits of time, its port. */
#include "pmi-server/pmix/listeners.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "pmi-server/pmix/imported_symbols.h"

/* Seconds that a connection may stay as it is, unseen; the kernel ends it before. */
#define SILENCE_MAX 3600

#define DESCRIPTORS 64 /* that openpmix may open before its last listener */

int listeners_check(struct error *err)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int rc = 0, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return error_set(err, "cannot make a socket for openpmix's server: %s", strerror(errno));
    if (fd >= FD_SETSIZE - DESCRIPTORS)
        rc = error_set(err,
                       "openpmix's server needs descriptors below %d, and %d is the first that is "
                       "free: start tprun with fewer open files",
                       FD_SETSIZE, fd);
    else if (bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0)
        rc = error_set(err,
                       "no port for openpmix's server: %s: all ports of "
                       "net.ipv4.ip_local_port_range may be in use",
                       strerror(errno));
    close(fd);
    return rc;
}

/* A connection has its listener's time limit. What a client says first it says at once. */
static int listen_guarded(int fd, int backlog)
{
    const struct timeval limit = {.tv_usec = 200000};
    const int silence = SILENCE_MAX;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &silence, sizeof(silence));
    return listen(fd, backlog);
}

int listeners_install(void *handle, struct error *err)
{
    return imported_function_replace(handle, "listen", (imported_function *)listen_guarded, err)
               ? 0
               : -1;
}

/* ---- openpmix's own ---- */

static _Atomic uint16_t server_port; /* openpmix's thread asks for it, too */

void listeners_learn_port(char *const *environment)
{
    static const char variable[] = "PMIX_SERVER_URI", before[] = ";tcp4://127.0.0.1:";
    for (; *environment && !server_port; environment++) {
        /* PMIX_SERVER_URI...=SPACE.RANK;tcp4://127.0.0.1:PORT */
        const char *at = strncmp(*environment, variable, strlen(variable)) == 0
                             ? strstr(*environment, before)
                             : NULL;
        if (at)
            server_port = (uint16_t)atoi(at + strlen(before));
    }
}

uint16_t listeners_port(void)
{
    return server_port;
}
