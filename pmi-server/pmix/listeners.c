/* The sockets of this process that listen: openpmix's get limits of time. */
#include "pmi-server/pmix/listeners.h"

#include <dirent.h>
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

static int option(int fd, int which)
{
    int value = 0;
    socklen_t len = sizeof(value);
    return getsockopt(fd, SOL_SOCKET, which, &value, &len) == 0 ? value : 0;
}

struct idset *listeners_find(void)
{
    struct idset *found = idset_new();
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && option(fd, SO_ACCEPTCONN) &&
            option(fd, SO_PROTOCOL) == IPPROTO_TCP)
            idset_add(found, (uint32_t)fd);
    }
    if (dir)
        closedir(dir);
    return found;
}

void listeners_guard(const struct idset *before)
{
    /* A connection has its listener's time limit. What a client says first it says at once. */
    const struct timeval limit = {.tv_usec = 200000};
    const int silence = SILENCE_MAX;
    struct idset *all = listeners_find();
    IDSET_FOREACH(fd, all)
    {
        if (idset_has(before, fd))
            continue;
        setsockopt((int)fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
        setsockopt((int)fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &silence, sizeof(silence));
    }
    idset_free(all);
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
