/*
 * reap - wait for a child, and not for ever: one that waits for hardware outlives SIGKILL.
 */
#ifndef LAUNCHER_PROCESS_REAP_H
#define LAUNCHER_PROCESS_REAP_H

#include <stdbool.h>
#include <sys/types.h>

#define REAP_KILLED 3.0 /* s that a process may take to end by SIGKILL */

/* True once the child has ended, with its status (NULL: not wanted), or is no child that is left;
 * false where it is still there after so many seconds: it becomes a zombie, which goes with this
 * process. */
bool reap(pid_t pid, double seconds, int *status);

/* The same for a process that is no child: behind a descriptor of pidfd_open(2), or -1 where the
 * kernel has none. */
bool reap_other(pid_t pid, int pidfd, double seconds);

#endif
