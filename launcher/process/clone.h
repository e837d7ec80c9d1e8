/*
 * clone - a child that shares this process's memory until it executes or exits, while the caller
 * goes on, started directly in a cgroup where that is wanted.
 *
 * For the latter there is clone3(2), which the C library offers no call for: a child on a stack of
 * its own takes a few instructions for each kind of processor. They are here for x86-64 and
 * AArch64; on others it fails with ENOSYS, as on kernels that know no clone3 or forbid it.
 */
#ifndef LAUNCHER_PROCESS_CLONE_H
#define LAUNCHER_PROCESS_CLONE_H

#include <stddef.h>
#include <sys/types.h>

struct clone {
    int (*run)(void *arg); /* in the child: system calls only; what it returns is its exit status */
    void *arg;
    void *stack; /* as malloc aligns it; free for others once `shares` is 0 */
    size_t size;
    int *shares; /* not 0; the kernel clears it, and wakes who waits, when the child shares the
                    memory no more. NULL: nobody wants to know */
    int cgroup;  /* a descriptor of its directory; -1: that of this process */
};

/* The process id, or an errno, negative: children that share our memory change errno itself.
 * Signals have to be blocked meanwhile: no handler of this process may run in the child. */
pid_t clone_start(const struct clone *what);

#endif
