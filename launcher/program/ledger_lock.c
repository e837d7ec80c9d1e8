/* The ledger's lock. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launcher/program/ledger_private.h"
#include "launcher/program/store.h"

#define LEDGER_PATIENCE 30.0 /* seconds for a lock that is held for less than milliseconds */
#define LEDGER_PAUSE_MIN 50000
#define LEDGER_PAUSE_MAX 8000000 /* ns between tries: many that wait must not take the processors */

static double ledger_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* By trying, not by waiting in the kernel: a holder that was stopped must not stop all others. The
 * sleep before has a good side, too: who slept is not soon sent to sleep again with the lock. */
static int ledger_wait_lock(int fd)
{
    double deadline = ledger_clock() + LEDGER_PATIENCE;
    long pause = LEDGER_PAUSE_MIN;
    while (store_lock(fd) < 0) {
        if (errno != EAGAIN && errno != EINTR)
            return -1;
        if (ledger_clock() > deadline) {
            errno = ETIMEDOUT;
            return -1;
        }
        nanosleep(&(struct timespec){0, pause}, NULL);
        if (pause < LEDGER_PAUSE_MAX)
            pause += pause / 2;
    }
    return 0;
}

int ledger_lock(struct instance *instance, const char *name, struct ledger_lock *lock,
                struct error *err)
{
    int fd = openat(instance->dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0 && ledger_wait_lock(fd) == 0) {
        *lock = (struct ledger_lock){instance, fd, ledger_clock()};
        return 0;
    }
    error_set(err, "unable to lock %s/%s: %s%s", instance->path, name, strerror(errno),
              errno == ETIMEDOUT ? " after 30 s: is a tprun of yours stopped?" : "");
    if (fd >= 0)
        close(fd);
    return -1;
}

void ledger_unlock(struct ledger_lock *lock)
{
    double held;
    close(lock->fd);
    held = ledger_clock() - lock->since;
    lock->instance->locks++;
    if (held > lock->instance->longest)
        lock->instance->longest = held;
}

size_t instance_locks(const struct instance *instance, double *longest)
{
    *longest = instance->longest;
    return instance->locks;
}
