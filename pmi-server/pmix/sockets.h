/*
 * sockets - whose the far ends of connections within this machine are, as the kernel says.
 *
 * openpmix's native security over TCP takes a client's word for its user and group, and any user of
 * the machine can connect to a port of the loopback interface. What the kernel lists in
 * /proc/net/tcp (proc(5)) cannot be made up.
 */
#ifndef PMI_SERVER_PMIX_SOCKETS_H
#define PMI_SERVER_PMIX_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct far_end {
    uint16_t port;       /* its own */
    uid_t owner;         /* of no meaning without an inode */
    unsigned long inode; /* 0: no process has it open any more */
};

/* One line of /proc/net/tcp or tcp6: is it connected to this port of 127.0.0.1? */
bool sockets_read_line(const char *line, uint16_t port, struct far_end *end);
/* Those that are connected to this port of 127.0.0.1; caller frees. NULL with *count 0: none, or it
 * cannot be read. */
struct far_end *sockets_far_ends(uint16_t port, size_t *count);
/* The far end's port of the connection to `port` of this process on which all that came was read and
 * nothing was ever said; 0: none, or the kernel (before Linux 4.6) does not tell. */
uint16_t sockets_unanswered(uint16_t port);
/* Connections of this process that lead from `port` to that far end are shut down. */
void sockets_shut(uint16_t port, uint16_t far_port);

#endif
