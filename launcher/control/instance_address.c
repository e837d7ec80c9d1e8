/* The abstract socket of an instance's agent. */
#include "launcher/control/instance_address.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/control/authorize.h"

socklen_t instance_address(struct sockaddr_un *address, const char *name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int len = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "tprun-%u-%.64s",
                       (unsigned)geteuid(), name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

int instance_connect(const char *name, struct error *err)
{
    struct sockaddr_un address;
    struct ucred cred;
    socklen_t len = instance_address(&address, name), cred_len = sizeof(cred);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, len) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len) == 0 &&
        authorize("connect to an instance", geteuid(), cred.uid, err) == 0)
        return fd;
    if (!err->text)
        error_set(err, "%s",
                  errno == ECONNREFUSED ? "the instance has no agent on this host, or is over"
                                        : strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}
