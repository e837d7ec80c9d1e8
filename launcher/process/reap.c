/* Waits for the end of a child by its pidfd, or by looking again and again. */
#include "launcher/process/reap.h"
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAP_LOOK 1 /* ms between looks where the kernel does not tell of the end */

bool reap(pid_t pid, double seconds, int *status)
{
    double deadline = clock_monotonic_seconds() + seconds;
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    bool gone = false, told = false; /* of an end that somebody who traces it keeps to himself */
    for (;;) {
        pid_t ended = waitpid(pid, status, WNOHANG);
        double left = deadline - clock_monotonic_seconds();
        gone = ended == pid || (ended < 0 && errno == ECHILD);
        if (gone || left <= 0)
            break;
        bool watched = end.fd >= 0 && !told;
        told |= poll(&end, watched, watched ? (int)ceil(fmin(left, 1000) * 1000) : REAP_LOOK) > 0;
    }
    if (end.fd >= 0)
        close(end.fd);
    return gone;
}

bool reap_other(pid_t pid, int pidfd, double seconds)
{
    double deadline = clock_monotonic_seconds() + seconds;
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    for (;;) {
        double left = deadline - clock_monotonic_seconds();
        int wait = left <= 0 ? 0 : pidfd < 0 ? REAP_LOOK : (int)ceil(fmin(left, 1000) * 1000);
        if (poll(&end, pidfd >= 0, wait) > 0 || (pidfd < 0 && kill(pid, 0) < 0))
            return true;
        if (left <= 0)
            return false;
    }
}
