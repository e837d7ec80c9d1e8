/* Descriptors that go from one process to another. */
#include "launcher/process/descriptor_message.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(DESCRIPTOR_MESSAGE_FDS * sizeof(int))];
};

int descriptor_message_send(int socket, const void *bytes, size_t len, const int *fds, size_t nfds)
{
    union control control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (nfds) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(nfds * sizeof(int));
        memcpy(CMSG_DATA(header), fds, nfds * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

ssize_t descriptor_message_receive(int socket, void *bytes, size_t room,
                                   int fds[DESCRIPTOR_MESSAGE_FDS], size_t *nfds)
{
    union control control = {0};
    struct iovec part = {.iov_base = bytes, .iov_len = room};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    *nfds = 0;
    struct cmsghdr *header = got < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        *nfds = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(fds, CMSG_DATA(header), *nfds * sizeof(int));
    }
    return got;
}
