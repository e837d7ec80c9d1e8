/*
 * descriptor_message - a message with descriptors over a socket of the kind SOCK_SEQPACKET
 * (unix(7), SCM_RIGHTS).
 */
#ifndef LAUNCHER_PROCESS_DESCRIPTOR_MESSAGE_H
#define LAUNCHER_PROCESS_DESCRIPTOR_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>

#define DESCRIPTOR_MESSAGE_FDS 4 /* at most */

/* 0, or -1 with errno. The descriptors stay the caller's. */
int descriptor_message_send(int socket, const void *bytes, size_t len, const int *fds, size_t nfds);
/* The length; 0: the other end is closed; -1 with errno. fds[*nfds] are the caller's, and close at
 * exec. */
ssize_t descriptor_message_receive(int socket, void *bytes, size_t room,
                                   int fds[DESCRIPTOR_MESSAGE_FDS], size_t *nfds);

#endif
