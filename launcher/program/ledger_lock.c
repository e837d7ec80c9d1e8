/* The ledger's lock. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "launcher/program/ledger_private.h"
#include "launcher/program/store.h"

#define LEDGER_PATIENCE 30.0 /* seconds for a lock that is held for less than milliseconds */
#define LEDGER_TURN 5.0      /* seconds for a turn, which is a courtesy */

static double ledger_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void ledger_wake(int number)
{
    (void)number;
}

/* In the kernel's line, which wakes one at a time; a timer ends the wait for a holder that was
 * stopped. No loop of ours uses this timer or its signal. */
static int ledger_wait_in_line(int fd, double patience)
{
    struct sigaction wake = {.sa_handler = ledger_wake}, before;
    struct itimerval tick = {{1, 0}, {1, 0}}, none = {{0, 0}, {0, 0}};
    double deadline = ledger_clock() + patience;
    int rc;
    sigaction(SIGALRM, &wake, &before);
    setitimer(ITIMER_REAL, &tick, NULL);
    do {
        rc = store_lock(fd, true);
    } while (rc < 0 && errno == EINTR && ledger_clock() < deadline);
    int saved = rc < 0 && errno == EINTR ? ETIMEDOUT : errno;
    setitimer(ITIMER_REAL, &none, NULL);
    sigaction(SIGALRM, &before, NULL);
    errno = saved;
    return rc;
}

static int ledger_wait_lock(int fd, double patience)
{
    int rc = store_lock(fd, false);
    return rc < 0 && errno == EAGAIN ? ledger_wait_in_line(fd, patience) : rc;
}

static int ledger_open_lock(struct instance *instance, const char *name)
{
    return openat(instance->dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int instance_turn(struct instance *instance)
{
    int fd = ledger_open_lock(instance, "turn");
    if (fd >= 0)
        ledger_wait_lock(fd, LEDGER_TURN);
    return fd;
}

int ledger_lock(struct instance *instance, const char *name, struct ledger_lock *lock,
                struct error *err)
{
    int fd = ledger_open_lock(instance, name);
    if (fd >= 0 && ledger_wait_lock(fd, LEDGER_PATIENCE) == 0) {
        *lock = (struct ledger_lock){instance, fd, ledger_clock()};
        return 0;
    }
    error_set(err, "unable to lock %s/%s: %s%s", instance->path, name, strerror(errno),
              errno == ETIMEDOUT ? " after 30 s: is a tprun of yours stopped?" : "");
    if (fd >= 0)
        close(fd);
    return -1;
}

int instance_exclude(struct instance *instance, const char *name, struct error *err)
{
    struct ledger_lock lock;
    return ledger_lock(instance, name, &lock, err) < 0 ? -1 : lock.fd;
}

void ledger_unlock(struct ledger_lock *lock)
{
    double held;
    close(lock->fd);
    held = ledger_clock() - lock->since;
    lock->instance->held[lock->instance->locks++ % LEDGER_RECALL] = (float)held;
    if (held > lock->instance->longest)
        lock->instance->longest = held;
}

size_t instance_locks(const struct instance *instance, double *longest)
{
    *longest = instance->longest;
    return instance->locks;
}
