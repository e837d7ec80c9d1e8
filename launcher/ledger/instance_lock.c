/* The locks of an instance, for the files of the ledger: the one of its claims, and those of other files. */
#include "launcher/ledger/instance_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "launcher/ledger/instance_lock_private.h"
#include "launcher/ledger/instance_private.h"
#include "launcher/ledger/private_directory.h"

#define LEDGER_LAYOUT 4      /* of the directory: an older tprun on this machine has another */
#define LEDGER_PATIENCE 30.0 /* seconds for a lock that is held for less than milliseconds */
#define LEDGER_TICK 50000    /* us between looks whether the patience is at its end */
#define LEDGER_HOLDER 17     /* bytes of a lock file: who has it */
#define LEDGER_TURN 5.0      /* seconds for a turn, which is a courtesy */

static void ledger_wake(int number)
{
    (void)number;
}

/* An alarm of the process that the wait has put off: as late as it was to come, or at once. */
static void put_alarm_back(struct itimerval timer, double waited)
{
    double left = (double)timer.it_value.tv_sec + (double)timer.it_value.tv_usec / 1e6;
    if (left <= 0)
        return;
    left = fmax(left - waited, 1e-6);
    timer.it_value.tv_sec = (time_t)left;
    timer.it_value.tv_usec = (suseconds_t)ceil((left - floor(left)) * 999999);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* In the kernel's line, which wakes one at a time; a timer ends the wait for a holder that was
 * stopped. The timer and its signal may be in use, and the signal blocked, as who started the process
 * left it. */
static int ledger_wait_in_line(int fd, double patience)
{
    struct sigaction wake = {.sa_handler = ledger_wake}, before;
    struct itimerval tick = {{0, LEDGER_TICK}, {0, LEDGER_TICK}}, none = {{0, 0}, {0, 0}}, timer;
    sigset_t ticks, mask;
    double start = clock_monotonic_seconds();
    int rc;
    sigemptyset(&ticks);
    sigaddset(&ticks, SIGALRM);
    sigaction(SIGALRM, &wake, &before);
    setitimer(ITIMER_REAL, &tick, &timer);
    pthread_sigmask(SIG_UNBLOCK, &ticks, &mask);
    do {
        rc = private_directory_lock(fd, true);
    } while (rc < 0 && errno == EINTR && clock_monotonic_seconds() < start + patience);
    int saved = rc < 0 && errno == EINTR ? ETIMEDOUT : errno;
    setitimer(ITIMER_REAL, &none, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGALRM, &before, NULL);
    put_alarm_back(timer, clock_monotonic_seconds() - start);
    errno = saved;
    return rc;
}

static int ledger_wait_lock(int fd, double patience)
{
    int rc = private_directory_lock(fd, false);
    return rc < 0 && errno == EAGAIN ? ledger_wait_in_line(fd, patience) : rc;
}

static double ledger_patience(const struct instance *instance)
{
    return instance->patience > 0 ? instance->patience : LEDGER_PATIENCE;
}

void instance_set_patience(struct instance *instance, double seconds)
{
    instance->patience = seconds;
    instance->busy = false;
}

bool instance_is_busy(const struct instance *instance)
{
    return instance->busy;
}

static int ledger_open_lock(struct instance *instance, const char *name)
{
    return openat(instance->dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int instance_turn(struct instance *instance)
{
    int fd = ledger_open_lock(instance, "turn");
    if (fd >= 0)
        ledger_wait_lock(fd, fmin(LEDGER_TURN, ledger_patience(instance)));
    return fd;
}

/* Whether the process is stopped, or being traced. */
static bool ledger_is_stopped(int pid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
    const char *behind = strrchr(text, ')'); /* its name, which may hold anything */
    return behind && strlen(behind) > 2 && strchr("Tt", behind[2]);
}

/* Says who has it, and what to do about that. */
static void ledger_blame(const struct instance *instance, const char *name, int fd,
                         struct error *err)
{
    char text[LEDGER_HOLDER] = "";
    int pid = pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 0;
    if (pid <= 0 || kill(pid, 0) < 0)
        error_set(err, "%s/%s is locked by another process: end the tprun that is stopped",
                  instance->path, name);
    else if (ledger_is_stopped(pid))
        error_set(err,
                  "%s/%s is locked by process %d, which is stopped: continue it (kill -CONT %d) or "
                  "end it",
                  instance->path, name, pid, pid);
    else
        error_set(err, "%s/%s is locked by process %d: end it if it hangs", instance->path, name,
                  pid);
}

int ledger_lock(struct instance *instance, const char *name, struct ledger_lock *lock,
                struct error *err)
{
    int fd = ledger_open_lock(instance, name);
    int rc = fd >= 0 ? ledger_wait_lock(fd, ledger_patience(instance)) : -1;
    instance->busy = rc < 0 && errno == ETIMEDOUT;
    if (rc == 0) {
        *lock = (struct ledger_lock){instance, fd, clock_monotonic_seconds()};
        char text[LEDGER_HOLDER]; /* who has the lock stands in its file */
        int len = snprintf(text, sizeof(text), "%-15d\n", (int)getpid());
        (void)!pwrite(fd, text, (size_t)len, 0);
        return 0;
    }
    if (instance->busy)
        ledger_blame(instance, name, fd, err);
    else
        error_set(err, "cannot lock %s/%s: %s", instance->path, name, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

uint64_t ledger_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u ^ LEDGER_LAYOUT; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

/* Each key is a byte of the file. */
int instance_exclude(struct instance *instance, const char *name, const char *const *keys,
                     size_t count, struct error *err)
{
    int fd = ledger_open_lock(instance, name), rc = fd < 0 ? -1 : 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = private_directory_lock_byte(fd, ledger_hash(keys[i]) & INT64_MAX);
    if (rc == 0)
        return fd;
    rc = fd >= 0 && errno == EAGAIN ? INSTANCE_EXCLUDED : -1;
    if (rc == -1)
        error_set(err, "cannot lock %s/%s: %s", instance->path, name, strerror(errno));
    if (fd >= 0)
        close(fd);
    return rc;
}

void ledger_unlock(struct ledger_lock *lock)
{
    double held;
    close(lock->fd);
    held = clock_monotonic_seconds() - lock->since;
    lock->instance->held[lock->instance->locks++ % LEDGER_RECALL] = (float)held;
    if (held > lock->instance->longest)
        lock->instance->longest = held;
}

size_t instance_locks(const struct instance *instance, double *longest)
{
    *longest = instance->longest;
    return instance->locks;
}
