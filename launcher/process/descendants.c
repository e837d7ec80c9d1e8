/* The processes below this one: listed, and signalled one by one or by group. */
#include "launcher/process/descendants.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/process/process.h"

#define MAX_DEPTH 4096 /* generations below this process that are followed upwards */

void descendants_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The parent of a process; 0 where it has ended. */
static pid_t parent_of(pid_t pid)
{
    struct process process;
    return process_read(pid, &process) ? process.parent : 0;
}

static bool is_below(pid_t pid, pid_t top)
{
    for (int depth = 0; pid > 1 && depth < MAX_DEPTH; depth++) {
        pid = parent_of(pid);
        if (pid == top)
            return true;
    }
    return false;
}

/* While the descriptor is open it means this process, and what is found out about the pid is found
 * out about it. Before Linux 5.3 there is no such descriptor. */
void descendants_signal_one(pid_t pid, int number)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 && errno == ESRCH)
        return;
    if (is_below(pid, getpid())) {
        if (fd < 0)
            kill(pid, number);
        else
            syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
    }
    if (fd >= 0)
        close(fd);
}

/* A member that has not been reaped keeps the number of its group from being used again. So it is
 * looked at last whether the descriptor's process is there still: then all the rest was found out
 * about that process, and not about a later one of its pid. */
bool descendants_signal_group(pid_t pid, pid_t group, int number)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 && errno == ESRCH)
        return false;
    bool ours = is_below(pid, getpid()) && getpgid(pid) == group &&
                (fd < 0 || syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0 || errno == EPERM);
    bool sent = ours && kill(-group, number) == 0;
    if (fd >= 0)
        close(fd);
    return sent;
}

/* Children are signalled after what is below them was found, so that none is missed because its
 * parent died first; what is born meanwhile is found by the next round of the caller. */
static size_t signal_below(pid_t pid, int number, const pid_t *except, size_t nexcept)
{
    size_t count = 0, nchildren;
    pid_t *children = process_children(pid, &nchildren);
    for (size_t i = 0; i < nchildren; i++) {
        struct process process;
        pid_t child = children[i];
        if (process_is_listed(child, except, nexcept))
            continue;
        process_read(child, &process);
        int passed = process.inner && number != SIGKILL ? 0 : number;
        count += signal_below(child, passed, NULL, 0);
        if (!parent_of(child))
            continue;
        count++;
        if (passed)
            descendants_signal_one(child, passed);
    }
    free(children);
    return count;
}

size_t descendants_signal(int number, const pid_t *except, size_t nexcept)
{
    return signal_below(getpid(), number, except, nexcept);
}

pid_t *descendants_children(size_t *count)
{
    return process_children(getpid(), count);
}
