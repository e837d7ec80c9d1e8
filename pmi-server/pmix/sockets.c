#include "pmi-server/pmix/sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <linux/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/mem.h"

#define TIME_WAIT 6 /* both ends are closed */

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

bool sockets_read_line(const char *line, uint16_t port, struct far_end *end)
{
    char near[33], address[33];
    unsigned own, to, state, owner;
    unsigned long inode;
    if (sscanf(line,
               " %*u: %32[0-9A-F]:%4x %32[0-9A-F]:%4x %2x %*8x:%*8x %*2x:%*8x %*8x %u %*u %lu",
               near, &own, address, &to, &state, &owner, &inode) != 7)
        return false;
    if (to != port || state == TIME_WAIT || !is_loopback(address) || !is_loopback(near))
        return false;
    *end = (struct far_end){(uint16_t)own, owner, inode};
    return true;
}

static void read_list(const char *path, uint16_t port, struct far_end **ends, size_t *count)
{
    char line[512];
    struct far_end end;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        if (!sockets_read_line(line, port, &end))
            continue;
        *ends = mem_resize(*ends, *count + 1, sizeof(**ends));
        (*ends)[(*count)++] = end;
    }
    if (file)
        fclose(file);
}

struct far_end *sockets_far_ends(uint16_t port, size_t *count)
{
    struct far_end *ends = NULL;
    *count = 0;
    read_list("/proc/net/tcp", port, &ends, count);
    read_list("/proc/net/tcp6", port, &ends, count);
    return ends;
}

/* ---- descriptors ---- */

static bool leads(int fd, uint16_t port, uint16_t *far_port)
{
    struct sockaddr_in own = {0}, far = {0};
    socklen_t own_len = sizeof(own), far_len = sizeof(far);
    if (getsockname(fd, (struct sockaddr *)&own, &own_len) < 0 || own.sin_family != AF_INET ||
        ntohs(own.sin_port) != port || getpeername(fd, (struct sockaddr *)&far, &far_len) < 0 ||
        far.sin_addr.s_addr != htonl(INADDR_LOOPBACK))
        return false;
    *far_port = ntohs(far.sin_port);
    return true;
}

/* All that came was read, and nothing was said. */
static bool is_unanswered(int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    int unread = 0;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
           len >= offsetof(struct tcp_info, tcpi_data_segs_out) + sizeof(info.tcpi_data_segs_out) &&
           info.tcpi_data_segs_in && !info.tcpi_data_segs_out &&
           ioctl(fd, FIONREAD, &unread) == 0 && !unread;
}

static void each(uint16_t port, void (*use)(int fd, uint16_t far_port, uint16_t *wanted),
                 uint16_t *wanted)
{
    uint16_t far_port;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && leads(atoi(entry->d_name), port, &far_port))
            use(atoi(entry->d_name), far_port, wanted);
    if (dir)
        closedir(dir);
}

static void find(int fd, uint16_t far_port, uint16_t *found)
{
    if (is_unanswered(fd))
        *found = far_port;
}

uint16_t sockets_unanswered(uint16_t port)
{
    uint16_t found = 0;
    each(port, find, &found);
    return found;
}

static void shut(int fd, uint16_t far_port, uint16_t *wanted)
{
    if (far_port == *wanted)
        shutdown(fd, SHUT_RDWR);
}

void sockets_shut(uint16_t port, uint16_t far_port)
{
    each(port, shut, &far_port);
}
