/*
 * tcp_peers - whose the far ends of connections within this machine are, as the kernel says.
 *
 * openpmix's native security over TCP takes a client's word for its user and group, and any user of
 * the machine can connect to a port of the loopback interface. What the kernel says
 * of sockets (sock_diag(7), proc(5)) cannot be made up.
 *
 * A connection's addresses and ports name its far end for as long as both are open. A far end that
 * its owner has closed belongs to nobody, and after a while the same port may be another's: so both
 * ends have to be open, this one after the far one was looked at.
 */
#ifndef PMI_SERVER_PMIX_TCP_PEERS_H
#define PMI_SERVER_PMIX_TCP_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tcp_peer {
    uint16_t port;       /* its own */
    uid_t owner;         /* of no meaning without an inode */
    unsigned long inode; /* 0: no process has it open any more */
};

/* The far end of this connected socket is a socket of this process's effective user on this
 * machine, open in some process now. False for what is closed, for what cannot be found out, and
 * for other users, root included. Does not block; any thread. */
bool tcp_peers_is_own(int fd);
/* The same, from the list in /proc, whose length is what it costs, and on 127.0.0.1 only: where
 * sock_diag(7) does not answer. */
bool tcp_peers_is_own_listed(int fd);
/* One line of /proc/net/tcp or tcp6: is it an open connection to this port of 127.0.0.1? */
bool tcp_peers_read_line(const char *line, uint16_t port, struct tcp_peer *end);
/* The far end's port of the connection to `port` of this process on which all that came was read
 * and nothing was ever said; 0: none, or the kernel (before Linux 4.6) does not tell. */
uint16_t tcp_peers_unanswered(uint16_t port);
/* A far end of the connections to `port` of this process has been closed, and this process has its
 * own end open still: that of a process that was waited for is closed, unless another one has
 * it. */
bool tcp_peers_have_ended(uint16_t port);
/* Connections of this process that lead from `port` to that far end are shut down. */
void tcp_peers_shut(uint16_t port, uint16_t far_port);

#endif
