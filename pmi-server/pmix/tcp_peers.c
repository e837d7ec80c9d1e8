/* The far ends of TCP connections: their owners and states, as the kernel tells them. */
#include "pmi-server/pmix/tcp_peers.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define ESTABLISHED 1 /* of the kernel's states of TCP; all others are on the way in or out */
#define NO_SOCKET ((uid_t)-1) /* of whom: nobody's */

/* ---- one connection ---- */

struct ends { /* of a connection; in IPv6 addresses only where it is one of IPv6 */
    struct sockaddr_storage near, far;
};

/* A connection of IPv4 that has a socket of IPv6 is one of IPv4. */
static void unmap(struct sockaddr_storage *address)
{
    struct sockaddr_in6 six;
    memcpy(&six, address, sizeof(six));
    if (six.sin6_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
        return;
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = six.sin6_port};
    memcpy(&four.sin_addr, &six.sin6_addr.s6_addr[12], sizeof(four.sin_addr));
    memcpy(address, &four, sizeof(four));
}

static bool ends_of(int fd, struct ends *ends)
{
    socklen_t near_len = sizeof(ends->near), far_len = sizeof(ends->far);
    memset(ends, 0, sizeof(*ends));
    if (getsockname(fd, (struct sockaddr *)&ends->near, &near_len) < 0 ||
        getpeername(fd, (struct sockaddr *)&ends->far, &far_len) < 0)
        return false;
    unmap(&ends->near);
    unmap(&ends->far);
    return ends->near.ss_family == ends->far.ss_family &&
           (ends->near.ss_family == AF_INET || ends->near.ss_family == AF_INET6);
}

/* Neither end was closed up to now. */
static bool is_established(int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
           info.tcpi_state == ESTABLISHED;
}

/* ---- the kernel is asked ---- */

static void set_address(const struct sockaddr_storage *from, __be16 *port, __be32 address[4])
{
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)from;
        *port = four->sin_port;
        memcpy(address, &four->sin_addr, sizeof(four->sin_addr));
    } else {
        const struct sockaddr_in6 *six = (const void *)from;
        *port = six->sin6_port;
        memcpy(address, &six->sin6_addr, sizeof(six->sin6_addr));
    }
}

/* -1: this is no answer. */
static int read_answer(const void *bytes, ssize_t len, uid_t *owner)
{
    const struct nlmsghdr *head = bytes;
    if (len < (ssize_t)sizeof(*head) || !NLMSG_OK(head, (size_t)len))
        return -1;
    const struct nlmsgerr *error = NLMSG_DATA(head);
    if (head->nlmsg_type == NLMSG_ERROR && head->nlmsg_len >= NLMSG_LENGTH(sizeof(*error)) &&
        error->error == -ENOENT)
        return 0;
    const struct inet_diag_msg *found = NLMSG_DATA(head);
    if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY || head->nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
        return -1;
    if (found->idiag_state == ESTABLISHED && found->idiag_inode)
        *owner = found->idiag_uid;
    return 0;
}

/* -1: the kernel does not answer. The answer is there when send() returns. */
static int ask_owner(const struct ends *ends, uid_t *owner)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 about;
    } question = {.head = {.nlmsg_len = sizeof(question),
                           .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                           .nlmsg_flags = NLM_F_REQUEST},
                  .about = {.sdiag_family = (__u8)ends->near.ss_family,
                            .sdiag_protocol = IPPROTO_TCP,
                            .idiag_states = ~0U}};
    struct inet_diag_sockid *id = &question.about.id;
    set_address(&ends->far, &id->idiag_sport, id->idiag_src);
    set_address(&ends->near, &id->idiag_dport, id->idiag_dst);
    memset(id->idiag_cookie, 0xff, sizeof(id->idiag_cookie)); /* any */
    _Alignas(struct nlmsghdr) char answer[1024];
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), rc = -1;
    *owner = NO_SOCKET;
    if (fd >= 0 && send(fd, &question, sizeof(question), 0) == (ssize_t)sizeof(question))
        rc = read_answer(answer, recv(fd, answer, sizeof(answer), MSG_DONTWAIT), owner);
    if (fd >= 0)
        close(fd);
    return rc;
}

bool tcp_peers_is_own(int fd)
{
    struct ends ends;
    uid_t owner;
    if (!ends_of(fd, &ends))
        return false;
    if (ask_owner(&ends, &owner) < 0)
        return tcp_peers_is_own_listed(fd);
    return owner != NO_SOCKET && owner == geteuid() && is_established(fd);
}

/* ---- the kernel's list ---- */

/* Addresses are written as the words that they are in memory. */
static bool is_loopback(const char *address)
{
    char text[33];
    snprintf(text, sizeof(text), "%08X", htonl(INADDR_LOOPBACK));
    if (!strcmp(address, text))
        return true;
    snprintf(text, sizeof(text), "%016X%08X%08X", 0, htonl(0xffff), htonl(INADDR_LOOPBACK));
    return !strcmp(address, text); /* an IPv4 address in a socket of IPv6 */
}

bool tcp_peers_read_line(const char *line, uint16_t port, struct tcp_peer *end)
{
    char near[33], address[33];
    unsigned own, to, state, owner;
    unsigned long inode;
    if (sscanf(line,
               " %*u: %32[0-9A-F]:%4x %32[0-9A-F]:%4x %2x %*8x:%*8x %*2x:%*8x %*8x %u %*u %lu",
               near, &own, address, &to, &state, &owner, &inode) != 7)
        return false;
    if (to != port || state != ESTABLISHED || !is_loopback(address) || !is_loopback(near))
        return false;
    *end = (struct tcp_peer){(uint16_t)own, owner, inode};
    return true;
}

static bool is_listed(const char *path, uint16_t port, uint16_t far_port)
{
    char line[512];
    struct tcp_peer end;
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof(line), file))
        found = tcp_peers_read_line(line, port, &end) && end.port == far_port && end.inode &&
                end.owner == geteuid();
    if (file)
        fclose(file);
    return found;
}

bool tcp_peers_is_own_listed(int fd)
{
    struct ends ends;
    if (!ends_of(fd, &ends))
        return false;
    const struct sockaddr_in *near = (const void *)&ends.near, *far = (const void *)&ends.far;
    if (near->sin_family != AF_INET || near->sin_addr.s_addr != htonl(INADDR_LOOPBACK) ||
        far->sin_addr.s_addr != htonl(INADDR_LOOPBACK))
        return false;
    uint16_t port = ntohs(near->sin_port), far_port = ntohs(far->sin_port);
    return (is_listed("/proc/net/tcp", port, far_port) ||
            is_listed("/proc/net/tcp6", port, far_port)) &&
           is_established(fd);
}

/* ---- descriptors ---- */

static bool has_port(int fd, uint16_t port)
{
    struct sockaddr_in own = {0};
    socklen_t len = sizeof(own);
    return getsockname(fd, (struct sockaddr *)&own, &len) == 0 && own.sin_family == AF_INET &&
           ntohs(own.sin_port) == port;
}

/* Of a connection within this machine; 0: it is none (any more). */
static uint16_t far_port_of(int fd)
{
    struct sockaddr_in far = {0};
    socklen_t len = sizeof(far);
    return getpeername(fd, (struct sockaddr *)&far, &len) == 0 &&
                   far.sin_addr.s_addr == htonl(INADDR_LOOPBACK)
               ? ntohs(far.sin_port)
               : 0;
}

static void each(uint16_t port, void (*use)(int fd, uint16_t far_port, uint16_t *wanted),
                 uint16_t *wanted)
{
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && has_port(fd, port))
            use(fd, far_port_of(fd), wanted);
    }
    if (dir)
        closedir(dir);
}

static void tcp_peers_find(int fd, uint16_t far_port, uint16_t *found)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    int unread = 0;
    /* All that came was read, and nothing was said. */
    if (far_port && getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
        len >= offsetof(struct tcp_info, tcpi_data_segs_out) + sizeof(info.tcpi_data_segs_out) &&
        info.tcpi_data_segs_in && !info.tcpi_data_segs_out && ioctl(fd, FIONREAD, &unread) == 0 &&
        !unread)
        *found = far_port;
}

uint16_t tcp_peers_unanswered(uint16_t port)
{
    uint16_t found = 0;
    each(port, tcp_peers_find, &found);
    return found;
}

/* The kernel may know that the far end is closed before this one hears of it. One that was reset leads nowhere. */
static void find_ended(int fd, uint16_t far_port, uint16_t *found)
{
    struct ends ends;
    uid_t owner;
    int listens = 0;
    socklen_t len = sizeof(listens);
    (void)far_port;
    if (*found || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 || listens)
        return;
    *found = !is_established(fd) || !ends_of(fd, &ends) ||
             (ask_owner(&ends, &owner) == 0 && owner == NO_SOCKET);
}

bool tcp_peers_have_ended(uint16_t port)
{
    uint16_t found = 0;
    each(port, find_ended, &found);
    return found;
}

static void shut(int fd, uint16_t far_port, uint16_t *wanted)
{
    if (far_port == *wanted)
        shutdown(fd, SHUT_RDWR);
}

void tcp_peers_shut(uint16_t port, uint16_t far_port)
{
    each(port, shut, &far_port);
}
